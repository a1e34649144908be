"""How many records may one write of the write-back have, and how long does it rest? No recall is to wait for it long.

An embedded Chroma holds the whole process still while it writes: some 10 ms, and up to a millisecond for each record.
So a write takes as many records as fit into the time that a recall may be held up, by what the last ones took, and then
rests for several times as long. Where that is too slow to be done in time it rests less, and takes more at once.
"""

from __future__ import annotations

import time

FEWEST = 5  # records, however long they take: a write of 1 costs as much
RESTS = 4.0  # times as long as a write took; so the process stands still for a fifth of the time at most
SHRINK, GROW = 0.5, 1.25


class Pace:
    """What the writes of one memory took, and what follows for the next one."""

    def __init__(self, *, stall_ms: float, most: int) -> None:
        self._aim, self._most = stall_ms / 1000.0, most
        self.records = self._bounded(stall_ms)  # at a millisecond each, to begin with
        self.not_before = 0.0  # by time.monotonic

    def took(self, records: int, seconds: float, *, late: bool) -> None:
        """So many were written in so long; `late` says whether what is due waits longer than it should."""
        if late:
            self.records = self._bounded(2 * self.records)
        elif seconds > self._aim:
            self.records = self._bounded(SHRINK * min(records, self.records))
        elif records >= self.records:
            self.records = self._bounded(GROW * records + 1)
        self.not_before = time.monotonic() + seconds * (1.0 if late else RESTS)

    def _bounded(self, records: float) -> int:
        return min(self._most, max(FEWEST, int(records)))
