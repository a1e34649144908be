"""Is this ledger where it was? One that was moved elsewhere, or is still arriving, is not opened."""

from __future__ import annotations

import sqlite3

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.store.sqlite_file import LedgerFile

MOVE = "ledger_move"  # where it is moved from: which move, where to, and whether it is through
ARRIVAL = "ledger_arrival"  # where it is moved to: the move, and of each table how far it is copied


def refuse_moved(file: LedgerFile, sql: sqlite3.Connection) -> None:
    """Say where it is, or that it is not all here yet."""
    if file.has_table(sql, ARRIVAL):
        raise LedgerError(
            f"A ledger is being moved to {file.path}, and is not all here yet. Call move_ledger again, with the same "
            "source: it goes on where it was. Then open the memory."
        )
    if file.has_table(sql, MOVE):
        row = sql.execute(f"SELECT target FROM {file.named(MOVE)} WHERE moved = 1").fetchone()  # noqa: S608 - our own names
        if row is not None:
            raise LedgerError(
                f"The ledger {file.path} was moved to {row[0]}. Open the memory with ledger= that one; this one "
                "is as it was then."
            )
