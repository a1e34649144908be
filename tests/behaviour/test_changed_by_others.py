"""Is what other programs write read as it was meant: an importance on another scale, a record given to another user?"""

from __future__ import annotations

from typing import Any

import pytest
from chromadb import Collection
from langchain_core.documents import Document

from adaptive_memory_core import AdaptiveMemory, Fields, NotFoundError, PolicyError, Recall, UserMemory
from langchain_adaptive_memory import AdaptiveMemoryVectorStore
from tests.conftest import Clock, word_vectors

TEN = Fields(importance="salience", importance_scale=10)


@pytest.fixture
def filled(collection: Collection) -> Collection:
    texts = ["green tea", "black tea", "white tea"]
    metadatas: Any = [{"salience": 8}, {"salience": 2.0}, {"salience": 0}]
    collection.add(ids=["high", "low", "none"], documents=texts, metadatas=metadatas, embeddings=word_vectors(texts))
    return collection


def test_a_declared_scale_is_read_and_written(filled: Collection, clock: Clock) -> None:
    with AdaptiveMemory(filled, embedder=word_vectors, clock=clock, fields=TEN) as memory:
        nobody = memory.for_everyone()
        assert [nobody.get(one).importance for one in ("high", "low", "none")] == [0.8, 0.2, 0.0]
        answer = nobody.recall("tea", k=3)
        assert not [one for one in answer.trace if "importance" in one]
        nobody.remember("red tea", id="new", importance=0.7)
        nobody.remember("red  tea", id="new", importance=0.6)
        assert nobody.get("new").importance == 0.6
        nobody.feedback(answer, helpful=["low"])
        assert nobody.get("low").importance == pytest.approx(0.21)
        assert nobody.get("low").written_importance == 0.2
        memory.flush()
    stored: Any = filled.get(ids=["high", "low", "new"])["metadatas"]
    assert [one["salience"] for one in stored] == [8, 2.0, 6.0]


def test_values_beyond_an_undeclared_scale_are_named(filled: Collection, clock: Clock) -> None:
    fields = Fields(importance="salience")
    with AdaptiveMemory(filled, embedder=word_vectors, clock=clock, fields=fields) as memory:
        answer = memory.for_everyone().recall("tea", k=1)
        (note,) = [one for one in answer.trace if "importance" in one]
        assert "2 candidates" in note
        assert "importance_scale=10" in note
        again = memory.for_everyone().rerank("tea", {"high": 0.9, "low": 0.5})
        assert any("importance_scale=10" in one for one in again.trace)


@pytest.mark.parametrize("value", ["high", -1, 11, True])
def test_what_fits_no_scale_is_named_as_well(collection: Collection, clock: Clock, value: Any) -> None:
    collection.add(ids=["a"], documents=["tea"], metadatas=[{"salience": value}], embeddings=word_vectors(["tea"]))
    with AdaptiveMemory(collection, embedder=word_vectors, clock=clock, fields=TEN) as memory:
        (note,) = [one for one in memory.for_everyone().recall("tea").trace if "importance" in one]
    assert "from 0 to 10" in note
    assert repr(value) in note


def test_a_document_says_its_importance_on_the_collections_scale(collection: Collection, clock: Clock) -> None:
    with AdaptiveMemory(collection, embedder=word_vectors, clock=clock, fields=TEN) as memory:
        store = AdaptiveMemoryVectorStore(memory, user_id="ana")
        (one,) = store.add_documents([Document("tea", metadata={"salience": 8})])
        assert memory.for_user("ana").get(one).importance == 0.8
    stored: Any = collection.get(ids=[one])["metadatas"]
    assert stored[0]["salience"] == 8.0


@pytest.mark.parametrize("scale", [0, -1, float("inf"), float("nan"), "10", True, None])
def test_a_scale_that_makes_no_sense_is_refused(scale: Any) -> None:
    with pytest.raises(PolicyError, match="importance_scale"):
        Fields(importance_scale=scale)


@pytest.fixture
def transferred(
    memory: AdaptiveMemory, collection: Collection, clock: Clock
) -> tuple[UserMemory, UserMemory, Recall, AdaptiveMemory]:
    """Alice's record, read and judged by her, now Bob's in Chroma."""
    alice, bob = memory.for_user("alice"), memory.for_user("bob")
    alice.remember("green tea", id="note")
    answer = alice.recall("green tea")
    alice.feedback(answer, helpful=["note"])
    memory.flush()
    collection.update(ids=["note"], metadatas=[{"user_id": "bob"}])
    clock.pass_days(1)
    return alice, bob, answer, memory


def test_a_transferred_record_is_the_new_owners_and_gone_for_the_old_one(
    transferred: tuple[UserMemory, UserMemory, Recall, AdaptiveMemory],
) -> None:
    alice, bob, answer, _ = transferred
    assert bob.recall("green tea").ids == ("note",)
    assert bob.get("note").text == "green tea"
    assert (bob.stats().records, alice.stats().records) == (1, 0)
    assert alice.recall("green tea").candidates == 0
    for attempt in (alice.get, alice.pin, alice.demote, lambda one: alice.feedback(answer, unhelpful=[one])):
        with pytest.raises(NotFoundError):
            attempt("note")


def test_the_old_owners_verdicts_and_log_do_not_go_with_a_transferred_record(
    transferred: tuple[UserMemory, UserMemory, Recall, AdaptiveMemory],
) -> None:
    _, bob, answer, _ = transferred
    bob.recall("green tea")
    assert bob.stats().verdicts == 0
    assert answer.id not in {line.id for line in bob.recalls()}
    assert bob.forget("note").verdicts == 0


def test_a_record_given_to_everyone_is_no_longer_the_users(memory: AdaptiveMemory, collection: Collection) -> None:
    alice, everyone = memory.for_user("alice"), memory.for_everyone()
    alice.remember("green tea", id="note")
    collection.update(ids=["note"], metadatas=[{"user_id": None}])
    assert everyone.recall("tea").ids == ("note",)
    assert alice.recall("tea").ids == ()


@pytest.mark.parametrize("owner", ["", 5, 5.0, True, ["alice"]])
def test_an_owner_that_is_no_name_belongs_to_nobody_who_asks(
    memory: AdaptiveMemory, collection: Collection, owner: Any
) -> None:
    collection.add(ids=["odd"], documents=["tea"], embeddings=word_vectors(["tea"]), metadatas=[{"user_id": owner}])
    for scope in (memory.for_user("alice"), memory.for_user("5"), memory.for_user("True"), memory.for_everyone()):
        assert scope.recall("tea").candidates == 0
        assert scope.stats().records == 0
        with pytest.raises(NotFoundError):
            scope.get("odd")
