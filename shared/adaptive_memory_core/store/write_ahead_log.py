"""How large may the write-ahead log become? A program that reads without end keeps it from being emptied."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from adaptive_memory_core.errors import LedgerError

MOST_BYTES = 256 * 2**20
LOOK_EVERY = 50  # transactions


class LogOfWrites:
    """Looks now and then how large the log beside a file is, and refuses to let it grow without bound."""

    def __init__(self, file: Path | None) -> None:
        self._log = None if file is None else file.with_name(file.name + "-wal")
        self._transactions = 0

    def refuse_endless(self, connection: sqlite3.Connection) -> None:
        """Raise before a transaction where the log is too large and cannot be emptied."""
        self._transactions += 1
        if self._transactions % LOOK_EVERY or self._bytes() <= MOST_BYTES:
            return
        self._transactions -= 1  # look again the next time
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if self._bytes() > MOST_BYTES:
            raise LedgerError(
                f"The ledger's log of writes {str(self._log)!r} has grown beyond {MOST_BYTES // 2**20} MB: some "
                "program reads the ledger's file in a transaction that does not end. Nothing was written; end that "
                "program, or its transaction, and call again."
            )

    def _bytes(self) -> int:
        return self._log.stat().st_size if self._log is not None and self._log.exists() else 0
