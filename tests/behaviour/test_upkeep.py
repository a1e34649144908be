"""Who is let go, who is held on to, and who decided so? Prune, pins, demotions, the audit trail, the numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from chromadb import Collection

from adaptive_memory_core import (
    AdaptiveMemory,
    InvalidInputError,
    Keeping,
    NotFoundError,
    Policy,
    PolicyError,
    UserMemory,
)
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.policy import Decay, Remembrance
from tests.conftest import word_vectors

if TYPE_CHECKING:
    from tests.conftest import Clock, Open

ARM = Policy.preset("balanced").replace(decay={"grace": 0, "rate": 0.5})


@pytest.fixture
def memory(collection: Collection, clock: Clock) -> Iterator[AdaptiveMemory]:
    """A memory that halves what was not read, at each recall."""
    keeping = Keeping(sample_recalls=2)
    with closing(AdaptiveMemory(collection, embedder=word_vectors, clock=clock, policy=ARM, keeping=keeping)) as opened:
        yield opened


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    """Four drinks, of which tea is remembered and milk pinned, after five recalls of tea."""
    alice = memory.for_user("alice")
    alice.remember_many([{"text": f"a cup of {drink}", "id": drink} for drink in ("tea", "coffee", "milk", "water")])
    alice.pin("milk", by="the operator")
    for _ in range(5):
        alice.recall("tea", k=1)
    return alice


def strengths(user: UserMemory) -> dict[str, float]:
    return {drink: user.get(drink).read.strength for drink in ("tea", "coffee", "milk", "water")}


def test_what_is_neither_read_nor_held_on_to_fades(alice: UserMemory) -> None:
    assert strengths(alice) == {"tea": 1.0, "coffee": 0.5**5, "milk": 1.0, "water": 0.5**5}
    assert alice.get("tea").read.remembered


def test_the_strength_multiplies_the_similarity_and_stands_beside_it(alice: UserMemory) -> None:
    found = alice.recall("a cup of coffee", k=4, reinforce=False)
    coffee = next(one for one in found if one.id == "coffee")
    assert coffee.score == pytest.approx(coffee.similarity * 0.5**5)
    assert coffee.signals["strength"] == 0.5**5
    assert found[0].id != "coffee"


def test_a_floor_on_strength_keeps_an_exact_match_in_front(memory: AdaptiveMemory, alice: UserMemory) -> None:
    floored = ARM.replace(decay={"strength_floor": 0.9})
    bob = memory.for_user("bob")
    bob.remember_many([{"text": f"a cup of {drink}", "id": f"b-{drink}"} for drink in ("tea", "coffee")])
    for _ in range(20):
        bob.recall("tea", k=1, policy=floored)
    assert bob.recall("a cup of coffee", k=1, policy=floored)[0].id == "b-coffee"
    assert bob.get("b-coffee").read.strength == 0.9  # not 0.5 ** 20


def test_a_read_may_restore_strength(alice: UserMemory) -> None:
    alice.recall("a cup of coffee", k=4, policy=ARM.replace(decay={"restore_on_read": 0.5}))
    assert alice.get("coffee").read.strength == pytest.approx(0.5 + 0.5**6)


def test_decay_may_count_days(memory: AdaptiveMemory, clock: Clock) -> None:
    memory.policy = ARM.replace(decay={"unit": "days", "grace": 1})
    bob = memory.for_user("bob")
    bob.remember("a cup of cocoa", id="cocoa")
    clock.pass_days(3)
    assert bob.get("cocoa").read.strength == 0.25
    bob.recall("cocoa", k=1)
    clock.pass_days(2)
    assert bob.get("cocoa").read.strength == 0.125
    for _ in range(3):
        bob.recall("cocoa", k=1)
    clock.pass_days(30)
    assert bob.get("cocoa").read.strength == 0.125  # remembered


def test_a_kind_may_fade_more_slowly(memory: AdaptiveMemory) -> None:
    memory.policy = ARM.replace(decay={"by_kind": {"fact": Remembrance(grace=0, rate=0.9)}})
    bob = memory.for_user("bob")
    bob.remember_many([{"text": "tea"}, {"text": "red", "id": "f", "kind": "fact"}, {"text": "blue", "id": "e"}])
    for _ in range(2):
        bob.recall("tea", k=1)
    assert bob.get("f").read.strength == pytest.approx(0.81)
    assert bob.get("e").read.strength == 0.25


def test_another_profile_takes_over_without_losing_what_was(memory: AdaptiveMemory, alice: UserMemory) -> None:
    memory.policy = Policy.preset("balanced").replace(decay={"grace": 0, "rate": 0.9})
    alice.recall("tea", k=1)
    assert alice.get("coffee").read.strength == pytest.approx(0.9 * 0.5**5)
    before = memory.policy
    with pytest.raises(PolicyError, match=r"Decay\(rate=1.5\)"):
        memory.policy = before.replace(decay={"rate": 1.5})
    assert memory.policy is before


def test_policies_that_alternate_for_long_stay_exact_and_leave_few_spans(
    memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch, ledger_rows: Callable[[AdaptiveMemory], Any]
) -> None:
    monkeypatch.setattr("adaptive_memory_core.store.ledger.pace_spans.MOST_SPANS", 6)
    bob = memory.for_user("bob")
    bob.remember_many([{"text": "tea"}, {"text": "cocoa", "id": "cocoa"}])
    for number in range(41):
        bob.recall("tea", k=1, policy=ARM.replace(decay={"rate": (0.9, 1.0, 0.95)[number % 3]}))
    assert bob.get("cocoa").read.strength == pytest.approx(0.9**14 * 0.95**13)
    assert len(ledger_rows(memory)["spans"]) <= 7


def test_pinning_before_the_first_recall_keeps_the_days_that_went_by(memory: AdaptiveMemory, clock: Clock) -> None:
    memory.policy = ARM.replace(decay={"unit": "days"})
    bob = memory.for_user("bob")
    bob.remember("a cup of cocoa", id="cocoa")
    clock.pass_days(2)
    assert bob.pin("cocoa").strength == 0.25
    clock.pass_days(2)
    assert bob.unpin("cocoa").strength == 0.25
    clock.pass_days(1)
    assert bob.get("cocoa").read.strength == 0.125


def test_strengths_are_exact_when_many_threads_recall(memory: AdaptiveMemory) -> None:
    memory.policy = Policy.preset("conservative")
    bob = memory.for_user("bob")
    bob.remember_many([{"text": "tea"}, {"text": "cocoa", "id": "cocoa"}])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: memory.for_user("bob").recall("tea", k=1), range(100)))
    assert bob.stats().recalls == 100
    assert bob.get("cocoa").read.strength == pytest.approx(0.98**98)


# --- prune


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
    assert (receipt.ids, receipt.vanished) == ((), 2)
    assert alice.prune(below=0.1).vanished == 0


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


# --- the remembered set and the audit trail


def test_the_remembered_and_the_pinned_are_listed_as_they_stand(alice: UserMemory) -> None:
    assert [one.id for one in alice.remembered()] == ["tea"]
    assert [one.id for one in alice.pinned()] == ["milk"]
    alice.unpin("milk")
    alice.demote("tea")
    assert alice.remembered() == alice.pinned() == []


def test_a_copied_collection_still_lists_its_remembered_records(
    alice: UserMemory, memory: AdaptiveMemory, new_collection: Callable[..., Collection]
) -> None:
    memory.flush()
    source: Any = memory.ports().records
    copy = new_collection()
    found = source.collection.get(include=["documents", "metadatas", "embeddings"])
    copy.add(**{key: found[key] for key in ("ids", "documents", "metadatas", "embeddings")})
    with closing(AdaptiveMemory(copy, embedder=word_vectors, policy=ARM)) as other:
        assert [one.id for one in other.for_user("alice").remembered()] == ["tea"]
        assert [one.id for one in other.for_user("alice").pinned()] == ["milk"]
        assert other.for_user("bob").remembered() == []


def test_pin_and_demotion_hold_on_the_very_next_read(alice: UserMemory) -> None:
    alice.pin("coffee")
    alice.demote("tea")
    alice.recall("milk", k=1)
    assert alice.get("coffee").read.strength == 0.5**5
    assert alice.get("tea").read.strength == 0.5
    alice.unpin("coffee")
    alice.recall("milk", k=1)
    assert alice.get("coffee").read.strength == 0.5**6


def test_the_audit_trail_says_who_and_when(alice: UserMemory, clock: Clock) -> None:
    recall = alice.recall("tea", k=1)
    alice.feedback(recall, helpful=["tea"])
    clock.pass_days(1)
    alice.demote("tea", by="ops@example.org")
    alice.unpin("tea")  # was not pinned: nothing happened
    lines = alice.changes("tea")
    assert [(one.what, one.by.partition(" ")[0]) for one in lines] == [
        ("demoted", "ops@example.org"),
        ("helpful", "recall"),
        ("remembered", "recall"),
    ]
    assert lines[0].at == clock()
    assert (lines[0].step, lines[2].step) == (6, 3)
    assert [one.what for one in alice.changes("milk")] == ["pinned"]
    assert len(alice.changes(limit=2)) == 2


def test_forgetting_a_record_takes_its_lines_of_the_trail_along(alice: UserMemory) -> None:
    alice.forget("milk")
    assert alice.changes("milk") == []


# --- numbers


def test_stats_are_the_papers(alice: UserMemory) -> None:
    stats = alice.stats(at_least=0.5)
    assert (stats.remembered, stats.remembered_fraction, stats.reads_per_recall) == (1, 0.25, 1.0)
    strengths = stats.strengths
    assert (strengths.stale, strengths.size) == (2, 2)
    assert strengths.stale_norm == pytest.approx((2 * 0.5**10) ** 0.5)
    assert strengths.histogram == (2, 0, 0, 0, 0, 0, 0, 0, 0, 2)
    assert strengths.mean == pytest.approx((2 + 2 * 0.5**5) / 4)
    assert stats.update_ms is not None
    assert stats.update_ms > 0


def test_samples_over_time_are_kept(open_memory: Open) -> None:
    keeping = Keeping(sample_recalls=2)
    memory = open_memory(policy=ARM, keeping=keeping)
    alice = memory.for_user("alice")
    alice.remember_many(["tea", "coffee"])
    for _ in range(3):
        for _ in range(2):
            alice.recall("tea", k=1)
        memory.flush()
    memory.close()
    samples = open_memory(policy=ARM, keeping=keeping).for_user("alice").history()
    assert [one.step for one in samples] == [2, 4, 6]
    assert [one.remembered for one in samples] == [0, 1, 1]
    assert [one.strengths.stale_norm for one in samples] == [0.5**2, 0.5**4, 0.5**6]
    assert samples[-1].remembered_fraction == 0.5


async def test_upkeep_is_async_too(alice: UserMemory) -> None:
    assert len(await alice.aprune(below=0.1)) == 2
    assert [one.id for one in await alice.aremembered()] == ["tea"]
    assert [one.id for one in await alice.apinned()] == ["milk"]
    assert (await alice.achanges())[0].what == "pruned"
    assert list(await alice.ahistory()) == []


# --- found by a check from outside


def test_days_that_went_by_under_another_policy_went_by_at_its_pace(memory: AdaptiveMemory, clock: Clock) -> None:
    days = ARM.replace(decay={"unit": "days", "rate": 0.9})
    memory.policy = days
    bob = memory.for_user("bob")
    bob.remember_many([{"text": "tea", "id": "t"}, {"text": "cocoa", "id": "c"}])
    bob.recall("tea", k=1)
    memory.policy = days.replace(decay={"rate": 1.0})  # switched off
    clock.pass_days(10)
    assert bob.get("c").read.strength == 1.0
    assert bob.prune(below=0.5, dry_run=True).ids == ()
    memory.policy = days  # and on again
    clock.pass_days(10)
    assert bob.get("c").read.strength == pytest.approx(0.9**10)
    bob.recall("tea", k=1, policy=days.replace(decay={"rate": 1.0}))  # of one call: time goes on as before
    clock.pass_days(10)
    assert bob.get("c").read.strength == pytest.approx(0.9**20)
    memory.policy = ARM.replace(decay={"rate": 0.5})
    clock.pass_days(100)
    assert bob.get("c").read.strength == pytest.approx(0.9**20)
    bob.recall("tea", k=1)
    assert bob.get("c").read.strength == pytest.approx(0.9**20 * 0.5)


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


def test_in_a_turn_strengths_stand_as_they_did_when_it_began(alice: UserMemory) -> None:
    before = alice.get("coffee").read.strength
    alice.recall("tea", k=1, turn="T")
    again = alice.recall("a cup of coffee", k=4, turn="T")
    assert next(one for one in again if one.id == "coffee").signals["strength"] == before
    assert alice.get("coffee").read.strength == before


def test_a_turn_that_comes_back_late_reads_now_and_not_then(alice: UserMemory) -> None:
    alice.recall("tea", k=1, turn="session")
    for _ in range(4):
        alice.recall("tea", k=1)
    assert alice.get("coffee").read.strength == 0.5**10
    alice.recall("a cup of coffee", k=4, turn="session")
    after = alice.get("coffee").read
    assert after.strength == 0.5**9  # read in the last step, so that one's decay is not due
    assert after.fresh_step == alice.stats().recalls == 10


@pytest.mark.parametrize("value", ["no", None, 1])
def test_yes_and_no_are_true_and_false(alice: UserMemory, value: Any) -> None:
    with pytest.raises(InvalidInputError, match="reinforce"):
        alice.recall("tea", reinforce=value)
    with pytest.raises(InvalidInputError, match="dry_run"):
        alice.prune(below=0.1, dry_run=value)


def test_a_kind_must_have_a_name_and_one_set_of_numbers() -> None:
    for kinds in ({"": Remembrance()}, [("a", Remembrance()), ("a", Remembrance())]):
        with pytest.raises(PolicyError, match="by_kind"):
            Policy(decay=Decay(by_kind=kinds))  # type: ignore[arg-type]


# --- prune what is not read, and what is too many


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
