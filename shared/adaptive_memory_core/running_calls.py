"""Calls that are running: what `close` waits for, and how long each may wait for others; and closing by `with`."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Generator, Set
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, Protocol, TypeVar

from typing_extensions import Self

from adaptive_memory_core.errors import ClosedError

P = ParamSpec("P")
T = TypeVar("T")
PATIENCE_SECONDS = 30.0  # for the calls that are running, and of those that wait; then it goes on all the same
CLOSED = "This memory was closed. Open it again: AdaptiveMemory.open(...) or AdaptiveMemory(...)."
INHERITED = (
    "This memory was opened in the parent process. Neither Chroma nor the ledger's connections survive a fork: open it "
    "in the process that uses it, after the fork. Any number of processes may open the same collection and ledger."
)

_running: dict[object, int] = {}  # the calls of all memories, each with its thread
_last_end = [0.0]  # by time.monotonic


class CallGate:
    """Counts the calls of one memory. `close` waits for them, and its parts are exchanged while there is none.

    A call that closes its own memory does not wait for itself. Calls that take longer than `close` waits fail with a
    ClosedError.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # taken by itself: `with` a Condition can be interrupted with the lock taken
        self._changed = threading.Condition(self._lock)
        self._ended = False
        self._exchanged_by: float | None = None  # until when calls wait at most, by time.monotonic
        self._threads: dict[object, int] = {}  # of each call
        self._waiting: set[object] = set()  # calls that wait for something that may never come
        self._pid = os.getpid()

    def begin(self, call: object) -> None:
        """A call begins in this thread, unless all have ended, or this is a fork, where the lock may be taken for ever.
        A call within another one never waits."""
        if self._pid != os.getpid():
            raise ClosedError(INHERITED)
        own = threading.get_ident()
        with self._lock:
            if self._exchanged_by is not None and own not in self._threads.values():
                self._changed.wait_for(
                    lambda: self._exchanged_by is None or self._ended, self._exchanged_by - time.monotonic()
                )
            if self._ended:
                raise ClosedError(CLOSED)
            self._threads[call] = _running[call] = own

    def over(self, call: object) -> None:
        """That call is over; this may be called twice."""
        self._threads.pop(call, None)
        self._waiting.discard(call)
        _running.pop(call, None)
        _last_end[0] = time.monotonic()
        if self._ended or self._exchanged_by is not None:
            with self._lock:
                self._changed.notify_all()

    @contextmanager
    def paused(self) -> Generator[None, None, None]:
        """This thread's calls wait for something that may never come, and `close` does not wait for them meanwhile."""
        own = threading.get_ident()
        calls = [call for call, thread in self._threads.copy().items() if thread == own]
        with self._lock:
            self._waiting.update(calls)
            self._changed.notify_all()
        yield
        with self._lock:
            if self._ended:
                raise ClosedError(CLOSED)
            self._waiting.difference_update(calls)

    def end(self) -> None:
        """Let no new call begin, and wait for those of other threads."""
        with self._lock:
            self._ended = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._only_own(self._waiting), timeout=PATIENCE_SECONDS)

    @contextmanager
    def alone(self) -> Generator[None, None, None]:
        """No call of another thread is running, unless one takes longer than it should."""
        try:
            with self._lock:
                self._exchanged_by = time.monotonic() + 2 * PATIENCE_SECONDS
                self._changed.wait_for(self._only_own, timeout=PATIENCE_SECONDS)
            yield
        finally:
            with self._lock:
                self._exchanged_by = None
                self._changed.notify_all()

    def _only_own(self, but: Set[object] = frozenset()) -> bool:
        own = threading.get_ident()
        return all(thread == own or call in but for call, thread in self._threads.copy().items())


def is_any_running() -> bool:
    """Whether a call is running in any thread."""
    return bool(_running)


def idle_seconds() -> float:
    """For how long no call has been running in any thread."""
    return 0.0 if _running else time.monotonic() - _last_end[0]


def _alone() -> None:
    """A fork leaves the other threads and their calls behind."""
    own = threading.get_ident()
    for call in [call for call, thread in _running.items() if thread != own]:
        del _running[call]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)


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


class Closable(Protocol):
    """What has an end, blocking and async."""

    def close(self) -> None: ...

    async def aclose(self) -> None: ...


class ClosedByWith:
    """A class with `close` and `aclose` can be used in `with` and `async with`, and is closed at their end.

    >>> class Door(ClosedByWith):
    ...     def close(self) -> None:
    ...         print("closed")
    >>> with Door():
    ...     print("open")
    open
    closed
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self: Closable, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self: Closable, *_: object) -> None:
        await self.aclose()
