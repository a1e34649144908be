"""Which tables has the ledger's file? As steps from each version of the schema to the next."""

from __future__ import annotations

import sqlite3

from adaptive_memory_core.errors import LedgerVersionError
from adaptive_memory_core.store.ledger.empty_file import NewLedger, as_made_by, is_empty
from adaptive_memory_core.store.numbered_scripts import numbered_scripts

MIGRATIONS = numbered_scripts(__package__)
_known_new: list[NewLedger] = []  # what this process last saw the steps make of an empty file


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the newest version, each step whole or not at all; a newer file is refused."""
    if _known_version(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _known_version(connection) == 0 and is_empty(connection):
            _fill(connection)
        else:
            _take_steps(connection)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _known_version(connection: sqlite3.Connection) -> int:
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise LedgerVersionError(
            f"The ledger has schema version {version}; this package knows up to {len(MIGRATIONS)}. "
            "Install a newer version of adaptive-memory-retrieval, or give another ledger=."
        )
    return version


def refuse_newer(connection: sqlite3.Connection) -> None:
    """Refuse a file that another process brought to a version of which we know nothing, while we had it open."""
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise LedgerVersionError(
            f"The ledger was brought to schema version {version} by a newer version of this package; this process "
            f"knows up to {len(MIGRATIONS)}, and uses it no more. Start it again with that version."
        )


def _fill(connection: sqlite3.Connection) -> None:
    """The first of a process by the steps, and those after it at once."""
    known = [one for one in _known_new if one.steps is MIGRATIONS]
    if known:
        known[0].write_into(connection)
    else:
        _take_steps(connection)
        _known_new[:] = [as_made_by(MIGRATIONS, connection)]


def _take_steps(connection: sqlite3.Connection) -> None:
    for script in MIGRATIONS[_version(connection) :]:
        _execute_all(connection, script)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _execute_all(connection: sqlite3.Connection, script: str) -> None:
    """Statement by statement: `executescript` would commit the transaction that is open."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
