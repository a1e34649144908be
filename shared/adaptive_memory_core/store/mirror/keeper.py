"""When is the mirror compared with the collection? As soon as recalls find it behind, in the background, in pages."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.mirror.compare import Comparison
from adaptive_memory_core.store.mirror.in_step import InStep

AT_ONCE = 200  # records that the first recall waits for; more are read beside it
SHARE = 3.0  # pauses between comparisons that others' writing asks for, in multiples of what the last one took
DONE = object()


class MirrorKeeper:
    """The chore that brings the mirror up with the collection, and keeps it there."""

    name = "mirror"

    def __init__(
        self,
        comparison: Comparison,
        in_step: InStep,
        wake: Callable[[], object],
        *,
        seen_seconds: float,
        again_seconds: float | None,
        recalled: Callable[[], object] = int,
    ) -> None:
        """`again_seconds`: between two comparisons where the collection's state does not tell of every change;
        `recalled` hears of every recall that looks for the mirror."""
        self._comparison, self._in_step, self._wake, self._seen_seconds = comparison, in_step, wake, seen_seconds
        self._again_seconds, self._recalled = again_seconds, recalled
        self._left: Iterator[None] | None = None
        self._began, self._not_before = 0.0, 0.0
        self._begun = self._first_done = self._behind = self._due = self._looked = False
        self._written = 0  # by us in ways that hide others' writing, when the last comparison began
        self._turn = threading.Lock()

    def ready(self) -> bool:
        """Whether recalls may look into the mirror. Looking writes nothing: what is new waits for `catch_up`."""
        self._looked = True
        if not self._begun:
            self._begin_with(0)
        holds = self._in_step.holds()
        self._recalled()
        self._behind = self._behind or not holds
        return holds

    def begin(self) -> None:
        """Before a write of ours: have it compared, where that is soon done."""
        if not self._first_done:
            self._first_done = True
            self._begin_with(AT_ONCE)

    def catch_up(self) -> None:
        """What recalls found to be behind may be taken in."""
        if self._behind and not self._due:
            self._due = True
            self._wake()

    def distrust(self) -> None:
        """The mirror is torn."""
        self._comparison.distrust()
        self._behind = True

    def watch(self) -> None:
        """Compare where somebody has written, though no recall of this process has found it so."""
        if not self._in_step.holds():
            self._behind = True
            self.catch_up()

    def sync(self) -> None:
        """Compare now, until nobody writes meanwhile."""
        with self._turn:
            self._left = None
            for _ in range(3):
                deque(self._comparison.run(), maxlen=0)
                if self._in_step.holds():
                    break
            self._renew_unheard(0.0)

    def wait(self) -> float | None:
        if self._left is not None:
            return 0.0
        if self._due:
            return max(0.0, self._not_before - time.monotonic())
        now = time.monotonic()
        if self._in_step.written != self._written:  # somebody may have written at the same moment as we
            return max(0.0, self._began + self._seen_seconds - now)
        if self._again_seconds is not None and self._looked:
            return max(0.0, self._began + self._again_seconds - now, self._not_before - now)
        return None

    def work(self, _going: Going) -> None:
        """The next page."""
        with self._turn:
            if self._left is None:
                self._begin()
                return
            try:
                done = next(self._left, DONE) is DONE
            except BaseException:
                self._left, self._behind, self._due = None, True, True
                raise
            if done:
                self._left = None
                self._end()

    def _begin_with(self, most: int) -> None:
        self._begun = True
        if not self._turn.acquire(blocking=False):
            return
        try:
            with suppress(AdaptiveMemoryError):  # then it is compared in the background
                deque(self._comparison.run(most), maxlen=0)
        finally:
            self._turn.release()

    def _begin(self) -> None:
        self._began = time.monotonic()
        self._behind = self._due = self._looked = False
        self._written = self._in_step.written
        self._renew_unheard()
        self._left = self._comparison.run()

    def _renew_unheard(self, after_seconds: float | None = None) -> None:
        late = self._in_step.unheard(after_seconds)
        if late:
            self._comparison.renew(late)
            self._in_step.heard(late, by_comparing=True)

    def _end(self) -> None:
        now = time.monotonic()
        self._not_before = now + SHARE * (now - self._began)
