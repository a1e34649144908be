"""How is the write-ahead log kept short where the background does not come to it, and what if it cannot be?

`checkpoints` empties it in the background, which is given a moment for that where one transaction wrote much. Where it
stays long all the same, whoever writes next empties it first, with everybody else kept out for the moment that this
takes. A program that reads without end keeps it from being emptied.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.store.lost_commits import said_by_index

LONG_BYTES, MOST_BYTES = 32 * 2**20, 256 * 2**20
LOOK_EVERY = 10  # transactions
OTHERS_MS, MOST_MS = 100, 2_000  # that it waits for those who write, empty it or read now; doubled as it grows
PAUSE_SECONDS = 0.002
PAGE_BYTES, FRAME_BYTES = 4_096, 24  # of a page, and of what stands before it in the log
AGAIN_SECONDS, AGAIN_BYTES = 2.0, 8 * 2**20  # after it could not be emptied: so much later, or so much longer
LEFT_SECONDS, LEFT_BYTES = 2.0, 2 * 2**20  # for the background, from when it was first seen to be long


class LogOfWrites:
    """Looks now and then how large the log beside a file is, and refuses to let it grow without bound."""

    def __init__(self, file: Path | None) -> None:
        self._file, self._log = file, None if file is None else file.with_name(file.name + "-wal")
        self._transactions, self._not_before, self._not_below = 0, 0.0, 0
        self._is_long = False

    def has_grown(self) -> bool:
        """Whether it is time to look how far the log has grown."""
        return self._transactions % LOOK_EVERY == 0

    def keep_short(self, connection: sqlite3.Connection) -> None:
        """Empty it before a transaction where it is long; raise where it is too long and cannot be emptied."""
        self._transactions += 1
        if self._transactions % LOOK_EVERY:
            return
        size = self._bytes()
        if size > MOST_BYTES:
            self._transactions -= 1  # look again the next time
            self._empty(connection, "TRUNCATE", MOST_MS)
            self._refuse_endless()
        elif size <= LONG_BYTES:
            self._is_long = False
        elif not self._is_long:  # whoever writes just now tells the background
            self._is_long = True
            self._not_before, self._not_below = time.monotonic() + LEFT_SECONDS, size + LEFT_BYTES
        elif time.monotonic() >= self._not_before or size >= self._not_below:
            emptied = self._empty(connection, "RESTART", patience_ms(size))
            self._not_before = 0.0 if emptied else time.monotonic() + AGAIN_SECONDS
            self._not_below = size + AGAIN_BYTES

    def _empty(self, connection: sqlite3.Connection, manner: str, wait_ms: int) -> bool:
        """SQLite itself waits for who writes or reads, but gives up at once where somebody else is emptying it."""
        deadline = time.monotonic() + wait_ms / 1000
        try:
            while True:
                left_ms = max(1, int(1000 * (deadline - time.monotonic())))
                connection.execute(f"PRAGMA busy_timeout = {left_ms}")
                busy, _, _ = connection.execute(f"PRAGMA wal_checkpoint({manner})").fetchone()
                if not busy or time.monotonic() >= deadline:
                    return not busy
                time.sleep(PAUSE_SECONDS)
        finally:
            connection.execute("PRAGMA busy_timeout = 0")

    def _refuse_endless(self) -> None:
        if self._bytes() > MOST_BYTES:
            raise LedgerError(
                f"The ledger's log of writes {str(self._log)!r} has grown beyond {MOST_BYTES // 2**20} MB: some "
                "program reads the ledger's file in a transaction that does not end. Nothing was written; end that "
                "program, or its transaction, and call again."
            )

    def _bytes(self) -> int:
        """Of what was committed since the log was begun. Another transaction under way, such as one that writes the
        whole file anew, has its pages there, too, but they are no reader's fault."""
        if self._file is None or self._log is None or not self._log.exists():
            return 0
        log = said_by_index(self._file)
        return self._log.stat().st_size if log is None else log.pages * (PAGE_BYTES + FRAME_BYTES)


def patience_ms(log_bytes: int) -> int:
    """How long emptying a log of so many bytes may wait for others, who come between it and its turn.

    >>> [patience_ms(size * 2**20) for size in (32, 40, 48, 200)]
    [100, 200, 400, 2000]
    """
    wait = OTHERS_MS
    for _ in range(LONG_BYTES, log_bytes - AGAIN_BYTES + 1, AGAIN_BYTES):
        wait *= 2
    return min(MOST_MS, wait)
