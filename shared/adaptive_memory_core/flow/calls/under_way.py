"""Which calls are running? `close` waits for them, and no new one may begin."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import ParamSpec, TypeVar

from adaptive_memory_core.errors import ClosedError

P = ParamSpec("P")
T = TypeVar("T")
PATIENCE_SECONDS = 30.0  # for the calls under way; those that take longer fail with a ClosedError
CLOSED = "This memory was closed. Open it again: AdaptiveMemory.open(...) or AdaptiveMemory(...)."


class CallsUnderWay:
    """Counts them, by thread: a call that closes its own memory does not wait for itself."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # taken by itself: `with` a Condition can be interrupted with the lock taken
        self._changed = threading.Condition(self._lock)
        self._ended = False
        self._threads: dict[object, int] = {}

    def begin(self, token: object) -> None:
        """A call begins in this thread, unless all have ended."""
        with self._lock:
            if self._ended:
                raise ClosedError(CLOSED)
            self._threads[token] = threading.get_ident()

    def over(self, token: object) -> None:
        """That call is over; this may be told twice."""
        self._threads.pop(token, None)
        if self._ended:
            with self._lock:
                self._changed.notify_all()

    def end(self) -> None:
        """Let no new call begin, and wait for those of other threads."""
        own = threading.get_ident()
        with self._lock:
            self._ended = True
            self._changed.wait_for(lambda: set(self._threads.values()) <= {own}, timeout=PATIENCE_SECONDS)


class CountingExecutor(ThreadPoolExecutor):
    """Threads whose work counts as calls under way; each piece of it begins with `call`, in the context of whoever
    submits it."""

    def __init__(self, threads: int, call: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__(threads, thread_name_prefix="adaptive-memory")
        self._call = call

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        context = contextvars.copy_context()
        return super().submit(context.run, self._counted, work, *args, **kwargs)  # type: ignore[arg-type]

    def _counted(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with self._call():
            return work(*args, **kwargs)
