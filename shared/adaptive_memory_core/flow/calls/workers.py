"""Async methods: calls in worker threads, and the tasks that await them.

A call runs in one thread from beginning to end. While it waits for foreign code, which may hang, another thread may
work instead. If the task is cancelled, the call starts no further call of foreign code and no further write.
"""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.flow.calls.running_calls import CLOSED, Caller, Verb, awaited_by, blocking, still_awaited

if TYPE_CHECKING:
    from adaptive_memory_core.user_memory import UserMemory

P = ParamSpec("P")
T = TypeVar("T")
MOST_WAITING = 500  # threads that wait for foreign code and make room for others; guess


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
    awaited_by(caller)
    still_awaited()
    try:
        return work()
    except StopIteration as error:  # which no future can hold
        raise RuntimeError("it raised StopIteration") from error


def awaited(verb: Verb[P, T]) -> Callable[Concatenate[UserMemory, P], Coroutine[Any, Any, T]]:
    """The verb as an async method: the same call in a worker thread. Its name starts with `a`."""
    done = blocking(verb)

    async def call(user: UserMemory, /, *args: P.args, **named: P.kwargs) -> T:
        return await in_worker(user.memory.opened.workers, partial(done, user, *args, **named))

    update_wrapper(call, verb)
    call.__name__, call.__doc__ = f"a{verb.__name__}", f"`{verb.__name__}`, async."
    return call
