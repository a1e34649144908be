"""How long may a call wait for other writers of the ledger? One deadline for the whole call, across threads."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from adaptive_memory_core.flow.calls.call_state import CallState, current, enter
from adaptive_memory_core.let_others_run import let_go

P = ParamSpec("P")
T = TypeVar("T")
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.0002, 0.005


def waiting_at_most(seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function gives, if the call, with what it has waited before, need not wait longer for it."""
    outer = current()
    try:
        enter(CallState(seconds, {}, [0.0]) if outer is None else _with_less_patience(outer, seconds))
        return function(*args, **kwargs)
    finally:
        try:
            enter(outer)
        finally:
            enter(outer)  # also where an interrupt strikes


def _with_less_patience(call: CallState, seconds: float) -> CallState:
    least = seconds if call.seconds is None else min(seconds, call.seconds)
    return CallState(least, call.looks, call.waited)


def left(usual_seconds: float) -> float:
    """Seconds that the call may still wait."""
    seconds, waited = _patience(usual_seconds)
    return max(0.0, seconds - waited[0])


def have_waited(seconds: float) -> None:
    """So much of the call's patience is used up, by waiting of another kind."""
    call = current()
    if call is not None:
        call.waited[0] += seconds


def _patience(usual_seconds: float) -> tuple[float, list[float]]:
    """How long the call may wait in all, and how long it has waited."""
    call = current()
    if call is None:
        return usual_seconds, [0.0]
    return usual_seconds if call.seconds is None else call.seconds, call.waited


def pauses(usual_seconds: float) -> Callable[[], bool]:
    """A function that waits a moment, longer each time; False once the call has no patience left.

    >>> from adaptive_memory_core.flow.calls.call_state import one_call
    >>> with one_call(0.0):
    ...     pauses(usual_seconds=30.0)()
    False
    """
    seconds, waited = _patience(usual_seconds)
    pause = FIRST_PAUSE_SECONDS

    def wait() -> bool:
        nonlocal pause
        left, began = seconds - waited[0], time.monotonic()
        if left <= 0.0:
            return False
        let_go()
        time.sleep(min(left, random.uniform(0.0, pause)))  # noqa: S311 - jitter, no secret
        waited[0] += time.monotonic() - began
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)
        return True

    return wait
