"""Who is let go by other rules than strength? What nobody has read for long, and what is too much."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from chromadb import Collection

from adaptive_memory_core import (
    AdaptiveMemory,
    InvalidInputError,
    Policy,
    UserMemory,
)
from tests.behaviour.fading_memory import alice, memory
from tests.conftest import word_vectors

if TYPE_CHECKING:
    from tests.conftest import Clock


__all__ = ["alice", "memory"]  # fixtures


DRINKS = ["green tea", "black coffee", "hot cocoa", "cold milk", "apple juice", "still water"]


def drinks(memory: AdaptiveMemory, clock: Clock, count: int = 6) -> UserMemory:
    """A user's drinks, one remembered each day, of which the first was read today."""
    bob = memory.for_user("bob")
    for number in range(count):
        bob.remember(DRINKS[number], id=str(number))
        clock.pass_days(1)
    bob.recall(DRINKS[0], k=1)
    return bob


def test_what_nobody_has_read_for_long_goes_and_reads_and_verdicts_hold_on_to_it(
    memory: AdaptiveMemory, clock: Clock
) -> None:
    bob = drinks(memory, clock)
    assert bob.prune(unread_for=3.5, dry_run=True).ids == ("1", "2")
    receipt = bob.prune(unread_for=timedelta(days=3.5))
    assert (receipt.ids, receipt.kept, receipt.below, receipt.complete) == (("1", "2"), 4, None, True)
    assert [one.what for one in bob.changes("1")] == ["pruned"]
    assert bob.prune(unread_for=3.5).ids == ()
    bob.feedback(bob.recall(DRINKS[3], k=1), helpful=["3"])
    clock.pass_days(3)
    assert set(bob.prune(unread_for=3.5).ids) == {"4", "5"}


def test_of_too_many_the_weakest_and_then_the_longest_unread_go(memory: AdaptiveMemory, clock: Clock) -> None:
    bob = drinks(memory, clock)
    assert bob.prune(max_records=4, dry_run=True).ids == ("1", "2")
    assert bob.stats().records == 6
    first = bob.prune(max_records=4, limit=1)
    assert (first.ids, first.complete) == (("1",), False)
    second = bob.prune(max_records=4)
    assert (second.ids, second.kept, second.complete) == (("2",), 4, True)
    assert bob.prune(max_records=4).ids == ()
    assert {one.what for one in bob.changes("2")} == {"pruned"}


@pytest.mark.parametrize("rule", [{"unread_for": 0.001}, {"max_records": 1}])
def test_no_rule_lets_go_of_what_is_pinned_or_remembered(
    memory: AdaptiveMemory, clock: Clock, rule: dict[str, Any]
) -> None:
    bob = drinks(memory, clock)
    bob.pin("1")
    for _ in range(5):
        clock.pass_days(1)
        bob.recall(DRINKS[2], k=1, policy=Policy.preset("balanced"))
    assert bob.get("2").read.remembered
    clock.pass_days(1)
    bob.prune(**rule)
    assert bob.get("1").read.pinned
    assert bob.get("2").read.remembered
    assert bob.stats().records == 2


def test_several_rules_name_what_goes_together(memory: AdaptiveMemory, clock: Clock) -> None:
    bob = drinks(memory, clock)
    dry = bob.prune(unread_for=4.5, max_records=3, dry_run=True)
    assert dry.ids == bob.prune(unread_for=4.5, max_records=3).ids == ("1", "2", "3")


def test_what_is_read_between_the_choice_and_the_removal_stays(
    memory: AdaptiveMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = drinks(memory, clock)
    monkeypatch.setattr(
        "adaptive_memory_core.verbs.forgetting.JSONLines", lambda path: lambda _: bob.recall(DRINKS[1], k=1)
    )
    assert "1" not in bob.prune(max_records=4, archive="unused").ids
    assert bob.get("1").read.retrieval_count == 1


def test_records_of_another_program_are_met_before_it_counts_how_long_nobody_read_them(
    collection: Collection, memory: AdaptiveMemory, clock: Clock
) -> None:
    vector: Any = word_vectors(["their tea"])
    collection.add(ids=["theirs"], documents=["their tea"], embeddings=vector, metadatas=[{"user_id": "bob"}])
    bob = memory.for_user("bob")
    assert bob.prune(unread_for=30).ids == ()
    clock.pass_days(31)
    assert bob.prune(unread_for=30).ids == ("theirs",)


def test_prune_needs_a_rule(alice: UserMemory) -> None:
    wrong: list[dict[str, Any]] = [
        {},
        {"unread_for": 0},
        {"unread_for": "90"},
        {"max_records": 0},
        {"max_records": 1.5},
    ]
    for bad in wrong:
        with pytest.raises(InvalidInputError):
            alice.prune(**bad)
