"""Until when may a call wait for others? One deadline for all that it asks of the ledger, in whatever thread."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from adaptive_memory_core.interrupts import interruptible

P = ParamSpec("P")
T = TypeVar("T")
_until: ContextVar[float] = ContextVar("until", default=math.inf)


@interruptible
def waits_until(moment: float) -> Generator[None, None, None]:
    """What is asked within waits no longer than that, by the clock that only waits (`time.monotonic`).

    >>> with waits_until(10.0), waits_until(20.0):  # the earlier holds
    ...     until(patience_seconds=30.0)
    10.0
    """
    before = _until.set(min(_until.get(), moment))
    try:
        yield
    finally:
        _until.reset(before)


def until(patience_seconds: float) -> float:
    """The end of the waiting: the call's own, or that of this patience."""
    return min(_until.get(), time.monotonic() + patience_seconds)


def in_time(moment: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function gives; it waits no longer than until that moment."""
    with waits_until(moment):
        return function(*args, **kwargs)
