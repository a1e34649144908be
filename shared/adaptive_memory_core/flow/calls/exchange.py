"""When may what a memory calls be exchanged? While no verb is under way; those that would begin wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator

from adaptive_memory_core.interrupts import interruptible

PATIENCE_SECONDS = 30.0  # for the verbs under way, and of those that wait; then they go on all the same
LOOKED_SECONDS = 0.01  # between two looks of what an event loop runs, which must not wait


class Exchange:
    """Counts verbs from their begin to their end, also those that are awaited."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._verbs: dict[object, int] = {}
        self._until: float | None = None  # by time.monotonic

    @interruptible
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

    @interruptible
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
