"""What fades, how fast, what holds on, and who decided so? Strengths, pins, demotions, the audit trail, the numbers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, PolicyError, UserMemory
from adaptive_memory_core.policy import Decay, Remembrance
from tests.behaviour.fading_memory import ARM, alice, memory, strengths
from tests.conftest import Clock, Open, ledger_rows, word_vectors

__all__ = ["alice", "memory"]  # fixtures


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
    memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adaptive_memory_core.store.ledger.decay_steps.MOST_SPANS", 6)
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


def test_pin_and_demotion_hold_on_the_very_next_read(alice: UserMemory) -> None:
    alice.pin("coffee")
    alice.demote("tea")
    alice.recall("milk", k=1)
    assert alice.get("coffee").read.strength == 0.5**5
    assert alice.get("tea").read.strength == 0.5
    alice.unpin("coffee")
    alice.recall("milk", k=1)
    assert alice.get("coffee").read.strength == 0.5**6


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


def test_a_kind_must_have_a_name_and_one_set_of_numbers() -> None:
    for kinds in ({"": Remembrance()}, [("a", Remembrance()), ("a", Remembrance())]):
        with pytest.raises(PolicyError, match="by_kind"):
            Policy(decay=Decay(by_kind=kinds))  # type: ignore[arg-type]


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
