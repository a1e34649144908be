"""Running calls: `close` waits for them, each may wait for a limited time, and a task may stop awaiting one."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Generator, Set
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from typing_extensions import Self

from adaptive_memory_core.error_messages import unknown_argument
from adaptive_memory_core.errors import ClosedError, NotFoundError
from adaptive_memory_core.policy.policy import Policy

if TYPE_CHECKING:
    import asyncio  # loaded by what awaits, as it takes long to import

    from adaptive_memory_core.flow.calls.workers import Workers
    from adaptive_memory_core.user_memory import UserMemory

P = ParamSpec("P")
T = TypeVar("T")
Verb = Callable[Concatenate["UserMemory", P], T]
PATIENCE_SECONDS = 30.0  # the longest wait for running calls, and of waiting calls
CLOSED = "This memory was closed. Open it again: AdaptiveMemory.open(...) or AdaptiveMemory(...)."
INHERITED = (
    "This memory was opened in the parent process. Neither Chroma nor the ledger's connections survive a fork: open it "
    "in the process that uses it, after the fork. Any number of processes may open the same collection and ledger."
)

_running: dict[object, int] = {}  # the calls of all memories with their threads
_last_end = [0.0]  # by time.monotonic
_process = [os.getpid()]


class CallGate:
    """Tracks the calls of one memory. `close` waits for them, and the memory's parts are exchanged between calls.

    A call that closes its own memory does not wait for itself. Calls that take longer than `close` waits raise
    ClosedError.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # not through the Condition, whose `with` can be interrupted with the lock taken
        self._changed = threading.Condition(self._lock)
        self._ended = False
        self._exchanged_by: float | None = None  # the time until which calls wait at most, by time.monotonic
        self._threads: dict[object, int] = {}  # of each call
        self._waiting: set[object] = set()  # calls that may wait forever
        self._pid = _process[0]

    def begin(self, call: object) -> None:
        """Begin a call in this thread. Raises ClosedError after `end`, and in a fork, where the lock may never be free.
        A call within another call never waits."""
        if self._pid != _process[0]:
            raise ClosedError(INHERITED)
        self._threads[call] = _running[call] = threading.get_ident()
        if self._ended or self._exchanged_by is not None:  # looked at after the call can be seen
            self._begin_later(call)

    def _begin_later(self, call: object) -> None:
        """Hold the call back while the memory's parts are exchanged, unless it is within another call."""
        with self._lock:
            own = self._threads.pop(call)
            del _running[call]
            self._changed.notify_all()
            if self._exchanged_by is not None and own not in self._threads.copy().values():
                self._changed.wait_for(
                    lambda: self._exchanged_by is None or self._ended, self._exchanged_by - time.monotonic()
                )
            if self._ended:
                raise ClosedError(CLOSED)
            self._threads[call] = _running[call] = own

    def over(self, call: object) -> None:
        """End a call. This may be called twice."""
        self._threads.pop(call, None)
        self._waiting.discard(call)
        _running.pop(call, None)
        _last_end[0] = time.monotonic()
        if self._ended or self._exchanged_by is not None:
            with self._lock:
                self._changed.notify_all()

    @contextmanager
    def paused(self) -> Generator[None, None, None]:
        """Mark this thread's calls as possibly waiting forever, so that `close` does not wait for them."""
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
        """Prevent new calls, and wait for the calls of other threads."""
        with self._lock:
            self._ended = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._only_own(self._waiting), timeout=PATIENCE_SECONDS)

    @contextmanager
    def alone(self) -> Generator[None, None, None]:
        """Wait until no other thread has a running call, up to PATIENCE_SECONDS, and hold back new calls."""
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
    """The seconds since a call was last running in any thread."""
    return 0.0 if _running else time.monotonic() - _last_end[0]


def _alone() -> None:
    """Note that this is a fork, and remove the calls of other threads, which don't exist in it."""
    own, _process[0] = threading.get_ident(), os.getpid()
    for call in [call for call, thread in _running.items() if thread != own]:
        del _running[call]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)


FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.0002, 0.005


class CallState:
    """The state of one call: its limit on waiting (None: the usual time of each wait), the time waited so far, and the
    surrounding call."""

    __slots__ = ("outer", "seconds", "waited")

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.waited, self.outer = seconds, 0.0, current()


_own: ContextVar[CallState | None] = ContextVar("current", default=None)
current, enter = _own.get, _own.set


@contextmanager
def one_call(seconds: float | None = None) -> Generator[None, None, None]:
    """Run a call; with `seconds`, its total waiting time is limited to this."""
    call = CallState(seconds)
    try:
        enter(call)
        yield
    finally:
        enter(call.outer)


def waiting_at_most(seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of the function, with the call's total waiting time limited to `seconds` during it."""
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
    """The seconds that the call may still wait."""
    call = current()
    if call is None:
        return usual_seconds
    return max(0.0, (usual_seconds if call.seconds is None else call.seconds) - call.waited)


def have_waited(seconds: float) -> None:
    """Count waiting of another kind towards the call's limit."""
    call = current()
    if call is not None:
        call.waited += seconds


def pauses(usual_seconds: float) -> Callable[[], bool]:
    """A function that waits a moment, longer each time; False once the call's limit is reached.

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


LOOP_LOOKED_SECONDS = 1.0  # between two checks whether the loop of the foreign code was closed


class Caller:
    """The task that awaits a call, for use in the call's thread. `gone` is done when the task stops awaiting; foreign
    calls in progress (`under_way`) are then given up."""

    __slots__ = ("gone", "loop", "thread", "under_way", "workers")

    def __init__(self, loop: asyncio.AbstractEventLoop, workers: Workers) -> None:
        self.loop, self.workers, self.thread = loop, workers, 0
        self.gone: Future[BaseException] = Future()
        self.under_way: dict[object, Callable[[], None]] = {}

    def leave(self, why: BaseException) -> None:
        """Note that the call is no longer awaited; a second call has no effect."""
        with suppress(InvalidStateError):
            self.gone.set_result(why)
        for give_up in list(self.under_way.values()):
            give_up()

    def wait(self, call: Future[Any], seconds: float | None) -> None:
        """Wait for foreign code, at most `seconds`, while another thread may work; raise an error if the caller is
        gone.
        """
        until = None if seconds is None else time.monotonic() + seconds
        with self.workers.waiting(self):
            while not (call.done() or self.gone.done() or self.loop.is_closed()):
                left = LOOP_LOOKED_SECONDS if until is None else min(LOOP_LOOKED_SECONDS, until - time.monotonic())
                if left <= 0.0:
                    break
                wait([call, self.gone], left, FIRST_COMPLETED)
        if self.loop.is_closed():
            import asyncio

            self.leave(asyncio.CancelledError())
        if self.gone.done():
            raise self.gone.result()


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)
awaited_by = _caller.set


def current_caller() -> Caller | None:
    """The task that awaits this thread's work; None in a blocking call and in foreign code."""
    caller = _caller.get()
    return None if caller is None or caller.thread != threading.get_ident() else caller


def still_awaited() -> None:
    """Raise an error if the task that awaits this call was cancelled."""
    caller = _caller.get()
    if caller is not None and caller.gone.done() and caller.thread == threading.get_ident():
        raise caller.gone.result()


def blocking(verb: Verb[P, T]) -> Callable[Concatenate[UserMemory, P], T]:
    """The verb as a blocking method. The error for an unknown argument suggests the right name. The error for an
    unknown id mentions the shared scope, if there is one, because the id may come from there."""

    def call(user: UserMemory, /, *args: P.args, **named: P.kwargs) -> T:
        opened = user.memory.opened
        state = CallState(opened.keeping.wait_seconds)
        try:
            opened.calls.begin(state)
            enter(state)
            if opened.telemetry is None:
                return verb(user, *args, **named)
            return opened.telemetry.verb(verb.__name__, partial(verb, user, *args, **named))
        except TypeError:
            unknown = unknown_argument(verb, named, Policy)
            if unknown is None:
                raise
            raise unknown from None
        except NotFoundError as error:
            if user.fallback is None:
                raise
            raise NotFoundError(
                f"{error} Hits that are shared: {user.fallback.name} are only read here; change them through that "
                "scope."
            ) from error
        finally:
            enter(state.outer)
            opened.calls.over(state)

    update_wrapper(call, verb)
    return call


class Closable(Protocol):
    """An object with `close` and `aclose`."""

    def close(self) -> None: ...

    async def aclose(self) -> None: ...


class ClosedByWith:
    """Adds `with` and `async with` to a class with `close` and `aclose`.

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
