"""Background work: one thread per memory runs its chores in turn, retries failed ones later and counts failures."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from adaptive_memory_core import error_messages
from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.running_calls import is_any_running
from adaptive_memory_core.reports import BackgroundStats

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 60.0  # before a failed chore is retried; doubled each time
PATIENCE_SECONDS = 60.0  # for the work in progress when the thread is stopped
QUIET_SECONDS, MOST_LOOKS = 0.002, 10  # between checks that no call is running, and the most checks
Going = Callable[[], bool]
_log = logging.getLogger(__name__)


class Chore(Protocol):
    """Work that no call waits for. It wakes the background when it has something new to do."""

    @property
    def name(self) -> str: ...
    def wait(self) -> float | None:
        """Seconds until there is something to do: 0 means now, None means nothing to do."""

    def work(self, going: Going) -> None:
        """Do a part of the work; stop soon after `going` returns False."""


class Background:
    """The background thread of one memory. It doesn't refer to the memory, which can be garbage-collected meanwhile.

    `leave` takes no lock, because a finalizer may call it and garbage collection can interrupt any code.
    """

    def __init__(self) -> None:
        self._chores: tuple[_Paced, ...] = ()
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._awake, self._stopping = False, False
        self._release: Callable[[], object] | None = None
        self._stats = BackgroundStats()
        self._thread = threading.Thread(target=self._live, name="adaptive-memory-background", daemon=True)

    def start(self, chores: Sequence[Chore], release: Callable[[], object]) -> None:
        """Start the thread with these chores. It calls `release` if the memory is dropped without being closed."""
        self._chores, self._release_on_leave = tuple(_Paced(one) for one in chores), release
        self._thread.start()

    def change(self, chores: Sequence[Chore]) -> None:
        """Replace the chores; the new ones run from the next round on."""
        self._chores = tuple(_Paced(one) for one in chores)
        self.wake()

    def wake(self) -> None:
        """Wake the thread because a chore has something new to do."""
        if not self._awake:
            self._awake = True
            self._news.put(None)

    def going(self) -> bool:
        """Whether a chore may continue."""
        return not self._stopping

    @property
    def chores(self) -> Sequence[str]:
        """The names of the chores."""
        return [one.name for one in self._chores]

    def stats(self) -> BackgroundStats:
        return self._stats

    def leave(self) -> None:
        """End the thread, which then releases everything: nothing refers to the memory any more."""
        self._release, self._stopping = self._release_on_leave, True
        self._news.put(None)

    def stop(self) -> None:
        """Stop the thread after the work in progress, and wait for it."""
        self._stopping = True
        self._news.put(None)
        self.join()

    def join(self) -> None:
        """Wait for the thread to end. Return at once if it never started or if the caller is this thread."""
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=PATIENCE_SECONDS)

    def _live(self) -> None:
        while not self._stopping:
            self._awake = False
            self._sleep(self._round())
        if self._release is not None:
            self._release()

    def _round(self) -> float | None:
        """Give each chore a turn; return the seconds until the next one is due."""
        waits = [self._turn(one) for one in self._chores]
        return min((wait for wait in waits if wait is not None), default=None)

    def _turn(self, one: _Paced) -> float | None:
        try:
            wait = None if self._stopping else one.wait()
            if wait == 0.0:
                self._do(one)
        except Exception as error:  # noqa: BLE001 - an uncaught error would silently end all chores
            self._failed(one, error)
            return 0.0
        return wait

    def _do(self, one: _Paced) -> None:
        self._stats = replace(self._stats, doing=one.name)
        try:
            one.work(self.going)
        finally:
            self._stats = replace(self._stats, doing=None)

    def _failed(self, one: _Paced, error: Exception) -> None:
        if self._stopping:
            return
        one.failed()
        self._stats = replace(
            self._stats,
            failures={**self._stats.failures, one.name: self._stats.failures.get(one.name, 0) + 1},
            last_failed=one.name,
            last_error=type(error).__name__,
        )
        unknown = not isinstance(error, AdaptiveMemoryError | OSError)
        error_messages.log_warning(_log, f"The {one.name} failed and will be tried again", error, stack=unknown)

    def _sleep(self, seconds: float | None) -> None:
        try:
            if seconds != 0.0 and not self._stopping:
                self._news.get(timeout=seconds)
                self._let_calls_end()
        except queue.Empty:
            return

    def _let_calls_end(self) -> None:
        """Wait briefly until no call is running, so that a call that just woke a chore doesn't have to wait for it."""
        for _ in range(MOST_LOOKS):
            if self._stopping or not is_any_running():
                return
            time.sleep(QUIET_SECONDS)


class _Paced:
    """A chore that is retried after a longer pause each time it fails."""

    def __init__(self, chore: Chore) -> None:
        self.name, self._chore = chore.name, chore
        self._pause, self._not_before = FIRST_PAUSE_SECONDS, 0.0

    def wait(self) -> float | None:
        wait = self._chore.wait()
        return None if wait is None else max(wait, self._not_before - time.monotonic(), 0.0)

    def work(self, going: Going) -> None:
        self._chore.work(going)
        self._pause = FIRST_PAUSE_SECONDS

    def failed(self) -> None:
        self._not_before = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)
