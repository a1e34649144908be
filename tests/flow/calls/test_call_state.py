"""Does what a call may wait end with the call, wherever an interrupt strikes it?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adaptive_memory_core.flow.calls.running_calls import have_waited, left, one_call, waiting_at_most
from tests.behaviour.test_interrupts import broken_off_at


def a_patient_call() -> None:
    with one_call(1.0):
        have_waited(1.0)


def a_part_of_a_call() -> None:
    waiting_at_most(1.0, have_waited, 1.0)


@pytest.mark.parametrize("call", [a_patient_call, a_part_of_a_call])
def test_nothing_of_a_call_that_was_broken_off_stays_with_its_thread(call: Callable[[], None]) -> None:
    for step in range(1, 1_000):
        place = broken_off_at(step, call)
        assert (left(7.0), place) == (7.0, place)
        if place is None:
            break
    assert step > 3
