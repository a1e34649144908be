"""Does what a call may wait, and has looked at, end with the call, wherever an interrupt strikes it?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adaptive_memory_core.flow.calls.call_state import (
    have_waited,
    known_already,
    left,
    looked_at,
    one_call,
    waiting_at_most,
)
from tests.behaviour.test_interrupts import broken_off_at


def a_patient_call() -> None:
    with one_call(1.0):
        have_waited(1.0)


def a_part_of_a_call() -> None:
    waiting_at_most(1.0, have_waited, 1.0)


def a_call_that_looks() -> None:
    with one_call():
        looked_at("tea", lambda: "hot")


@pytest.mark.parametrize("call", [a_patient_call, a_part_of_a_call, a_call_that_looks])
def test_nothing_of_a_call_that_was_broken_off_stays_with_its_thread(call: Callable[[], None]) -> None:
    for step in range(1, 1_000):
        place = broken_off_at(step, call)
        assert (left(7.0), known_already("tea"), place) == (7.0, None, place)
        if place is None:
            break
    assert step > 3
