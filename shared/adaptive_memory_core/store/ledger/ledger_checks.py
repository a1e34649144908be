"""Checks of the ledger: compared with the collection, and every row read and tested while others go on."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict

from adaptive_memory_core.errors import InvalidInputError, LedgerError
from adaptive_memory_core.flow.ports.ledger_values import JoinStates
from adaptive_memory_core.learn.after_read import state_of
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import decay_steps, graph_rows, mirror_rows, recall_log, removal, word_rows
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.schema import UNREADABLE
from adaptive_memory_core.store.ledger.state_rows import StateRow
from adaptive_memory_core.store.sqlite_file import LedgerFile

_KNOWN = """
SELECT count(*) FILTER (WHERE collection_key = :own AND NOT EXISTS (
    SELECT 1 FROM mirror_size WHERE collection_key = :own AND complete_at IS NOT NULL AND changes = 0
)), count(*) FILTER (WHERE collection_key != :own)
FROM records JOIN collections USING (collection_key) WHERE (name = :name OR collection_key = :own) AND reader = 0
"""


class LedgerComparison:
    """What is asked on opening, by a check, and by a repair."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def records_known(self, name: str) -> tuple[int, int]:
        """How many records of this collection were met, and of earlier ones of that name, which are others. Where the
        mirror is complete and never had one, those of this collection were on their way, and have not arrived."""
        with self._shared.reading() as sql:
            own, earlier = sql.execute(_KNOWN, {"own": self._shared.collection_key, "name": name}).fetchone()
        return own, earlier

    def latest_read(self) -> float | None:
        """When a record of this collection was last read, as far as the ledger knows."""
        query = "SELECT max(last_read) FROM records WHERE collection_key = ? AND reader = 0"
        with self._shared.reading() as sql:
            found: float | None = sql.execute(query, (self._shared.collection_key,)).fetchone()[0]
        return found

    def met(self, stored_ids: Sequence[str]) -> list[str]:
        """Those of the records that have a state here, whosever they are."""
        query = "SELECT 1 FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 0"
        with self._shared.reading() as sql:
            return [one for one in stored_ids if sql.execute(query, (self._shared.collection_key, one)).fetchone()]

    def merge(self, scope: Scope, kept: str, gone: str, join: JoinStates | None) -> None:
        """The state of one record goes into that of another, with its verdicts and its audit trail; without `join` it
        goes altogether."""
        shared = self._shared
        with shared.writing() as sql:
            user = shared.known_user(sql, scope)
            known = rows.known_states(sql, shared.collection_key, user, [kept, gone])
            if gone in known and kept in known and join is not None:
                _join(sql, known[kept], known[gone], join)
            elif gone in known and join is not None:
                query = "UPDATE records SET stored_id = ?, version = version + 1 WHERE record_key = ?"
                sql.execute(query, (kept, known[gone].key))
                rows.add_to_outbox(sql, [known[gone].key])
            elif gone in known:
                rows.delete_rows(sql, [known[gone].key])
            sql.execute("UPDATE changes SET stored_id = ? WHERE user_key = ? AND stored_id = ?", (kept, user, gone))
            if scope.user is None:
                removal.merge_readers(sql, shared.collection_key, gone, kept)
            word_rows.delete_word_rows(sql, shared.collection_key, [gone])
            graph_rows.drop_graph_of(sql, shared.collection_key, [gone])
            mirror_rows.delete_mirror_rows(sql, shared.collection_key, [gone])
            shared.cache.drop([kept, gone])


def _join(sql: sqlite3.Connection, kept: StateRow, gone: StateRow, join: JoinStates) -> None:
    for table in ("verdicts", "judged_for"):
        sql.execute(
            f"UPDATE {table} SET record_key = ? WHERE record_key = ? "  # noqa: S608 - our own names
            f"AND recall_id NOT IN (SELECT recall_id FROM {table} WHERE record_key = ?)",
            (kept.key, gone.key, kept.key),
        )
    rows.delete_rows(sql, [gone.key])
    rows.update_states(sql, [(kept.key, join(kept.state, gone.state))])


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
                pass
        except (sqlite3.Error, UnicodeDecodeError) as error:
            found.append(f"The table {name} cannot be read: {error}.")
    return found


def undecodable(sql: sqlite3.Connection) -> list[str]:
    """Lines of the log and paces that were written by no version of ours."""
    users = [row[0] for row in sql.execute("SELECT user_key FROM users")]
    always = (-math.inf, math.inf)
    try:
        for user in users:
            decay_steps.timeline_of(sql, user)
            for _ in recall_log.lines(sql, user, always, None, None):
                pass
    except (sqlite3.Error, LedgerError, *UNREADABLE) as error:
        return [f"The log or the paces cannot be read: {error}."]
    return []


def untrue(sql: sqlite3.Connection) -> list[str]:
    """States that no reading and no verdict leads to."""
    wrong = 0
    for row in sql.execute(f"SELECT {rows.LIST} FROM records"):  # noqa: S608 - our own names
        try:
            state_of(asdict(rows.state_of(row)))
        except (InvalidInputError, TypeError, ValueError):
            wrong += 1
    return [f"The reads of {wrong} records are outside what is possible."] if wrong else []
