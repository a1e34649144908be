"""Do records go by themselves, where that was asked for, and nowhere else?"""

from __future__ import annotations

from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, UserMemory
from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.store.background_chores import BY, ScheduledPruning
from tests.behaviour.conftest import eventually
from tests.conftest import Clock, Open

SOON = 0.00005  # hours: 0.18 seconds


def chore(memory: AdaptiveMemory, keeping: Keeping) -> ScheduledPruning:
    return ScheduledPruning(keeping, lambda: memory.opened.in_force.regime, memory.now, memory.ports)


def with_drinks(memory: AdaptiveMemory, clock: Clock, name: str = "bob") -> UserMemory:
    user = memory.for_user(name)
    for text in ("tea", "coffee", "cocoa", "milk"):
        user.remember(text, id=text)
        clock.pass_days(1)
    user.recall("tea", k=1)
    return user


def test_it_is_off_unless_a_rule_is_given(memory: AdaptiveMemory) -> None:
    assert chore(memory, Keeping()).wait() is None
    assert chore(memory, Keeping(prune_below=0.1)).wait() is not None
    for bad in ({"prune_hours": 0}, {"prune_below": 2}, {"prune_max_records": -1}, {"prune_unread_days": -1}):
        with pytest.raises(PolicyError):
            Keeping(**bad)  # type: ignore[arg-type]


def test_a_pass_goes_through_all_users_and_writes_down_what_went(memory: AdaptiveMemory, clock: Clock) -> None:
    bob, eve = with_drinks(memory, clock), with_drinks(memory, clock, "eve")
    eve.pin("coffee")
    everyone = memory.for_everyone()
    everyone.remember("common", id="common")
    clock.pass_days(1)
    chore(memory, Keeping(prune_max_records=2)).work(lambda: True)
    assert (bob.stats().records, eve.stats().records) == (2, 2)
    assert eve.get("coffee").read.pinned
    assert {(one.what, one.by) for one in bob.changes("coffee")} == {("pruned", BY)}
    clock.pass_days(100)
    chore(memory, Keeping(prune_unread_days=50)).work(lambda: True)
    assert (bob.stats().records, eve.stats().records, everyone.stats().records) == (0, 1, 1)


def test_a_pass_ends_when_it_is_stopped_and_works_in_bits(
    memory: AdaptiveMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adaptive_memory_core.store.background_chores.AT_ONCE", 1)
    bob = with_drinks(memory, clock)
    passes = chore(memory, Keeping(prune_max_records=1))
    told = iter([True, True, False])
    passes.work(lambda: next(told))
    assert bob.stats().records == 2
    passes.work(lambda: True)
    assert bob.stats().records == 1
    assert (passes.wait() or 0.0) > 3_600


def test_the_background_does_it(open_memory: Open, clock: Clock) -> None:
    keeping: Any = Keeping(prune_max_records=2, prune_hours=SOON)
    with open_memory(keeping=keeping) as memory:
        bob = with_drinks(memory, clock)
        assert eventually(lambda: bob.stats().records == 2)
