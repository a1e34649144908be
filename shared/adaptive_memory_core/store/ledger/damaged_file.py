"""Is this file a ledger, and is it whole? SQLite's errors about one that is not, in our words."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import orjson

from adaptive_memory_core.errors import DamagedLedgerError
from adaptive_memory_core.store.ledger.unreadable import UnreadableRowError
from adaptive_memory_core.store.sqlite_header import header_fault

UNREADABLE = (
    UnicodeDecodeError,
    orjson.JSONDecodeError,
    UnreadableRowError,
)  # what flipped bytes raise besides errors of SQLite
_SIGNS = re.compile("malformed|not a database|decode to UTF-8|no such (table|column|index)|corrupt|disk image")
_ADVICE = (
    "Close what has it open, put the file (and those beside it that begin with its name) aside, and open the memory "
    "again: the reads that the collection's metadata show are kept, the log and the verdicts begin anew. Better still, "
    "restore the file from a backup."
)


def shows_damage(error: Exception) -> bool:
    """Whether an error says that the file itself is damaged."""
    return isinstance(error, UNREADABLE) or (isinstance(error, sqlite3.Error) and bool(_SIGNS.search(str(error))))


def damaged(path: str, what: object) -> DamagedLedgerError:
    """The error for a file that cannot be used as it is."""
    return DamagedLedgerError(f"The ledger {path!r} is damaged: {what}. {_ADVICE}")


def refuse_damaged(path: str, file: Path | None) -> None:
    """Raise where the file is no SQLite file, or shorter than it says."""
    fault = None if file is None else header_fault(file)
    if fault is not None:
        raise damaged(path, fault)


def refuse_foreign(path: str, connection: sqlite3.Connection) -> None:
    """Raise where the file holds somebody else's tables and none of ours."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and "recalls" not in tables | _ours(connection):
        raise DamagedLedgerError(
            f"The ledger {path!r} is another program's database: it holds {', '.join(sorted(tables)[:5])}. Nothing was "
            "written into it. Give another path as ledger=."
        )


def _ours(connection: sqlite3.Connection) -> set[str]:
    """A file with a version of the schema is ours, whatever is wrong with its tables."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    return {"recalls"} if version else set()
