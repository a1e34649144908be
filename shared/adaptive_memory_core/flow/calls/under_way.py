"""Which calls are running: `close` waits for them, and what a memory calls is exchanged while there are none."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from adaptive_memory_core.errors import ClosedError

PATIENCE_SECONDS = 30.0  # for the calls under way, and of those that wait; then it goes on all the same
LOOKED_SECONDS = 0.01  # between two looks of what an event loop runs, which must not wait
CLOSED = "This memory was closed. Open it again: AdaptiveMemory.open(...) or AdaptiveMemory(...)."


class CallsUnderWay:
    """Counts them, by thread: a call that closes its own memory does not wait for itself. Calls that take longer than
    `close` waits fail with a ClosedError."""

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
        """That call is over; this may be called twice."""
        self._threads.pop(token, None)
        if self._ended:
            with self._lock:
                self._changed.notify_all()

    @contextmanager
    def paused(self) -> Generator[None, None, None]:
        """This thread's calls wait for something that may never come, and `close` does not wait for them meanwhile."""
        own = threading.get_ident()
        tokens = [token for token, thread in self._threads.copy().items() if thread == own]
        for token in tokens:
            self.over(token)
        yield
        for token in tokens:
            self.begin(token)

    def end(self) -> None:
        """Let no new call begin, and wait for those of other threads."""
        own = threading.get_ident()
        with self._lock:
            self._ended = True
            self._changed.wait_for(lambda: set(self._threads.values()) <= {own}, timeout=PATIENCE_SECONDS)


class Exchange:
    """Counts verbs from their begin to their end, also those that are awaited."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._verbs: dict[object, int] = {}
        self._until: float | None = None  # by time.monotonic

    @contextmanager
    def counted(self) -> Generator[bool, None, None]:
        """A verb; False where it must wait, leave and try again. It is counted before it looks: none slips through."""
        token = object()
        try:
            self._verbs[token] = threading.get_ident()
            until = self._until
            yield until is None or time.monotonic() >= until
        finally:
            self._verbs.pop(token, None)
            if self._until is not None:
                with self._lock:
                    self._changed.notify_all()

    def wait(self) -> None:
        """Until the exchange is over."""
        with self._lock:
            self._changed.wait_for(lambda: self._until is None, timeout=PATIENCE_SECONDS)

    @contextmanager
    def alone(self) -> Generator[None, None, None]:
        """No verb of another thread is under way, unless one takes longer than it should."""
        own = threading.get_ident()
        try:
            with self._lock:
                self._until = time.monotonic() + 2 * PATIENCE_SECONDS
                self._changed.wait_for(lambda: set(self._verbs.copy().values()) <= {own}, timeout=PATIENCE_SECONDS)
            yield
        finally:
            self._until = None
            with self._lock:
                self._changed.notify_all()
