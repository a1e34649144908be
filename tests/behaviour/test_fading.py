"""What fades, how fast, and what holds on? Strengths after recalls, days, pins and turns."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from adaptive_memory_core import (
    AdaptiveMemory,
    Policy,
    PolicyError,
    UserMemory,
)
from adaptive_memory_core.policy import Decay, Remembrance
from tests.behaviour.fading_memory import ARM, alice, memory, strengths

if TYPE_CHECKING:
    from tests.conftest import Clock


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
    memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch, ledger_rows: Callable[[AdaptiveMemory], Any]
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
