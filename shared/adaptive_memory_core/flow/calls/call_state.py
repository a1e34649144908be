"""How long a call may wait, up to one deadline for all writers of the ledger, and what of it is kept whole."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

from adaptive_memory_core.flow.calls.workers import still_awaited
from adaptive_memory_core.flow.ports import Ports

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

P = ParamSpec("P")
T = TypeVar("T")
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.0002, 0.005


class CallState:
    """Of one call: how long it may wait in all (None: as long as what it waits for usually takes), how long it has
    waited, and the call that it was made in."""

    __slots__ = ("outer", "seconds", "waited")

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.waited, self.outer = seconds, 0.0, current()


_own: ContextVar[CallState | None] = ContextVar("current", default=None)
current, enter = _own.get, _own.set


@contextmanager
def one_call(seconds: float | None = None) -> Generator[None, None, None]:
    """A call from its begin to its end; all waiting within it takes no longer than this, where that is said."""
    call = CallState(seconds)
    try:
        enter(call)
        yield
    finally:
        enter(call.outer)


def waiting_at_most(seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function gives, if the call, with what it has waited before, need not wait longer for it."""
    call = current()
    if call is None:
        with one_call(seconds):
            return function(*args, **kwargs)
    before = call.seconds
    try:
        call.seconds = seconds if before is None else min(seconds, before)
        return function(*args, **kwargs)
    finally:
        call.seconds = before


def left(usual_seconds: float) -> float:
    """Seconds that the call may still wait."""
    call = current()
    if call is None:
        return usual_seconds
    return max(0.0, (usual_seconds if call.seconds is None else call.seconds) - call.waited)


def have_waited(seconds: float) -> None:
    """So much of the call's patience is used up, by waiting of another kind."""
    call = current()
    if call is not None:
        call.waited += seconds


def pauses(usual_seconds: float) -> Callable[[], bool]:
    """A function that waits a moment, longer each time; False once the call has no patience left.

    >>> with one_call(0.0):
    ...     pauses(usual_seconds=30.0)()
    False
    """
    call = current() or CallState(usual_seconds)
    pause = FIRST_PAUSE_SECONDS

    def wait() -> bool:
        nonlocal pause
        left, began = (usual_seconds if call.seconds is None else call.seconds) - call.waited, time.monotonic()
        if left <= 0.0:
            return False
        time.sleep(min(left, random.uniform(0.0, pause)))  # noqa: S311 - jitter, no secret
        call.waited += time.monotonic() - began
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)
        return True

    return wait


Change = Callable[Concatenate[Ports, P], T]


def in_one_transaction(change: Change[P, T]) -> Change[P, T]:
    """All that it asks of the ledger is kept, or nothing.

    Texts are embedded before it begins, and it does not begin for a task that was cancelled. A ledger on a server may
    lose its connection in the middle. Nothing is kept then, and such a ledger makes the change `again`, which so must
    change nothing but the ledger and what follows from it (`Ledger.afterwards`).
    """

    @wraps(change)
    def whole(ports: Ports, *args: P.args, **named: P.kwargs) -> T:
        still_awaited()
        return made_whole(ports.ledger, lambda: change(ports, *args, **named))

    return cast("Change[P, T]", whole)


def export_soon(ports: Ports) -> None:
    """What was written is put into the collection in a while, or now where the memory writes through."""
    ports.write_back.wake()
    if ports.write_through:
        ports.write_back.flush()


def made_whole(ledger: Ledger, change: Callable[[], T]) -> T:
    """What the change gives, made in one transaction, again where that was lost."""

    def once() -> T:
        with ledger.transaction():
            return change()

    return as_often_as_lost(ledger, once)


def as_often_as_lost(ledger: object, step: Callable[[], T]) -> T:
    """What the step gives, taken once more where a ledger on a server lost the connection, or broke off a deadlock, and
    nothing of it was kept."""
    again: Callable[[Callable[[], T]], T] | None = getattr(ledger, "again", None)
    return step() if again is None else again(step)
