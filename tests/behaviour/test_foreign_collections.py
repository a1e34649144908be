"""Does it work on a collection somebody else made, and leave alone what is theirs?"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb import Collection, EmbeddingFunction
from chromadb.utils.embedding_functions import register_embedding_function

from adaptive_memory_core import AdaptiveMemory, Fields, NotFoundError, Policy, UserMemory, Weights
from adaptive_memory_core.errors import EmbedderError
from adaptive_memory_core.policy import Advanced
from tests.conftest import Clock, Contents, Open, contents, word_vectors

DAY = 86_400.0
OUR_KEYS = set(Fields().names())
Add = Callable[..., Collection]


@pytest.fixture
def add(collection: Collection) -> Add:
    """Puts records into the collection as another program would."""

    def adder(*rows: tuple[str, str, dict[str, Any] | None]) -> Collection:
        for one, text, metadata in rows:
            collection.add(
                ids=[one],
                documents=[text],
                embeddings=word_vectors([text]),
                metadatas=None if metadata is None else [metadata],
            )
        return collection

    return adder


def others(contents: Contents) -> Contents:
    """What of the contents belongs to others: without the keys under which we write."""
    return {
        one: (text, {key: value for key, value in (metadata or {}).items() if key not in OUR_KEYS}, vector)
        for one, (text, metadata, vector) in contents.items()
    }


def test_records_without_any_key_of_ours_are_first_class(memory: AdaptiveMemory, add: Add, clock: Clock) -> None:
    collection = add(
        ("a", "green tea", None), ("b", "red car", {"source": "wiki", "page": 3}), ("c", "blue sky", {"x": 1.5})
    )
    before, everyone = others(contents(collection)), memory.for_everyone()
    answer = everyone.recall("green tea", k=2)
    assert answer[0].id == "a"
    found = everyone.get("a")
    assert (found.created_at, found.importance, found.kind) == (None, None, None)
    assert everyone.get("b").metadata == {"source": "wiki", "page": 3}
    assert everyone.stats().records == 3
    everyone.feedback(answer, helpful=["a"])
    everyone.pin("b")
    clock.pass_days(1)
    everyone.recall("red car", k=1)
    memory.flush()
    after = contents(collection)
    assert others(after) == before
    assert (after["a"][1] or {})["retrieval_count"] == 1
    assert (after["b"][1] or {})["pinned"] == 1
    assert after["c"][1] == {"x": 1.5}


def test_a_look_writes_nothing_into_a_foreign_collection(memory: AdaptiveMemory, add: Add) -> None:
    collection = add(("a", "green tea", None), ("b", "red car", {"source": "wiki"}))
    before = contents(collection)
    memory.for_everyone().recall("tea", reinforce=False)
    memory.flush()
    assert contents(collection) == before
    assert collection.metadata is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("strength", "500 mg"),
        ("remembered", "yes"),
        ("last_read", "page 5"),
        ("retrieval_count", "many"),
        ("pinned", "to the wall"),
        ("importance_boost", ["a", "b"]),
        ("strength", [1.0, 2.0]),
    ],
)
def test_something_else_under_our_key_survives_the_write_back(
    memory: AdaptiveMemory, add: Add, collection: Collection, key: str, value: Any
) -> None:
    add(("a", "green tea", {key: value, "drug": "aspirin"}))
    everyone = memory.for_everyone()
    everyone.feedback(everyone.recall("green tea"), helpful=["a"])
    everyone.pin("a")
    memory.flush()
    (metadata,) = collection.get(ids=["a"])["metadatas"] or [{}]
    assert (metadata[key], metadata["drug"]) == (value, "aspirin")
    written = {"retrieval_count": 1, "remembered": 0, "strength": 1.0, "pinned": 1, "importance_boost": 0.05}
    assert {name: metadata[name] for name in written if name != key} == {
        name: expected for name, expected in written.items() if name != key
    }
    assert everyone.get("a").read.retrieval_count == 1
    assert memory.for_everyone().stats().projection.conflicts >= 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"importance": "high", "created_at": "yesterday", "kind": 5, "valid_until": "never"},
        {"importance": 7, "created_at": True, "valid_from": "", "valid_until": ["a"]},
        {"importance": -1.0, "created_at": ["x"], "kind": True},
        {"retrieval_count": -5, "last_read": "", "strength": 9.0, "importance_boost": 40.0},
        {"retrieval_count": 2**63 - 1},
        {"retrieval_count": 1e300, "last_read": 1e300, "created_at": 1e300},
        {"retrieval_count": 2.7, "last_read": -1e300, "created_at": -1e300},
        {"supersedes": 5, "superseded_by": 7, "pinned": "no", "remembered": 17},
    ],
    ids=lambda wrong: str(wrong)[:40],
)
def test_values_that_make_no_sense_count_as_unknown(
    memory: AdaptiveMemory, add: Add, collection: Collection, wrong: dict[str, Any], clock: Clock
) -> None:
    add(("odd", "green tea", wrong), ("fine", "green tea", {"importance": 0.5, "created_at": clock() - DAY}))
    everyone = memory.for_everyone()
    answer = everyone.recall("green tea")
    assert sorted(answer.ids) == ["fine", "odd"]
    assert ["importance" in note for note in answer.trace] == ["importance" in wrong] * ("importance" in wrong)
    assert all(0 <= hit.score <= 1 for hit in answer)
    record = everyone.get("odd")
    assert record.importance is None or 0 <= record.importance <= 1
    assert record.read.retrieval_count >= 1
    assert 0 <= record.read.strength <= 1
    assert answer.explain()
    assert answer.render()
    memory.flush()
    assert everyone.stats().projection.pending == 0


def test_iso_dates_are_read_as_moments(memory: AdaptiveMemory, add: Add) -> None:
    add(
        ("z", "green tea", {"created_at": "1970-01-02T00:00:00Z"}),
        ("offset", "green tea", {"created_at": "1970-01-02T02:00:00+02:00"}),
        ("naive", "green tea", {"created_at": "1970-01-02T00:00:00"}),
        ("date", "green tea", {"created_at": "1970-01-02"}),
        ("over", "green tea", {"valid_until": "1970-01-02T00:00:00Z"}),
    )
    everyone = memory.for_everyone()
    assert {one: everyone.get(one).created_at for one in ("z", "offset", "naive", "date")} == dict.fromkeys(
        ("z", "offset", "naive", "date"), DAY
    )
    assert {one.id: one.reason for one in everyone.recall("green tea").dropped} == {"over": "expired"}


def test_a_date_in_text_stays_text(memory: AdaptiveMemory, add: Add, collection: Collection) -> None:
    add(("a", "green tea", {"created_at": "2025-01-01T00:00:00Z", "last_read": "2025-06-01T00:00:00Z"}))
    memory.for_everyone().recall("green tea")
    memory.flush()
    (metadata,) = collection.get(ids=["a"])["metadatas"] or [{}]
    assert (metadata["created_at"], metadata["last_read"]) == ("2025-01-01T00:00:00Z", "2025-06-01T00:00:00Z")


def test_fields_name_the_keys_of_an_existing_collection(collection: Collection, add: Add, clock: Clock) -> None:
    add(
        ("a", "green tea", {"owner": "alice", "salience": 0.9, "ts": 5.0, "user_id": "not ours", "strength": "500 mg"}),
        ("b", "green tea", {"owner": "bob", "user_id": "alice"}),
        ("c", "green tea", {"user_id": "alice"}),
    )
    before = contents(collection)
    fields = Fields(
        user_id="owner", importance="salience", created_at="ts", strength="am_strength", last_read="am_last_read"
    )
    with closing(AdaptiveMemory(collection, embedder=word_vectors, fields=fields, clock=clock)) as memory:
        alice = memory.for_user("alice")
        assert alice.recall("green tea").ids == ("a",)
        assert memory.for_everyone().recall("green tea", reinforce=False).ids == ("c",)
        record = alice.get("a")
        assert (record.importance, record.created_at) == (0.9, 5.0)
        assert record.metadata == {"user_id": "not ours", "strength": "500 mg"}
        alice.remember("black tea", id="d", importance=0.25, metadata={"user_id": "free"})
        memory.flush()
        after = contents(collection)
    theirs = {
        **(before["a"][1] or {}),
        "retrieval_count": 1,
        "remembered": 0,
        "am_strength": 1.0,
        "am_last_read": clock(),
    }
    assert after["a"] == (before["a"][0], theirs, before["a"][2])
    assert (after["b"], after["c"]) == (before["b"], before["c"])
    written = after["d"][1] or {}
    assert (written["owner"], written["salience"], written["ts"], written["user_id"]) == (
        "alice",
        0.25,
        clock(),
        "free",
    )
    assert "strength" not in written


@pytest.mark.parametrize("space", ["cosine", "l2", "ip"])
def test_similarity_means_the_same_in_every_space(new_collection: Callable[..., Collection], space: str) -> None:
    collection = new_collection(space)
    texts = ["green tea", "green car", "red car", "blue sky today"]
    collection.add(ids=texts, documents=texts, embeddings=word_vectors(texts))
    with closing(AdaptiveMemory(collection, embedder=word_vectors)) as memory:
        answer = memory.for_everyone().recall("green tea", policy=Policy(weights=Weights(0, 0, 1)))
        expected = dict(zip(texts, (word_vectors(texts) @ word_vectors(["green tea"])[0]).tolist(), strict=True))
        assert {hit.id: hit.similarity for hit in answer} == pytest.approx(expected, abs=1e-5)
        assert list(answer.ids) == sorted(texts, key=lambda one: -expected[one])


def test_the_space_of_an_older_collection_is_read_from_its_metadata() -> None:
    client = chromadb.EphemeralClient()
    collection = client.create_collection("older-space", embedding_function=None, metadata={"hnsw:space": "cosine"})
    collection.add(ids=["a"], documents=["green tea"], embeddings=5 * word_vectors(["green tea"]))
    with closing(AdaptiveMemory(collection, embedder=word_vectors)) as memory:
        assert memory.for_everyone().recall("green tea")[0].similarity == pytest.approx(1.0, abs=1e-5)
    client.delete_collection("older-space")


def test_records_without_documents_are_found_and_kept_as_they_are(
    memory: AdaptiveMemory, collection: Collection
) -> None:
    collection.add(ids=["bare"], embeddings=word_vectors(["green tea"]), metadatas=[{"source": "image.png"}])
    collection.add(ids=["empty"], embeddings=word_vectors(["green tea"]))
    before, everyone = contents(collection), memory.for_everyone()
    answer = everyone.recall("green tea")
    assert "bare" in answer.ids
    assert everyone.get("bare").text == everyone.get("empty").text == ""
    assert answer.render()
    assert answer.explain()
    memory.flush()
    after = contents(collection)
    assert others(after) == others(before)
    assert [after[one][0] for one in ("bare", "empty")] == [None, None]


@pytest.mark.parametrize("policy", [Policy(), Policy(advanced=Advanced(search="ann")), Policy(channels=("dense",))])
def test_records_with_neither_text_nor_metadata_are_found_in_every_recall(
    memory: AdaptiveMemory, collection: Collection, policy: Policy
) -> None:
    bare = [f"bare{number}" for number in range(3)]
    collection.add(ids=bare, embeddings=word_vectors(["green tea", "green tea", "red car"]))
    collection.add(ids=["theirs"], embeddings=word_vectors(["green tea"]), metadatas=[{"user_id": "bob"}])
    everyone = memory.for_everyone()
    for _ in range(3):
        answer = everyone.recall("green tea", k=3, policy=policy)
        assert set(answer.ids) == set(bare)
        assert [one.record.text for one in answer] == ["", "", ""]
        memory.sync()
    assert set(memory.for_user("ana", over="everyone").recall("green tea", k=3, policy=policy).ids) == set(bare)


@register_embedding_function
class LetterCounts(EmbeddingFunction[list[str]]):
    """A Chroma embedding function as a user would register one."""

    def __init__(self) -> None:
        """Nothing to set up."""

    def __call__(self, input: list[str]) -> Any:  # noqa: A002 - Chroma's name
        return [np.array([text.count(letter) + 0.01 for letter in "aeioust"], dtype=np.float32) for text in input]

    @staticmethod
    def name() -> str:
        return "letter-counts-of-our-tests"

    def get_config(self) -> dict[str, Any]:
        return {}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> LetterCounts:
        return LetterCounts()


def test_the_collections_own_embedding_function_is_used(new_collection: Callable[..., Collection]) -> None:
    collection = new_collection(embedding_function=LetterCounts())
    collection.add(ids=["a", "b"], documents=["aaa", "eee"])
    with closing(AdaptiveMemory(collection)) as memory:
        everyone = memory.for_everyone()
        assert everyone.recall("aa")[0].id == "a"
        everyone.remember("ooo", id="c")
        assert everyone.recall("oooo")[0].id == "c"


def test_a_collection_that_names_no_embedding_function_asks_for_one(collection: Collection) -> None:
    with pytest.raises(EmbedderError, match="embedder="):
        AdaptiveMemory(collection)


def test_the_callers_own_keys_are_kept_when_a_foreign_record_is_read_again_and_again(
    memory: AdaptiveMemory, add: Add, collection: Collection, clock: Clock
) -> None:
    theirs = {"source": "wiki", "tags": ["a", "b"], "rank": 3, "flag": True, "score": 0.5}
    add(("a", "green tea", theirs))
    everyone = memory.for_everyone()
    for _ in range(4):
        clock.pass_days(1)
        everyone.recall("green tea")
        memory.flush()
    (metadata,) = collection.get(ids=["a"])["metadatas"] or [{}]
    assert {key: metadata[key] for key in theirs} == theirs
    assert (metadata["retrieval_count"], metadata["remembered"]) == (4, 1)


def test_users_of_a_foreign_collection_see_what_another_program_wrote_for_them(
    memory: AdaptiveMemory, add: Add
) -> None:
    add(("a", "green tea", {"user_id": "alice"}), ("b", "green tea", {"user_id": "bob"}), ("c", "green tea", None))
    assert memory.for_user("alice").recall("tea").ids == ("a",)
    assert memory.for_user("bob").recall("tea").ids == ("b",)
    assert memory.for_everyone().recall("tea").ids == ("c",)
    assert memory.for_user("alice").get("a").read.retrieval_count == 1


@pytest.mark.parametrize("users", [5, 300])
def test_everyone_is_found_where_nearly_all_belongs_to_users(
    memory: AdaptiveMemory, collection: Collection, users: int
) -> None:
    """95 % belongs to users and is nearer to the cue than the rest."""
    texts = [f"green tea {n}" for n in range(950)] + [f"green {n}" for n in range(50)]
    owned: list[Any] = [{"user_id": f"user {n % users}"} for n in range(950)] + [{"source": "wiki"}] * 50
    collection.add(ids=[str(n) for n in range(1_000)], documents=texts, embeddings=word_vectors(texts), metadatas=owned)
    everyone = memory.for_everyone()
    policy = Policy(weights=Weights(0, 0, 1), channels=("dense",))
    closest = sorted(
        range(950, 1_000), key=lambda n: -float(word_vectors([texts[n]])[0] @ word_vectors(["green tea"])[0])
    )
    for _ in range(2):
        answer = everyone.recall("green tea", k=10, policy=policy)
        assert set(answer.ids) == {str(n) for n in closest[:10]}
        assert answer.candidates == 20
    assert len(everyone.recall("green tea", k=100)) == 50
    assert everyone.stats().records == 50
    assert len(everyone.recall("green tea", k=5, filter={"source": "wiki"})) == 5


def test_a_copy_without_its_ledger_goes_on_from_what_the_metadata_says(
    open_memory: Open, tmp_path: Path, clock: Clock
) -> None:
    with open_memory() as first:
        alice = first.for_user("alice")
        alice.remember_many([{"text": "green tea", "id": "a", "importance": 0.8}, {"text": "red car", "id": "b"}])
        for _ in range(3):
            answer = alice.recall("green tea", k=1)
            clock.pass_days(1)
        alice.feedback(answer, helpful=["a"])
        alice.pin("b")
        before = alice.get("a")
    shutil.copytree(tmp_path / "memory", tmp_path / "copy", ignore=shutil.ignore_patterns("adaptive_memory*"))
    with open_memory(path=tmp_path / "copy") as copy:
        alice = copy.for_user("alice")
        record = alice.get("a")
        assert (record.read.retrieval_count, record.read.remembered) == (3, True)
        assert record.read.last_read == pytest.approx(before.read.last_read or math.nan, abs=1e-5)
        assert record.importance == pytest.approx(before.importance or math.nan, abs=1e-6)
        assert alice.get("b").read.pinned
        clock.pass_days(1)
        alice.recall("green tea", k=1)
        assert alice.get("a").read.retrieval_count == 4
        copy.flush()
        store: Any = copy.ports().records
        assert store.collection.get(ids=["a"])["metadatas"][0]["retrieval_count"] == 4
    with open_memory() as original:
        assert original.for_user("alice").get("a").read.retrieval_count == 3


def test_a_record_deleted_by_another_program_is_gone_and_stops_nothing(
    memory: AdaptiveMemory, collection: Collection, clock: Clock
) -> None:
    alice = memory.for_user("alice")
    alice.remember_many([{"text": "green tea", "id": "a"}, {"text": "green car", "id": "b"}])
    alice.recall("green")
    collection.delete(ids=["a"])
    memory.flush()
    assert collection.get()["ids"] == ["b"]
    clock.pass_days(1)
    assert alice.recall("green").ids == ("b",)
    memory.flush()
    assert (alice.stats().projection.pending, alice.stats().projection.vanished, alice.stats().records) == (0, 1, 1)
    with pytest.raises(NotFoundError):
        alice.get("a")
    assert alice.forget("a").ledger


def test_a_text_changed_by_another_program_is_seen_at_once(memory: AdaptiveMemory, collection: Collection) -> None:
    alice: UserMemory = memory.for_user("alice")
    alice.remember("green tea", id="a")
    alice.recall("green tea")
    collection.update(ids=["a"], documents=["red car"], embeddings=word_vectors(["red car"]))
    assert alice.recall("red car")[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert alice.get("a").text == "red car"
    memory.flush()
    assert alice.get("a").read.retrieval_count == 1
