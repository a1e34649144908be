"""How long may a call wait for other writers of the ledger? One deadline for the whole call, across threads."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import NamedTuple, ParamSpec, TypeVar

from adaptive_memory_core.interrupts import interruptible

P = ParamSpec("P")
T = TypeVar("T")
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.0002, 0.005


class Patience(NamedTuple):
    """Of a call: how long it may wait, and how long it has waited, in a list that its parts share."""

    seconds: float
    waited: list[float]


_patience: ContextVar[Patience | None] = ContextVar("patience", default=None)


@interruptible
def patient(seconds: float) -> Generator[None, None, None]:
    """A call from its begin to its end: all waiting within it takes no longer than this."""
    before = _patience.get()
    try:
        _patience.set(Patience(seconds, [0.0]))
        yield
    finally:
        try:
            _patience.set(before)
        finally:
            _patience.set(before)  # also where an interrupt strikes


def waiting_at_most(seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function gives, if the call, with what it has waited before, need not wait longer for it."""
    before = _patience.get()
    given = before or Patience(seconds, [0.0])
    try:
        _patience.set(given._replace(seconds=min(seconds, given.seconds)))
        return function(*args, **kwargs)
    finally:
        try:
            _patience.set(before)
        finally:
            _patience.set(before)  # also where an interrupt strikes


def left(usual_seconds: float) -> float:
    """Seconds that the call may still wait."""
    seconds, waited = _patience.get() or Patience(usual_seconds, [0.0])
    return max(0.0, seconds - waited[0])


def have_waited(seconds: float) -> None:
    """So much of the call's patience is used up, by waiting of another kind."""
    given = _patience.get()
    if given is not None:
        given.waited[0] += seconds


def pauses(usual_seconds: float) -> Callable[[], bool]:
    """A function that waits a moment, longer each time; False once the call has no patience left.

    >>> with patient(0.0):
    ...     pauses(usual_seconds=30.0)()
    False
    """
    seconds, waited = _patience.get() or Patience(usual_seconds, [0.0])
    pause = FIRST_PAUSE_SECONDS

    def wait() -> bool:
        nonlocal pause
        left, began = seconds - waited[0], time.monotonic()
        if left <= 0.0:
            return False
        time.sleep(min(left, random.uniform(0.0, pause)))  # noqa: S311 - jitter, no secret
        waited[0] += time.monotonic() - began
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)
        return True

    return wait
