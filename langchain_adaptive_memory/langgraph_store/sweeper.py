"""How are expired items deleted? By a thread that sweeps now and then, if it is started."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future

from adaptive_memory_core import error_messages

logger = logging.getLogger(__name__)


class Sweeper:
    """Calls `sweep` every so many minutes until it is stopped, or until `sweep` gives None: there is no store left."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, sweep: Callable[[], int | None], minutes: float) -> Future[None]:
        """Start, unless it is running; the future is cancelled to stop it, as with LangGraph's own stores."""
        future: Future[None] = Future()
        if self._thread is not None and self._thread.is_alive():
            future.set_result(None)
            return future
        self._stop.clear()
        future.add_done_callback(lambda _: self._stop.set())
        self._thread = threading.Thread(
            target=self._loop, args=(sweep, 60 * minutes, future), name="adaptive-memory-ttl", daemon=True
        )
        self._thread.start()
        return future

    def stop(self, timeout: float | None = None) -> bool:
        """Stop; False where the thread is still at it after so many seconds."""
        self._stop.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
            return not thread.is_alive()
        return True

    def _loop(self, sweep: Callable[[], int | None], seconds: float, future: Future[None]) -> None:
        while not self._stop.wait(seconds):
            try:
                if sweep() is None:
                    break
            except Exception as error:  # noqa: BLE001 - a later sweep may work
                error_messages.warn(logger, "A sweep of expired items failed; it is tried again", error, stack=True)
        if not future.done():
            future.set_result(None)
