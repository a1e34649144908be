"""Worker threads for the async methods, and the tasks that await them.

A call runs in one thread from beginning to end. While it waits for foreign code, which may hang, another thread may
work instead. If the task is cancelled, the call starts no further call of foreign code and no further write.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.running_calls import CLOSED

if TYPE_CHECKING:
    import asyncio  # loaded by what awaits, as it takes long to import


P = ParamSpec("P")
T = TypeVar("T")
MOST_WAITING = 500  # threads that wait for foreign code and make room for others; guess
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


_caller: contextvars.ContextVar[Caller | None] = contextvars.ContextVar("caller", default=None)


def current_caller() -> Caller | None:
    """The task that awaits this thread's work; None in a blocking call and in foreign code."""
    caller = _caller.get()
    return None if caller is None or caller.thread != threading.get_ident() else caller


def still_awaited() -> None:
    """Raise an error if the task that awaits this call was cancelled."""
    caller = _caller.get()
    if caller is not None and caller.gone.done() and caller.thread == threading.get_ident():
        raise caller.gone.result()


class Workers(ThreadPoolExecutor):
    """A pool in which a fixed number of threads work at a time. Each task runs in the context of its submitter, and is
    `paused` while it waits for foreign code."""

    def __init__(self, most: int, paused: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__(most + MOST_WAITING, thread_name_prefix="adaptive-memory")
        self._most, self._paused = most, paused
        self._turn = threading.Lock()
        self._todo: deque[Callable[[], None]] = deque()
        self._working, self._aside, self._ended = 0, set[Caller](), False

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        context = contextvars.copy_context()
        piece = partial(context.run, self._done, future, partial(work, *args, **kwargs))
        with self._turn:
            if self._working < self._most:
                super().submit(self._work)
                self._working += 1
            self._todo.append(piece)
        return future

    def _work(self) -> None:
        """Run queued tasks until there are none or too many threads work."""
        while True:
            with self._turn:
                if not self._todo or self._working > self._most:
                    self._working -= 1
                    return
                piece = self._todo.popleft()
            piece()
            del piece

    def _done(self, future: Future[T], work: Callable[[], T]) -> None:
        try:
            if future.set_running_or_notify_cancel():
                future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            future.set_exception(error)
        finally:
            del future, work  # else an error would keep the frame that keeps it

    @contextmanager
    def waiting(self, caller: Caller) -> Generator[None, None, None]:
        """A block in which this thread waits: another thread may work, and `close` does not wait for it."""
        with self._turn:
            if self._ended:
                raise ClosedError(CLOSED)
            makes_room = len(self._aside) < MOST_WAITING
            self._aside.add(caller)
            if makes_room:
                self._working -= 1
                if self._todo and self._working < self._most:
                    with suppress(RuntimeError):  # after its shutdown: those that work do the rest
                        super().submit(self._work)
                        self._working += 1
        try:
            with self._paused():
                yield
        finally:
            with self._turn:
                self._aside.remove(caller)
                self._working += makes_room

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the pool; calls that wait for foreign code get a ClosedError."""
        with self._turn:
            self._ended, aside = True, list(self._aside)
        for caller in aside:
            caller.leave(ClosedError(CLOSED))
        super().shutdown(wait, cancel_futures=cancel_futures)


async def in_worker(workers: Workers, work: Callable[[], T]) -> T:
    """Run the work in a worker thread and return its result. If the task is cancelled, the work is notified."""
    import asyncio

    caller = Caller(asyncio.get_running_loop(), workers)
    try:
        return await asyncio.wrap_future(workers.submit(_for, caller, work))
    except asyncio.CancelledError:
        caller.leave(asyncio.CancelledError())
        raise


def _for(caller: Caller, work: Callable[[], T]) -> T:
    caller.thread = threading.get_ident()
    _caller.set(caller)
    still_awaited()
    try:
        return work()
    except StopIteration as error:  # which no future can hold
        raise RuntimeError("it raised StopIteration") from error
