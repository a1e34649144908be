"""Who is let go? What has faded, what nobody has read for long, what is too much; in batches, into a file."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, NotFoundError, Policy, UserMemory
from adaptive_memory_core.errors import StoreError
from tests.behaviour.fading_memory import alice, memory
from tests.conftest import Clock, word_vectors

__all__ = ["alice", "memory"]  # fixtures


def test_prune_removes_what_has_faded_and_nothing_that_is_held_on_to(alice: UserMemory) -> None:
    receipt = alice.prune(below=0.1)
    assert sorted(receipt.ids) == ["coffee", "water"]
    assert (receipt.kept, receipt.complete, receipt.dry_run, len(receipt)) == (0, True, False, 2)
    with pytest.raises(NotFoundError):
        alice.get("coffee")
    assert alice.get("tea").text == "a cup of tea"
    assert alice.get("milk").text == "a cup of milk"
    assert [(one.what, one.id, one.by) for one in alice.changes("coffee")] == [("pruned", "coffee", "caller")]


def test_a_dry_run_says_what_would_go_and_changes_nothing(alice: UserMemory) -> None:
    assert sorted(alice.prune(below=0.1, dry_run=True).ids) == ["coffee", "water"]
    assert alice.stats().records == 4
    assert alice.prune(below=0.01, dry_run=True).ids == ()


def test_prune_works_in_batches_and_goes_on_where_it_was_ended(
    alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adaptive_memory_core.flow.prune.PRUNED_AT_ONCE", 2)
    alice.remember_many([{"text": f"drink number {number}"} for number in range(7)])
    for _ in range(5):
        alice.recall("tea", k=1)
    first = alice.prune(below=0.1, limit=3)
    assert (len(first), first.complete) == (3, False)
    second = alice.prune(below=0.1)
    assert (len(second), second.complete) == (6, True)
    assert alice.stats().records == 2


def test_what_is_pruned_may_go_into_a_file_and_come_back(alice: UserMemory, tmp_path: Path) -> None:
    alice.remember("an old note", id="note", kind="fact", importance=0.9, metadata={"source": "mail"})
    for _ in range(5):
        alice.recall("tea", k=1)
    archive = tmp_path / "old.jsonl"
    assert "note" in alice.prune(below=0.1, archive=archive).ids
    lines = [json.loads(line) for line in archive.read_text().splitlines()]
    assert len(lines) == 3
    alice.remember_many(lines)
    note = alice.get("note")
    assert (note.text, note.kind, note.importance, note.metadata) == ("an old note", "fact", 0.9, {"source": "mail"})
    assert note.read.strength == 1.0


def test_nothing_goes_where_the_archive_cannot_be_written(alice: UserMemory, tmp_path: Path) -> None:
    for archive in (tmp_path / "no such directory" / "old.jsonl", tmp_path, ""):
        with pytest.raises(InvalidInputError, match="archive"):
            alice.prune(below=0.1, archive=archive)
    with pytest.raises(StoreError, match="archive"):
        alice.prune(below=0.1, archive="/dev/full")
    assert alice.stats().records == 4


def test_prune_that_fails_half_way_can_be_called_again(alice: UserMemory, memory: AdaptiveMemory) -> None:
    store: Any = memory.ports().records
    real = store.remove
    try:

        def removed_then_cut_off(scope: Any, ids: Any) -> None:
            real(scope, ids)
            raise StoreError("the line went dead")

        store.remove = removed_then_cut_off
        with pytest.raises(StoreError):
            alice.prune(below=0.1)
    finally:
        del store.remove
    receipt = alice.prune(below=0.1)
    assert (receipt.ids, receipt.vanished) == (("coffee", "water"), 0)
    assert alice.prune(below=0.1).ids == ()


def test_a_record_that_is_read_meanwhile_is_not_pruned(alice: UserMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the choice and the removal, here while the archive is written, somebody reads them three times."""

    def archive(_: object) -> None:
        for _ in range(3):
            alice.recall("a cup of coffee", k=4)

    monkeypatch.setattr("adaptive_memory_core.verbs.forgetting.JSONLines", lambda path: archive)
    assert alice.prune(below=0.1, archive="unused").ids == ()
    assert alice.get("coffee").read.remembered


def test_prune_sees_its_own_user_only(memory: AdaptiveMemory, alice: UserMemory) -> None:
    bob = memory.for_user("bob")
    bob.remember("a cup of cocoa", id="cocoa")
    for _ in range(5):
        bob.recall("nothing of the kind", k=1)
    bob.remember_many(["one", "two"])
    assert len(alice.prune(below=0.1)) == 2
    assert bob.stats().records == 3
    assert memory.for_everyone().prune(below=1.0).ids == ()


@pytest.mark.parametrize("bad", [{"below": -0.1}, {"below": 1.1}, {"below": "0.1"}, {"below": 0.1, "limit": 0}])
def test_prune_refuses_what_it_cannot_mean(alice: UserMemory, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        alice.prune(**bad)
    with pytest.raises(InvalidInputError, match="archive"):
        alice.prune(below=0.1, archive=5)  # type: ignore[arg-type]


def test_a_record_that_took_anothers_place_is_not_pruned_before_it(alice: UserMemory) -> None:
    alice.remember("a cup of oat milk", id="oat", supersedes="milk")  # milk is pinned
    for _ in range(9):
        alice.recall("tea", k=1)
    receipt = alice.prune(below=0.5)
    assert sorted(receipt.ids) == ["coffee", "water"]
    assert alice.get("oat").text == "a cup of oat milk"


def test_stats_and_prune_go_by_the_metadata_of_what_the_ledger_has_not_met(
    memory: AdaptiveMemory, collection: Collection
) -> None:
    shown: list[Any] = [{"strength": 0.1}, {"strength": 0.5, "remembered": 1, "retrieval_count": 4}, {"pinned": 1}]
    texts = ["one", "two", "three"]
    collection.add(
        ids=texts,
        documents=texts,
        embeddings=word_vectors(texts),
        metadatas=[{"user_id": "bob", **one} for one in shown],
    )
    bob = memory.for_user("bob")
    stats = bob.stats(at_least=0.4)
    assert (stats.remembered, stats.pinned, stats.reads, stats.strengths.size, stats.strengths.stale) == (1, 1, 4, 2, 1)
    assert bob.prune(below=0.2, dry_run=True).ids == ("one",)
    assert bob.stats().records == 3
    assert bob.prune(below=0.2).ids == ("one",)
    assert bob.stats().records == 2


@pytest.mark.parametrize("value", ["no", None, 1])
def test_yes_and_no_are_true_and_false(alice: UserMemory, value: Any) -> None:
    with pytest.raises(InvalidInputError, match="reinforce"):
        alice.recall("tea", reinforce=value)
    with pytest.raises(InvalidInputError, match="dry_run"):
        alice.prune(below=0.1, dry_run=value)


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
