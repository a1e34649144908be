"""Items that expire, and the thread that sweeps them away."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from adaptive_memory_core import InvalidInputError, error_messages
from adaptive_memory_core.error_messages import shown

FLAGS, MINUTES = ("refresh_on_read", "omit_expired"), ("default_ttl", "sweep_interval_minutes")


def check_expiry(given: Any) -> None:
    """Refuse anything that is not a `TTLConfig`.

    >>> check_expiry(None), check_expiry({"default_ttl": 60, "omit_expired": False})
    (None, None)
    >>> check_expiry({"default_ttl": "an hour"})
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: ttl has default_ttl='an hour'. Give minutes from 0, or None.
    """
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"ttl is {shown(given)}. Give a mapping with any of: {', '.join((*FLAGS, *MINUTES))}.")
    for name in FLAGS:
        if not isinstance(given.get(name, True), bool):
            raise InvalidInputError(f"ttl has {name}={shown(given[name])}. Give True or False.")
    for name in MINUTES:
        if not _is_minutes(given.get(name)):
            raise InvalidInputError(f"ttl has {name}={shown(given[name])}. Give minutes from 0, or None.")


def _is_minutes(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


logger = logging.getLogger(__name__)


class Sweeper:
    """Calls `sweep` at an interval in minutes until it is stopped, or until `sweep` gives None because there is no
    store left."""

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
        """Stop; False if the thread is still running after this many seconds."""
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
                error_messages.log_warning(
                    logger, "A sweep of expired items failed; it is tried again", error, stack=True
                )
        if not future.done():
            future.set_result(None)
