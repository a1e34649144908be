"""When is the mirror compared with the collection? As soon as recalls find it behind, in the background, in pages."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

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
    ) -> None:
        """`again_seconds`: between two comparisons where the collection's state does not tell of every change."""
        self._comparison, self._in_step, self._wake, self._seen_seconds = comparison, in_step, wake, seen_seconds
        self._again_seconds = again_seconds
        self._left: Iterator[None] | None = None
        self._began, self._not_before = 0.0, 0.0
        self._behind = self._first_done = self._looked = False
        self._written = 0  # by us, when the last comparison began
        self._turn = threading.Lock()

    def ready(self) -> bool:
        """Whether recalls may look into the mirror. The first one has it compared, where that is soon done."""
        self._looked = True
        if not self._first_done and self._turn.acquire(blocking=False):
            try:
                if not self._first_done:
                    self._first_done = True
                    deque(self._comparison.run(AT_ONCE), maxlen=0)
            finally:
                self._turn.release()
        return self._in_step.holds()

    def distrust(self) -> None:
        """The mirror is torn."""
        self._comparison.distrust()
        self.behind()

    def behind(self) -> None:
        """A recall could not use the mirror."""
        if not self._behind:
            self._behind = True
            self._wake()

    def watch(self) -> None:
        """Compare where somebody has written, though no recall of this process has found it so."""
        if not self._in_step.holds():
            self.behind()

    def sync(self) -> None:
        """Compare now, until nobody writes meanwhile."""
        with self._turn:
            self._left = None
            for _ in range(3):
                deque(self._comparison.run(), maxlen=0)
                if self._in_step.holds():
                    break
            self._comparison.renew(self._in_step.unheard())

    def wait(self) -> float | None:
        if self._left is not None:
            return 0.0
        if self._behind:
            return max(0.0, self._not_before - time.monotonic())
        if self._in_step.written != self._written:  # somebody may have written at the same moment as we
            return max(0.0, self._began + self._seen_seconds - time.monotonic())
        if self._again_seconds is not None and self._looked:
            return max(0.0, self._began + self._again_seconds - time.monotonic(), self._not_before - time.monotonic())
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
                self._left, self._behind = None, True
                raise
            if done:
                self._left = None
                self._end()

    def _begin(self) -> None:
        self._began, self._behind, self._looked = time.monotonic(), False, False
        self._written = self._in_step.written
        late = self._in_step.unheard()
        if late:
            self._comparison.renew(late)
            self._in_step.heard(late)
        self._left = self._comparison.run()

    def _end(self) -> None:
        now = time.monotonic()
        self._not_before = now + SHARE * (now - self._began)
