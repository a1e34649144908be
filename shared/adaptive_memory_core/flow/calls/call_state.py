"""What does a call have of its own? What it has looked at, and how long it may wait: in all threads that work on it."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from contextvars import ContextVar
from typing import Any

from adaptive_memory_core.interrupts import interruptible


class CallState:
    """Of one call, or of a part of it with less patience: `looks` and `waited` are those of the whole."""

    __slots__ = ("looks", "seconds", "waited")

    def __init__(self, seconds: float | None, looks: dict[Hashable, tuple[float, Any]], waited: list[float]) -> None:
        self.seconds, self.looks, self.waited = seconds, looks, waited


_own: ContextVar[CallState | None] = ContextVar("current", default=None)
current, enter = _own.get, _own.set


@interruptible
def one_call(seconds: float | None = None) -> Generator[None, None, None]:
    """A call from its begin to its end; all waiting within it takes no longer than this, where that is said."""
    outer = current()
    try:
        enter(new_call(seconds))
        yield
    finally:
        try:
            enter(outer)
        finally:
            enter(outer)  # also where an interrupt strikes


def new_call(seconds: float | None) -> CallState:
    """A call that has not looked at anything, nor waited."""
    return CallState(seconds, {}, [0.0])
