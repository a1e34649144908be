"""When may the next request go out? No more often than so many times a minute."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """Waits until the next request may go out; the first goes at once.

    >>> waited = []
    >>> pace = Pace(per_minute=30, clock=lambda: 0.0, sleep=waited.append)
    >>> pace.wait(); pace.wait(); pace.wait(); waited
    [2.0, 4.0]
    """

    def __init__(
        self,
        per_minute: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._seconds, self._clock, self._sleep = 60.0 / per_minute, clock, sleep
        self._next: float | None = None

    def wait(self) -> None:
        now = self._clock()
        at = now if self._next is None else max(now, self._next)
        self._next = at + self._seconds
        if at > now:
            self._sleep(at - now)
