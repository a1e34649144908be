"""How do calls of many threads compute without getting into each other's way? In turn, in the order they came.

Python lets one thread run at a time, but has another one run every 5 ms, and whenever SQLite or numpy let go of it for
a moment: of eight recalls at once each then takes half as much again of the processor, whose caches hold what another
one needs. So a call computes when it has the turn, to its end. It lets go of it to wait, and while code runs that is
not ours; one that has it for long loses it to whoever waits. To have no turn keeps no call from anything.
"""

from __future__ import annotations

import threading
import time
from collections import deque

LONGEST_SECONDS = 0.01  # that a turn lasts where others wait; some calls of usual length
LOOKING = 8  # of those who wait look within that time whether somebody has it for too long; more would take time


class Turns:
    """One at a time. Whoever was interrupted, or waits elsewhere, is passed over after a while.

    >>> turns = Turns()
    >>> turns.take("a"), turns.has("a"), turns.give("a"), turns.has("a")
    (None, True, None, False)
    """

    def __init__(self) -> None:
        self._moment = threading.Lock()
        self._running: object | None = None
        self._since = 0.0
        self._line: deque[_Place] = deque()

    def has(self, call: object) -> bool:
        """Whether it is this call's turn."""
        return self._running is call

    @property
    def awaited(self) -> bool:
        """Whether anybody waits for a turn."""
        return bool(self._line)

    def take(self, call: object, *, first: bool = False) -> None:
        """Wait for the turn of this call, before all others if it is to come `first`."""
        with self._moment:
            if self._running is None:
                self._begin(call)
                return
            place = _Place(call)
            (self._line.appendleft if first else self._line.append)(place)
            patience = LONGEST_SECONDS * (1 + len(self._line) // LOOKING)
        try:
            while not place.called.acquire(timeout=patience):
                self._pass_over()
        except BaseException:
            self._leave(place)
            raise

    def give(self, call: object) -> None:
        """The turn of this call, if it has it, is the next one's."""
        if self._running is call:
            with self._moment:
                if self._running is call:
                    self._next()

    def _begin(self, call: object) -> None:
        self._running, self._since = call, time.monotonic()

    def _next(self) -> None:
        if not self._line:
            self._running = None
            return
        place = self._line.popleft()
        self._begin(place.call)
        place.called.release()

    def _pass_over(self) -> None:
        """Go on with the next one where whoever has the turn has had it for long."""
        with self._moment:
            if time.monotonic() - self._since >= LONGEST_SECONDS:
                self._next()

    def _leave(self, place: _Place) -> None:
        """Take it out of the line; where it was called meanwhile, its call gives the turn at its end."""
        with self._moment:
            if place in self._line:
                self._line.remove(place)


class _Place:
    """Of a call that waits: the lock is free once it has been called."""

    __slots__ = ("call", "called")

    def __init__(self, call: object) -> None:
        self.call, self.called = call, threading.Lock()
        self.called.acquire()
