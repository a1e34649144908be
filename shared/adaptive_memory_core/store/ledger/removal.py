"""Removal of records from the ledger: forgotten ones without a trace, pruned ones except for the audit trail; and the
states of users who read everyone's records.

The row of such a reader (`reader = 1`) is never written back to the collection, and other users cannot see it. The
log's lines without a record are prepared before the transaction, because thousands of lines may contain it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import partial

from adaptive_memory_core.flow.ports.ledger_values import Erased, LedgerRow, RemovalRule
from adaptive_memory_core.identity import record_id, scoped_id
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.records import Scope, Seen
from adaptive_memory_core.store.ledger import decay_steps, recall_log, state_rows, verdict_rows
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.purge import mark_for_purge
from adaptive_memory_core.store.ledger.recall_encoding import EncodedRecall, decode, without_record
from adaptive_memory_core.store.ledger.recall_log import NOTHING_PREPARED, PreparedLines
from adaptive_memory_core.store.ledger.schema import LedgerConnection, LedgerPart
from adaptive_memory_core.store.ledger.state_rows import FORGOTTEN_USER, forgotten_name
from adaptive_memory_core.store.ledger.text_changes import Owner, aside_key, aside_name, remove_aside

_UNKEPT = (
    f"SELECT record_key, stored_id, kind, {rows.LIST} FROM records "  # noqa: S608 - our own names
    "WHERE user_key = ? AND record_key > ? AND reader = 0 AND remembered = 0 AND pinned = 0 ORDER BY record_key LIMIT ?"
)
_OF_A_USER = (
    *("recalls", "samples", "spans", "turns", "changes", "floors", "logged_ids", "user_files", "graph_links"),
    "followed",
)
_NAMELESS = (
    "UPDATE users SET name = ?, steps = 0, balance = 0, policy = NULL, last_id = NULL, "
    "arrived = 0, counted = counted + 1 WHERE user_key = ?"
)
_ERASED = (
    "INSERT INTO erased (user_key, digest, at) VALUES (?, ?, ?) "
    "ON CONFLICT (user_key, digest) DO UPDATE SET at = excluded.at"
)


class LedgerRemoval(LedgerPart):
    """Removal of records with their states, verdicts, words and lines of the log, in one transaction."""

    def reckoned(self, scope: Scope, record: str) -> PreparedLines:
        """The log's lines without the record, prepared for `erase`."""
        return lines_without(self._shared, scope, record)

    def erase(
        self,
        scope: Scope,
        record: str,
        stored_id: str,
        *,
        existed: bool,
        now: float,
        reckoned: PreparedLines | None = None,
    ) -> Erased:
        """Remove every trace of a record: its state, its verdicts, its entries in the log, its place in the outbox.

        If there is no trace, and the record did not exist in the collection either, nothing is written.
        """
        shared, reckoned = self._shared, reckoned or NOTHING_PREPARED
        with shared.writing() as sql:
            user = shared.user_key(sql, scope) if existed else shared.known_user(sql, scope)
            known = rows.state_rows_by_id(sql, shared.collection_key, user, [stored_id])
            verdicts = rows.delete_rows(sql, [row.key for row in known.values()])
            aside_key, more = remove_aside(sql, Owner(shared.collection_key, user), stored_id)
            sql.execute("DELETE FROM changes WHERE user_key = ? AND stored_id = ?", (user, stored_id))
            sql.execute("UPDATE users SET last_id = NULL WHERE user_key = ? AND last_id = ?", (user, stored_id))
            shared.cache.drop([stored_id])
            entries = recall_log.strike_out(sql, user, record, reckoned)
            shared.cache.logged_ids.pop((user, record), None)  # its number is free, and may be used again
            had_readers = scope.user is None and forget_readers(sql, shared, record, stored_id, reckoned)
            if existed or known or aside_key or entries or had_readers:
                mark_for_purge(sql, "forgotten")
                sql.execute(_ERASED, (user, rows.id_digest(record), now))
        return Erased(bool(known) or aside_key, entries, verdicts + more)

    def forget_learned(self, scope: Scope, stored_ids: Sequence[str] | None) -> int:
        """Remove a user's state of these records of everyone's (None: of all). The records stay. Return how many had
        such state."""
        shared = self._shared
        with shared.writing() as sql:
            user = shared.known_user(sql, scope)
            places = read_ids(sql, user) if stored_ids is None else stored_ids
            if stored_ids is None:
                forget_recalls(sql, user)
                drop_aside(sql, user)
            done = [forget_learned(sql, shared, user, record_id(scope, one), one) for one in places]
            if stored_ids is None or any(one.state or one.log_entries for one in done):
                mark_for_purge(sql, "forgotten")
        return sum(one.state or one.log_entries > 0 for one in done)

    def forget_user(self, scope: Scope) -> bool:
        """Remove every trace of a user whose records are gone; return whether there was any.

        The user's key stays, because other processes may have cached it, with a digest instead of the name.
        """
        shared = self._shared
        with shared.writing() as sql:
            user = shared.known_user(sql, scope)
            if not user:
                return False
            ours = "SELECT record_key FROM records WHERE user_key IN (?, ?)"
            keys = [row[0] for row in sql.execute(ours, (user, aside_key(user))).fetchall()]
            rows.delete_rows(sql, keys)
            gone: int = len(keys)
            for table in _OF_A_USER:
                gone += sql.execute(f"DELETE FROM {table} WHERE user_key = ?", (user,)).rowcount  # noqa: S608 - our own
            named = "SELECT count(*) FROM users WHERE user_key = ? AND name = ?"
            gone += sql.execute(named, (user, rows.owner_name(scope))).fetchone()[0]
            sql.execute(_NAMELESS, (forgotten_name(scope), user))
            shared.forget_users()
            mark_for_purge(sql, "forgotten")
        return gone > 0

    def scopes(self) -> list[Scope]:
        """The scopes in the ledger, in the order of their registration."""
        with self._shared.reading() as sql:
            query = "SELECT name FROM users WHERE collection_key = ? ORDER BY user_key"
            rows = sql.execute(query, (self._shared.collection_key,)).fetchall()
        return [Scope(name or None) for (name,) in rows if not name.startswith(FORGOTTEN_USER)]

    def unprotected(self, scope: Scope, after: int, *, limit: int) -> list[LedgerRow]:
        """A page of the records that are neither remembered nor pinned."""
        with self._shared.reading() as sql:
            return _page(sql, self._shared.known_user(sql, scope), after, limit)

    def doomed(self, scope: Scope, stored_ids: Sequence[str], doomed: RemovalRule) -> list[str]:
        """The records that the rule still selects for removal."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            return _still_doomed(sql, user, stored_ids, doomed, decay_steps.stored_timeline(sql, user))

    def retire(self, scope: Scope, stored_ids: Sequence[str], *, by: str, now: float) -> None:
        """Remove pruned records from the ledger, after the collection has removed them: the ledger is not locked while
        Chroma works."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            known = rows.state_rows_by_id(sql, self._shared.collection_key, user, stored_ids)
            step = decay_steps.stored_timeline(sql, user).step
            _delete(sql, user, scope, {one: row.key for one, row in known.items()}, step=step, by=by, now=now)
            if scope.user is None:
                drop_readers(sql, self._shared.collection_key, list(known))
            self._shared.cache.drop(list(known))
            if known:
                mark_for_purge(sql, "forgotten")


def _page(sql: sqlite3.Connection, user: int, after: int, limit: int) -> list[LedgerRow]:
    """A page of the user's records that are neither remembered nor pinned."""
    found = sql.execute(_UNKEPT, (user, after, limit))
    return [LedgerRow(key, stored_id, Seen(rows.state_in_row(state), kind)) for key, stored_id, kind, *state in found]


def _still_doomed(
    sql: sqlite3.Connection, user: int, stored_ids: Sequence[str], doomed: RemovalRule, timeline: Timeline
) -> list[str]:
    """The records that the rule selects for removal in their present state."""
    query = (
        f"SELECT stored_id, kind, {rows.LIST} FROM records WHERE user_key = ? AND reader = 0 AND stored_id IN ({{}})"  # noqa: S608
    )
    return [
        stored_id
        for stored_id, kind, *state in rows.rows_in(sql, query, stored_ids, (user,))
        if doomed(Seen(rows.state_in_row(state), kind), timeline=timeline)
    ]


def _delete(
    sql: LedgerConnection, user: int, scope: Scope, gone: dict[str, int], *, step: int, by: str, now: float
) -> None:
    """Delete the rows and note that the records were pruned; a digest keeps a recall in progress from writing them
    back."""
    for stored_id, key in gone.items():
        rows.delete_rows(sql, [key])
        sql.execute(_ERASED, (user, rows.id_digest(record_id(scope, stored_id)), now))
        verdict_rows.add_change(sql, user, stored_id, step, "pruned", by, at=now)


_ROWS = "SELECT record_key, user_key FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 1"
_LOGS = (  # users whose lines contain the id
    "SELECT user_key FROM users JOIN logged_ids USING (user_key) WHERE collection_key = ? AND name != '' AND id = ?"
)
_OWNED = "SELECT 1 FROM records WHERE collection_key = ? AND user_key = ? AND reader = 0 AND stored_id IN (?, ?)"


def drop_readers(sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str]) -> int:
    """Remove all readers' rows of these records with their verdicts; return the number of removed verdicts."""
    places = [place for one in stored_ids for place in (one, aside_name(one))]
    rows = [row for one in places for row in sql.execute(_ROWS, (collection, one)).fetchall()]
    return state_rows.delete_rows(sql, [key for key, _ in rows]) if rows else 0


def logs_naming(sql: sqlite3.Connection, shared: LedgerContext, record: str) -> list[int]:
    """The keys of the users whose log contains a record."""
    return [row[0] for row in sql.execute(_LOGS, (shared.collection_key, record))]


def forget_readers(
    sql: sqlite3.Connection,
    shared: LedgerContext,
    record: str,
    stored_id: str,
    reckoned: PreparedLines,
) -> bool:
    """Remove every trace that readers have of one of everyone's records: rows, verdicts, audit trail, log entries.
    Return whether there was any, which does not reveal the number of readers."""
    collection = shared.collection_key
    found = sql.execute(_ROWS, (collection, stored_id)).fetchall()
    for _, user in found:
        sql.execute("DELETE FROM changes WHERE user_key = ? AND stored_id = ?", (user, stored_id))
    drop_readers(sql, collection, [stored_id])
    struck = sum(_strike_out(sql, shared, user, record, reckoned) for user in logs_naming(sql, shared, record))
    return bool(found or struck)


def read_ids(sql: sqlite3.Connection, user: int) -> list[str]:
    """The ids of everyone's records for which a user has a state."""
    found = sql.execute("SELECT stored_id FROM records WHERE user_key = ? AND reader = 1", (user,))
    return [row[0] for row in found]


def drop_aside(sql: sqlite3.Connection, user: int) -> None:
    """Remove a user's states of everyone's records that were set aside."""
    found = sql.execute(
        "SELECT record_key FROM records WHERE user_key = ? AND reader = 1", (aside_key(user),)
    ).fetchall()
    state_rows.delete_rows(sql, [row[0] for row in found])


def forget_learned(sql: sqlite3.Connection, shared: LedgerContext, user: int, record: str, stored_id: str) -> Erased:
    """Remove one reader's state of one of everyone's records, which stays."""
    query = f"{_ROWS} AND user_key = ?"
    found = sql.execute(query, (shared.collection_key, stored_id, user)).fetchall()
    found += sql.execute(query, (shared.collection_key, aside_name(stored_id), aside_key(user))).fetchall()
    verdicts = state_rows.delete_rows(sql, [key for key, _ in found])
    sql.execute("DELETE FROM changes WHERE user_key = ? AND stored_id = ?", (user, stored_id))
    shared.cache.drop([stored_id])
    return Erased(bool(found), _strike_out(sql, shared, user, record), verdicts)


def forget_recalls(sql: sqlite3.Connection, user: int) -> None:
    """Remove a user's recalls over everyone's records from the log."""
    sql.execute("DELETE FROM recalls WHERE user_key = ? AND over IS NOT NULL", (user,))


def _strike_out(
    sql: sqlite3.Connection,
    shared: LedgerContext,
    user: int,
    record: str,
    reckoned: PreparedLines = NOTHING_PREPARED,
) -> int:
    """Remove a record from a user's lines, unless the user has an own record with this id; return how many contained
    it."""
    name = sql.execute("SELECT name FROM users WHERE user_key = ?", (user,)).fetchone()
    own = "" if name is None else scoped_id(Scope(name[0] or None), record)
    if sql.execute(_OWNED, (shared.collection_key, user, record, own)).fetchone() is not None:
        return 0
    shared.cache.logged_ids.pop((user, record), None)
    return recall_log.strike_out(sql, user, record, reckoned)


def merge_readers(sql: sqlite3.Connection, collection: int, gone: str, kept: str) -> None:
    """Merge two of everyone's records: a reader keeps the state of the kept record, or else that of the removed one."""
    sql.execute(
        "UPDATE records SET stored_id = ? WHERE collection_key = ? AND stored_id = ? AND reader = 1 "
        "AND user_key NOT IN (SELECT user_key FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 1)",
        (kept, collection, gone, collection, kept),
    )
    drop_readers(sql, collection, [gone])


def lines_without(shared: LedgerContext, scope: Scope, record: str) -> PreparedLines:
    """Prepared lines of the user's log, or of all readers' logs for one of everyone's records."""
    lines: dict[int, tuple[bytes, EncodedRecall | None]] = {}
    with shared.apart() as sql:
        last = recall_log.last_of_all(sql) if shared.file.is_written_in_turn else None
        users = [shared.known_user(sql, scope)]
        users += logs_naming(sql, shared, record) if scope.user is None else ()
        names = partial(recall_log.logged_names, sql, {})
        for key, line in [one for user in users for one in recall_log.lines_naming(sql, user, record)]:
            lines[key] = line, without_record(decode(line, names), record)
    return PreparedLines(lines, last)
