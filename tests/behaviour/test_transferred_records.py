"""A record that another program gave to somebody else: is it the new owner's, with nothing of the old one's?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from chromadb import Collection

from adaptive_memory_core import (
    AdaptiveMemory,
    NotFoundError,
    Recall,
    UserMemory,
)

if TYPE_CHECKING:
    from tests.conftest import Clock, Contents, Vectors


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


def test_what_the_old_owner_still_had_to_write_back_does_not_reach_the_new_one(
    memory: AdaptiveMemory, collection: Collection, contents: Callable[[Collection], Contents]
) -> None:
    alice = memory.for_user("alice")
    alice.remember("green tea", id="note")
    alice.recall("green tea")
    alice.pin("note")
    collection.update(ids=["note"], metadatas=[{"user_id": "bob"}])
    before = contents(collection)
    memory.flush()
    assert contents(collection) == before
    assert memory.for_user("bob").get("note").read.retrieval_count == 0


def test_a_record_given_to_everyone_is_no_longer_the_users(memory: AdaptiveMemory, collection: Collection) -> None:
    alice, everyone = memory.for_user("alice"), memory.for_everyone()
    alice.remember("green tea", id="note")
    collection.update(ids=["note"], metadatas=[{"user_id": None}])
    assert everyone.recall("tea").ids == ("note",)
    assert alice.recall("tea").ids == ()


@pytest.mark.parametrize("owner", ["", 5, 5.0, True, ["alice"]])
def test_an_owner_that_is_no_name_belongs_to_nobody_who_asks(
    memory: AdaptiveMemory, collection: Collection, embed: Callable[..., Vectors], owner: Any
) -> None:
    collection.add(ids=["odd"], documents=["tea"], embeddings=embed(["tea"]), metadatas=[{"user_id": owner}])
    for scope in (memory.for_user("alice"), memory.for_user("5"), memory.for_user("True"), memory.for_everyone()):
        assert scope.recall("tea").candidates == 0
        assert scope.stats().records == 0
        with pytest.raises(NotFoundError):
            scope.get("odd")
