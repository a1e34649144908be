"""What does a wrong clock cost? A leap ahead that is over soon takes nothing with it; a long pause delays retention."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import AdaptiveMemory, Keeping, UserMemory
from adaptive_memory_core.store.ledger.retention import DAY, HOUR, trusted_time
from tests.conftest import Clock, Open, ledger_rows
from tests.suites import at_most

YEAR = 365 * DAY


@pytest.fixture
def alice(open_memory: Open, clock: Clock) -> UserMemory:
    """With a log of five days, each pass of the background thread left to the tests."""
    memory = open_memory(keeping=Keeping(lag_seconds=3_600))
    alice = memory.for_user("alice")
    alice.remember("tea", id="tea")
    for _ in range(5):
        for _ in range(6):
            alice.recall("tea")
        memory.flush()
        clock.pass_days(1)
    return alice


def memory_of(alice: UserMemory) -> AdaptiveMemory:
    assert isinstance(alice.memory, AdaptiveMemory)
    return alice.memory


@pytest.mark.parametrize("leap", [40 * DAY, YEAR, 100 * YEAR])
def test_a_leap_that_is_over_takes_nothing_with_it(alice: UserMemory, clock: Clock, leap: float) -> None:
    memory, cues = memory_of(alice), [line.id for line in alice.recalls()]
    clock.pass_seconds(leap)
    for number in range(4):
        alice.recall(f"tea {number}")
        memory.flush()
        clock.pass_seconds(300)
        alice.recalls()
    clock.pass_seconds(-leap)
    memory.flush()
    assert len(cues) == 30
    assert [line.id for line in alice.recalls() if line.at <= clock.now] == cues


def test_neither_does_one_across_a_restart(alice: UserMemory, clock: Clock, open_memory: Open) -> None:
    memory_of(alice).close()
    clock.pass_seconds(YEAR)
    for _ in range(3):
        with open_memory() as memory:
            memory.for_user("alice").recall("tea")
            memory.flush()
    clock.pass_seconds(-YEAR)
    with open_memory() as memory:
        assert len([line for line in memory.for_user("alice").recalls() if line.at <= clock.now]) == 30


def test_two_leaps_to_one_time_do_not_vouch_for_each_other(alice: UserMemory, clock: Clock) -> None:
    memory = memory_of(alice)
    for wait in (0.0, 2 * HOUR):
        clock.pass_seconds(YEAR + wait)
        memory.flush()
        clock.pass_seconds(-YEAR - wait)
        memory.flush()
    assert len(alice.recalls()) == 30


def test_neither_does_one_that_the_first_passes_fall_into(open_memory: Open, clock: Clock) -> None:
    memory = open_memory(keeping=Keeping(lag_seconds=3_600))
    alice = memory.for_user("alice")
    alice.remember("tea", id="tea")
    alice.recall("tea")
    for _ in range(2):  # with recalls in it, twice to the same time
        clock.pass_seconds(YEAR)
        for _ in range(3):
            alice.recall("tea")
            memory.flush()
        clock.pass_seconds(2 * HOUR - YEAR)
        for _ in range(3):
            alice.recall("tea")
        memory.flush()
    assert len([line for line in alice.recalls() if line.at <= clock.now]) == 7


def test_after_a_long_pause_the_log_shows_nothing_old_and_lets_go_of_it_an_hour_later(
    alice: UserMemory, clock: Clock
) -> None:
    memory = memory_of(alice)
    clock.pass_days(61)
    memory.flush()
    assert alice.recalls() == []
    assert len(ledger_rows(memory)["recalls"]) == 30
    clock.pass_seconds(HOUR)
    memory.flush()
    assert ledger_rows(memory)["recalls"] == []


def test_day_by_day_retention_is_on_time(alice: UserMemory, clock: Clock) -> None:
    memory = memory_of(alice)
    for _ in range(30):
        clock.pass_days(1)
        memory.flush()
    assert ledger_rows(memory)["recalls"] == []


@at_most(200)
@given(st.lists(st.floats(0, 10 * YEAR), max_size=8), st.floats(0, 10 * YEAR), st.floats(0, HOUR - 1))
def test_what_is_believed_is_never_ahead_of_the_clock_nor_moved_by_one_leap(
    readings: list[float], leap: float, soon: float
) -> None:
    known: tuple[float, ...] = ()
    for one in [0.0, *readings]:
        known = trusted_time(known, None, now=one).readings
        assert len(known) <= 9
        assert list(known) == sorted(set(known))
    now = 11 * YEAR
    known = trusted_time(known, None, now=now).readings
    leapt = trusted_time(known, None, now=now + leap)
    again = trusted_time(leapt.readings, None, now=now + leap + soon)
    assert leapt.now <= min(now + leap, now + DAY)
    assert again.now <= now + DAY + soon
