"""Does what was learned outlive a document's being written anew, and a move to another collection?"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.errors import InvalidInputError, ScopeError
from tests.conftest import Clock, ledger_rows, word_vectors

EVERY_READ = Policy(refresh_floor_seconds=0)


@pytest.fixture
def nobody(memory: AdaptiveMemory) -> UserMemory:
    memory.policy = EVERY_READ
    return memory.for_everyone()


def write(collection: Collection, document: str, *texts: str, user: str | None = None) -> list[str]:
    """Write a document as programs do that keep an index: its old records go, new ones come under new ids."""
    if collection.get(where={"document_id": document})["ids"]:
        collection.delete(where={"document_id": document})
    ids = [str(uuid.uuid4()) for _ in texts]
    owner = {} if user is None else {"user_id": user}
    metadatas: Any = [{"document_id": document, **owner} for _ in texts]
    if texts:
        collection.add(ids=ids, documents=list(texts), metadatas=metadatas, embeddings=word_vectors(texts))
    return ids


def reads(scope: UserMemory, record: str) -> int:
    return scope.get(record).read.retrieval_count


def test_the_same_text_of_the_same_document_keeps_what_was_learned(collection: Collection, nobody: UserMemory) -> None:
    write(collection, "d", "green tea", "black coffee")
    for _ in range(3):
        nobody.recall("green tea", k=1)
    tea, coffee, milk = write(collection, "d", "green tea", "black coffee", "cold milk")
    assert reads(nobody, tea) == 3
    nobody.recall("green tea", k=1)
    assert [reads(nobody, one) for one in (tea, coffee, milk)] == [4, 0, 0]


def test_a_text_that_changed_begins_anew(collection: Collection, nobody: UserMemory) -> None:
    write(collection, "d", "green tea")
    nobody.recall("green tea", k=1)
    (changed,) = write(collection, "d", "green tea!")
    assert reads(nobody, changed) == 0


def test_the_same_text_of_another_document_inherits_nothing(collection: Collection, nobody: UserMemory) -> None:
    write(collection, "d", "green tea")
    nobody.recall("green tea", k=1)
    write(collection, "d")
    (other,) = write(collection, "e", "green tea")
    assert reads(nobody, other) == 0


def test_a_twin_of_a_record_that_still_stands_inherits_nothing(collection: Collection, nobody: UserMemory) -> None:
    (first,) = write(collection, "d", "green tea")
    nobody.recall("green tea", k=1)
    metadatas: Any = [{"document_id": "d"}]
    collection.add(ids=["twin"], documents=["green tea"], metadatas=metadatas, embeddings=word_vectors(["green tea"]))
    nobody.recall("coffee", k=5, reinforce=False)
    assert (reads(nobody, first), reads(nobody, "twin")) == (1, 0)


def test_twins_inherit_from_one_each(collection: Collection, nobody: UserMemory) -> None:
    write(collection, "d", "green tea", "green tea")
    nobody.recall("green tea", k=1)
    nobody.recall("green tea", k=2)
    ids = write(collection, "d", "green tea", "green tea")
    nobody.recall("green tea", k=2)
    assert sorted(reads(nobody, one) for one in ids) == [2, 3]


def test_another_user_inherits_nothing(collection: Collection, memory: AdaptiveMemory) -> None:
    write(collection, "d", "green tea", user="alice")
    memory.for_user("alice").recall("green tea", k=1)
    (hers,) = write(collection, "d", "green tea", user="bob")
    assert memory.for_user("bob").recall("green tea", k=1).ids == (hers,)
    assert reads(memory.for_user("bob"), hers) == 1


def test_looking_shows_what_is_inherited_and_writes_nothing(
    collection: Collection, memory: AdaptiveMemory, nobody: UserMemory
) -> None:
    write(collection, "d", "green tea")
    nobody.recall("green tea", k=1)
    (tea,) = write(collection, "d", "green tea")
    nobody.recall("green tea", k=1, reinforce=False)  # its words are followed
    before = ledger_rows(memory)
    (hit,) = nobody.recall("green tea", k=1, reinforce=False)
    assert (hit.record.read.retrieval_count, reads(nobody, tea)) == (1, 1)
    assert ledger_rows(memory) == before
    nobody.recall("green tea", k=1)
    assert reads(nobody, tea) == 2


def test_pins_and_verdicts_are_carried_over(collection: Collection, nobody: UserMemory) -> None:
    (tea,) = write(collection, "d", "green tea")
    nobody.pin(tea)
    nobody.feedback(nobody.recall("green tea", k=1), helpful=[tea])
    (again,) = write(collection, "d", "green tea")
    found = nobody.recall("green tea", k=1)[0].record.read
    assert found.pinned
    assert found.boost > 0
    assert nobody.get(again).read.pinned


def test_what_was_forgotten_leaves_nothing_to_inherit(collection: Collection, nobody: UserMemory) -> None:
    (tea,) = write(collection, "d", "green tea")
    nobody.recall("green tea", k=1)
    nobody.forget(tea)
    (again,) = write(collection, "d", "green tea")
    assert reads(nobody, again) == 0


def test_the_collection_shows_what_was_inherited(
    collection: Collection, memory: AdaptiveMemory, nobody: UserMemory
) -> None:
    write(collection, "d", "green tea")
    nobody.recall("green tea", k=1)
    (again,) = write(collection, "d", "green tea")
    nobody.recall("green tea", k=1)
    memory.flush()
    rows: Any = collection.get(ids=[again], include=["metadatas"])["metadatas"]
    assert rows[0]["retrieval_count"] == 2


def test_re_ranking_inherits_as_well(collection: Collection, nobody: UserMemory) -> None:
    write(collection, "d", "green tea")
    nobody.recall("green tea", k=1)
    (again,) = write(collection, "d", "green tea")
    nobody.rerank("tea", {again: 0.5})
    assert reads(nobody, again) == 2


def test_a_state_moves_to_other_ids_in_another_collection(
    new_collection: Callable[..., Collection], clock: Clock
) -> None:
    old, new = new_collection(), new_collection()
    write(old, "d", "green tea", "black coffee")
    with AdaptiveMemory(old, embedder=word_vectors, clock=clock) as memory:
        memory.for_everyone().recall("green tea", k=1)
        memory.for_everyone().pin(memory.for_everyone().recall("black coffee", k=1)[0].id)
        exported = json.loads(json.dumps(memory.for_everyone().export_state()))
    assert "tea" not in json.dumps(exported)
    tea, coffee = write(new, "d", "green tea", "black coffee")
    with AdaptiveMemory(new, embedder=word_vectors, clock=clock) as memory:
        for _ in range(2):
            restored = memory.for_everyone().restore_state(exported)
            assert (restored.records, restored.missing) == (2, ())
        assert reads(memory.for_everyone(), tea) == 1
        assert memory.for_everyone().get(coffee).read.pinned


async def test_a_state_moves_with_its_ids(new_collection: Callable[..., Collection], clock: Clock) -> None:
    old, new = new_collection(), new_collection()
    with AdaptiveMemory(old, embedder=word_vectors, clock=clock) as memory:
        alice = memory.for_user("alice")
        kept, lost = alice.remember_many(["green tea", "black coffee"])
        alice.recall("tea or coffee", k=2)
        exported = await alice.aexport_state()
    with AdaptiveMemory(new, embedder=word_vectors, clock=clock) as memory:
        alice = memory.for_user("alice")
        alice.remember("green  tea\n", id=kept)
        restored = await alice.arestore_state(exported)
        assert (restored.records, restored.missing) == (1, (lost,))
        assert reads(alice, kept) == 1


def test_a_state_is_not_given_to_other_words_under_the_same_id(
    new_collection: Callable[..., Collection], clock: Clock
) -> None:
    old, new = new_collection(), new_collection()
    with AdaptiveMemory(old, embedder=word_vectors, clock=clock) as memory:
        memory.for_user("alice").remember("green tea", id="a")
        memory.for_user("alice").recall("tea", k=1)
        exported = memory.for_user("alice").export_state()
    with AdaptiveMemory(new, embedder=word_vectors, clock=clock) as memory:
        alice = memory.for_user("alice")
        alice.remember("green tea with milk", id="a")
        assert alice.restore_state(exported).missing == ("a",)
        alice.remember("green tea", id="b")
        assert alice.restore_state(exported).records == 1
        assert (reads(alice, "a"), reads(alice, "b")) == (0, 1)


def test_a_later_read_is_not_undone_by_restoring(nobody: UserMemory, collection: Collection, clock: Clock) -> None:
    (tea,) = write(collection, "d", "green tea")
    nobody.recall("green tea", k=1)
    exported = nobody.export_state()
    clock.pass_days(1)
    nobody.recall("green tea", k=1)
    nobody.restore_state(exported)
    assert reads(nobody, tea) == 2


@pytest.mark.parametrize(
    "state",
    [
        None,
        [],
        {},
        {"format": "adaptive-memory-state", "version": 2, "user": None, "records": []},
        {"format": "adaptive-memory-state", "version": 1, "user": None},
        {"format": "adaptive-memory-state", "version": 1, "user": None, "records": [{"id": "a"}]},
        {
            "format": "adaptive-memory-state",
            "version": 1,
            "user": None,
            "records": [{"id": "a", "origin": "00", "state": {"strength": "much"}}],
        },
    ],
)
def test_what_is_no_state_is_refused(nobody: UserMemory, state: Any) -> None:
    with pytest.raises(InvalidInputError):
        nobody.restore_state(state)


def test_the_state_of_another_user_is_refused(memory: AdaptiveMemory) -> None:
    exported = memory.for_user("alice").export_state()
    with pytest.raises(ScopeError, match="user 'alice', not of user 'bob'"):
        memory.for_user("bob").restore_state(exported)
