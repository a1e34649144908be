"""Is every row of the ledger readable and possible? Reads all of it, while others go on."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import asdict

from adaptive_memory_core.errors import InvalidInputError, LedgerError
from adaptive_memory_core.learn.state_ranges import state_of
from adaptive_memory_core.let_others_run import let_others_run
from adaptive_memory_core.store.ledger import pace_spans, recall_rows
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.damaged_file import UNREADABLE
from adaptive_memory_core.store.sqlite_file import LedgerFile


def faults(file: LedgerFile) -> list[str]:
    """What is wrong, each fault in a sentence; none for a ledger that is whole."""
    try:
        with file.apart() as sql:
            found = [str(row[0]) for row in sql.execute("PRAGMA quick_check(10)") if row[0] != "ok"]
            return (
                [f"SQLite finds: {'; '.join(found)}."]
                if found
                else [*_unreadable(sql), *undecodable(sql), *untrue(sql)]
            )
    except LedgerError as error:
        return [str(error)]


def _unreadable(sql: sqlite3.Connection) -> list[str]:
    found = []
    names = [row[0] for row in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for name in names:
        try:
            for _ in sql.execute(f'SELECT * FROM "{name}"'):  # noqa: S608 - a name of a table
                let_others_run()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            found.append(f"The table {name} cannot be read: {error}.")
    return found


def undecodable(sql: sqlite3.Connection) -> list[str]:
    """Lines of the log and paces that were written by no version of ours."""
    users = [row[0] for row in sql.execute("SELECT user_key FROM users")]
    always = (-math.inf, math.inf)
    try:
        for user in users:
            pace_spans.timeline(sql, user)
            for _ in recall_rows.lines(sql, user, always, None, None):
                pass
    except (sqlite3.Error, LedgerError, *UNREADABLE) as error:
        return [f"The log or the paces cannot be read: {error}."]
    return []


def untrue(sql: sqlite3.Connection) -> list[str]:
    """States that no reading and no verdict leads to."""
    wrong = 0
    for row in sql.execute(f"SELECT {rows.LIST} FROM records"):  # noqa: S608 - our own names
        try:
            state_of(asdict(rows.state_of(row)), missing={})
        except (InvalidInputError, TypeError, ValueError):
            wrong += 1
        let_others_run()
    return [f"The reads of {wrong} records are outside what is possible."] if wrong else []
