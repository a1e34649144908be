"""Does anything of one user ever reach another? One path at a time: ids, names, filters, links and recalls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import (
    AdaptiveMemory,
    AdaptiveMemoryError,
    InvalidInputError,
    NotFoundError,
    Scope,
    ScopeError,
    UserMemory,
)
from adaptive_memory_core.errors import FilterError
from adaptive_memory_core.identity import scoped_id
from tests.behaviour.test_tenancy import ALICE, BOB, CAROL, FILTERS
from tests.conftest import Open, word_vectors

Trio = tuple[UserMemory, UserMemory, UserMemory]


@pytest.fixture
def trio(memory: AdaptiveMemory) -> Trio:
    return memory.for_user("alice"), memory.for_user("bob"), memory.for_everyone()


def test_two_users_with_the_same_id_do_not_collide(trio: Trio) -> None:
    for scope in trio:
        assert scope.remember(f"tea of {scope.user}", id="note") == "note"
    trio[1].recall("tea")
    trio[1].pin("note")
    trio[2].forget("note")
    assert [scope.get("note").text for scope in trio[:2]] == ["tea of alice", "tea of bob"]
    assert [scope.get("note").read.retrieval_count for scope in trio[:2]] == [0, 1]
    assert [scope.recall("tea", reinforce=False)[0].id for scope in trio[:2]] == ["note", "note"]
    with pytest.raises(NotFoundError):
        trio[2].get("note")


def test_the_same_id_of_two_users_survives_a_restart(open_memory: Open) -> None:
    with open_memory() as first:
        for user in ("alice", "bob"):
            first.for_user(user).remember(f"tea of {user}", id="note")
        first.for_user("bob").recall("tea")
    with open_memory() as second:
        for user, reads in (("alice", 0), ("bob", 1)):
            scope = second.for_user(user)
            assert (scope.get("note").text, scope.get("note").read.retrieval_count) == (f"tea of {user}", reads)
            scope.remember(f"coffee of {user}", id="note")
            assert (scope.stats().records, scope.get("note").text) == (1, f"coffee of {user}")
        assert second.for_user("alice").forget("note").collection
        assert second.for_user("bob").get("note").text == "coffee of bob"


def test_nobody_can_take_the_place_another_users_record_would_stand_in(trio: Trio) -> None:
    alice, bob, _ = trio
    alice.remember("tea of alice", id="note")
    squat = scoped_id(Scope("bob"), "note")
    try:
        alice.remember("a squatter", id=squat)
    except InvalidInputError:
        squat = ""
    bob.remember("tea of bob", id="note")
    assert bob.get("note").text == "tea of bob"
    assert bob.stats().records == 1
    assert not squat or alice.get(squat).text == "a squatter"


def test_a_record_is_not_lost_in_silence_where_another_program_holds_its_place(
    trio: Trio, collection: Collection
) -> None:
    alice, bob, _ = trio
    alice.remember("tea of alice", id="note")
    squat = scoped_id(Scope("bob"), "note")
    collection.add(
        ids=[squat], documents=["squatter"], embeddings=word_vectors(["x"]), metadatas=[{"user_id": "alice"}]
    )
    try:
        bob.remember("tea of bob", id="note")
    except AdaptiveMemoryError as refusal:
        assert "squatter" not in str(refusal)  # noqa: PT017 - either answer will do
    else:
        assert bob.get("note").text == "tea of bob"


def test_the_id_under_which_a_record_stands_in_the_collection_is_no_id_to_forget_it_by(trio: Trio) -> None:
    alice, bob, _ = trio
    alice.remember("tea of alice", id="note")
    bob.remember("tea of bob", id="note")
    bob.recall("tea")
    before = bob.get("note")
    with pytest.raises(NotFoundError):
        bob.forget(scoped_id(Scope("bob"), "note"))
    assert bob.get("note") == before


def test_what_remember_gives_back_can_be_got_whatever_it_looks_like(trio: Trio) -> None:
    alice = trio[0]
    lookalike = scoped_id(Scope("alice"), "note")
    try:
        given = alice.remember("tea", id=lookalike)
    except InvalidInputError:
        return
    alice.remember("coffee", id="note")
    assert (alice.get(given).text, alice.get("note").text) == ("tea", "coffee")


@pytest.mark.parametrize(
    ("one", "other"),
    [("alice", "Alice"), ("alice", "alice "), ("é", "e\u0301"), ("a", "a\x00b"), ("a%", "ab"), ("None", "none")],
)
def test_names_that_are_nearly_the_same_are_two_users(memory: AdaptiveMemory, one: str, other: str) -> None:
    memory.for_user(one).remember("tea", id="note")
    stranger = memory.for_user(other)
    assert len(stranger.recall("tea")) == 0
    assert stranger.stats().records == 0
    with pytest.raises(NotFoundError):
        stranger.get("note")
    stranger.remember("coffee", id="note")
    assert (memory.for_user(one).get("note").text, stranger.get("note").text) == ("tea", "coffee")


@pytest.mark.parametrize("name", ["everyone", "None", "null", "*", "$ne", "' OR 1=1 --"])
def test_no_name_stands_for_more_than_one_user(memory: AdaptiveMemory, name: str) -> None:
    memory.for_user("alice").remember("tea")
    memory.for_everyone().remember("tea")
    assert memory.for_user(name).recall("tea").candidates == 0
    memory.for_user(name).remember("coffee", id="own")
    assert memory.for_user(name).recall("tea").ids == ("own",)
    assert "own" not in memory.for_everyone().recall("coffee").ids


@pytest.mark.parametrize("where", [one for one in FILTERS[1:-2] if one is not None])
def test_no_filter_widens_a_scope(trio: Trio, where: dict[str, Any]) -> None:
    named = {ALICE: "alice", BOB: "bob", CAROL: "carol"}

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: renamed(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [renamed(inner) for inner in value]
        return named.get(value, value)

    for scope in trio:
        scope.remember("green tea", id=f"of-{scope.user}", metadata={"colour": "red"})
    for scope in trio:
        answer = scope.recall("green tea", k=10, filter=renamed(where))
        assert {*answer.ids, *(drop.id for drop in answer.dropped)} <= {f"of-{scope.user}"}


def test_a_refused_filter_of_everyones_names_no_user(trio: Trio) -> None:
    alice, bob, everyone = trio
    alice.remember("tea")
    bob.remember("tea")
    everyone.remember("tea")
    everyone.recall("tea")  # now it knows whom to look past
    with pytest.raises(FilterError) as refusal:
        everyone.recall("tea", filter={"colour": {"$foo": 1}})
    assert "alice" not in str(refusal.value)
    assert "bob" not in str(refusal.value)


def test_what_another_user_has_cannot_be_superseded_or_touched(trio: Trio) -> None:
    alice, bob, _ = trio
    alice.remember("tea", id="mine")
    before = alice.get("mine")
    attempts: list[Callable[[], object]] = [
        lambda: bob.remember("coffee", supersedes="mine"),
        lambda: bob.pin("mine"),
        lambda: bob.demote("mine"),
        lambda: bob.forget("mine"),
    ]
    for attempt in attempts:
        with pytest.raises(NotFoundError, match="'mine' for user 'bob'"):
            attempt()
    assert alice.get("mine") == before
    assert bob.stats().records == 0


def test_forgetting_ones_own_leaves_the_links_of_others(trio: Trio) -> None:
    for scope in trio:
        scope.remember("tea", id="old")
        scope.remember("coffee", id="new", supersedes="old")
    trio[2].forget("old")
    trio[1].forget("new")
    assert (trio[0].get("new").supersedes, trio[0].get("old").superseded_by) == ("old", "new")
    assert (trio[1].get("old").superseded_by, trio[2].get("new").supersedes) == (None, None)


def test_anothers_recall_is_refused_and_teaches_nothing(trio: Trio) -> None:
    alice, bob, everyone = trio
    for scope in trio:
        scope.remember("tea", id="note")
    answer = alice.recall("tea")
    for stranger in (bob, everyone):
        with pytest.raises(ScopeError):
            stranger.feedback(answer, helpful=["note"])
        with pytest.raises(NotFoundError):
            stranger.feedback(answer.id, helpful=["note"])
        assert stranger.get("note").importance == 0.5
    assert alice.get("note").read.boost == 0.0
