"""Work in the background: one thread per memory does all chores in turn, paced, stopped and reported."""

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
from adaptive_memory_core.reports import BackgroundStats
from adaptive_memory_core.running_calls import is_any_running

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 60.0  # before a chore that failed is tried again; doubled each time
PATIENCE_SECONDS = 60.0  # for the bit that is under way when the thread is stopped
QUIET_SECONDS, MOST_LOOKS = 0.002, 10  # between two looks for a moment in which no call is under way, and how many
Going = Callable[[], bool]
_log = logging.getLogger(__name__)


class Chore(Protocol):
    """Work that nobody waits for. It wakes the background when there is something new to do."""

    @property
    def name(self) -> str: ...
    def wait(self) -> float | None:
        """Seconds until there is something to do: 0 for now, None where there is nothing."""

    def work(self, going: Going) -> None:
        """Do a bit of it, and end soon once `going` says no."""


class Background:
    """The thread of one memory. It holds what the chores need, but not the memory, which can be collected meanwhile.

    What may be called by a finalizer (`leave`) takes no lock: a collection can come in the middle of anything.
    """

    def __init__(self) -> None:
        self._chores: tuple[_Paced, ...] = ()
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._awake, self._stopping = False, False
        self._let_go: Callable[[], object] | None = None
        self._stats = BackgroundStats()
        self._thread = threading.Thread(target=self._live, name="adaptive-memory-background", daemon=True)

    def start(self, chores: Sequence[Chore], let_go: Callable[[], object]) -> None:
        """Do these from now on; `let_go` is called by the thread where the memory was dropped without being closed."""
        self._chores, self._when_left = tuple(_Paced(one) for one in chores), let_go
        self._thread.start()

    def change(self, chores: Sequence[Chore]) -> None:
        """Do these from the next round on, instead of the earlier ones."""
        self._chores = tuple(_Paced(one) for one in chores)
        self.wake()

    def wake(self) -> None:
        """One of the chores has something new to do."""
        if not self._awake:
            self._awake = True
            self._news.put(None)

    def going(self) -> bool:
        """Whether a chore may go on."""
        return not self._stopping

    @property
    def chores(self) -> Sequence[str]:
        """Their names."""
        return [one.name for one in self._chores]

    def stats(self) -> BackgroundStats:
        return self._stats

    def leave(self) -> None:
        """Nobody holds the memory any more: the thread releases everything and ends."""
        self._let_go, self._stopping = self._when_left, True
        self._news.put(None)

    def stop(self) -> None:
        """End the thread after the bit that is under way."""
        self._stopping = True
        self._news.put(None)
        self.join()

    def join(self) -> None:
        """Wait until the thread has ended; nothing where it never began, or where it is the one that asks."""
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=PATIENCE_SECONDS)

    def _live(self) -> None:
        while not self._stopping:
            self._awake = False
            self._sleep(self._round())
        if self._let_go is not None:
            self._let_go()

    def _round(self) -> float | None:
        """A bit of every chore that is due; gives the seconds until the next one is."""
        waits = [self._turn(one) for one in self._chores]
        return min((wait for wait in waits if wait is not None), default=None)

    def _turn(self, one: _Paced) -> float | None:
        try:
            wait = None if self._stopping else one.wait()
            if wait == 0.0:
                self._do(one)
        except Exception as error:  # noqa: BLE001 - a thread that died would end all chores without a word
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
        """Without this, a call that has just given a chore some work would wait for the chore whenever the call
        pauses."""
        for _ in range(MOST_LOOKS):
            if self._stopping or not is_any_running():
                return
            time.sleep(QUIET_SECONDS)


class _Paced:
    """A chore that waits longer each time it fails."""

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
