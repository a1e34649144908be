"""How are records removed from the ledger? With all that belongs to them, and no read in between.

A record that is forgotten loses every trace; one that is pruned stays in the audit trail by its id.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from adaptive_memory_core.flow.ports.ledger_values import Doomed, Erased, Row
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.learn.decay.strength import Timeline
from adaptive_memory_core.records import Scope, Seen
from adaptive_memory_core.store.ledger import audit, pace_spans, readers, recall_rows
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.lines_without import lines_without
from adaptive_memory_core.store.ledger.parted_rows import Owner, remove_apart
from adaptive_memory_core.store.ledger.purge import mark
from adaptive_memory_core.store.ledger.recall_rows import NOTHING_RECKONED, Reckoned

_UNKEPT = (
    f"SELECT record_key, stored_id, kind, {rows.LIST} FROM records "  # noqa: S608 - our own names
    "WHERE user_key = ? AND record_key > ? AND reader = 0 AND remembered = 0 AND pinned = 0 ORDER BY record_key LIMIT ?"
)
_ERASED = (
    "INSERT INTO erased (user_key, digest, at) VALUES (?, ?, ?) "
    "ON CONFLICT (user_key, digest) DO UPDATE SET at = excluded.at"
)


class LedgerRemoval:
    """Forgetting and pruning."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def reckoned(self, scope: Scope, record: str) -> Reckoned:
        """What `erase` makes of the lines of the log, as far as that can be told before."""
        return lines_without(self._shared, scope, record)

    def erase(
        self,
        scope: Scope,
        record: str,
        stored_id: str,
        *,
        existed: bool,
        now: float,
        reckoned: Reckoned | None = None,
    ) -> Erased:
        """Remove every trace of a record: its state, its verdicts, its lines in the log, its place in the outbox.

        Where there was none, and it did not exist in the collection either, nothing is written.
        """
        shared, reckoned = self._shared, reckoned or NOTHING_RECKONED
        with shared.writing() as sql:
            user = shared.user_key(sql, scope) if existed else shared.known_user(sql, scope)
            known = rows.known_states(sql, shared.collection_key, user, [stored_id])
            verdicts = rows.remove(sql, [row.key for row in known.values()])
            apart, more = remove_apart(sql, Owner(shared.collection_key, user), stored_id)
            sql.execute("DELETE FROM changes WHERE user_key = ? AND stored_id = ?", (user, stored_id))
            sql.execute("UPDATE users SET last_id = NULL WHERE user_key = ? AND last_id = ?", (user, stored_id))
            shared.cache.drop([stored_id])
            entries = recall_rows.strike_out(sql, user, record, reckoned)
            shared.cache.logged_ids.pop((user, record), None)  # its number is gone, and may be given out again
            had_readers = scope.user is None and readers.forget(sql, shared, record, stored_id, reckoned)
            if existed or known or apart or entries or had_readers:
                mark(sql, "forgotten")
                sql.execute(_ERASED, (user, rows.digest(record), now))
        return Erased(bool(known) or apart, entries, verdicts + more)

    def forget_learned(self, scope: Scope, stored_ids: Sequence[str] | None) -> int:
        """Remove what a user has made of these of everyone's records (None: of all), which stay; gives of how many."""
        shared = self._shared
        with shared.writing() as sql:
            user = shared.known_user(sql, scope)
            places = readers.read_ones(sql, user) if stored_ids is None else stored_ids
            if stored_ids is None:
                readers.forget_recalls(sql, user)
                readers.drop_apart(sql, user)
            done = [readers.forget_learned(sql, shared, user, record_id(scope, one), one) for one in places]
            if stored_ids is None or any(one.state or one.log_entries for one in done):
                mark(sql, "forgotten")
        return sum(one.state or one.log_entries > 0 for one in done)

    def scopes(self) -> list[Scope]:
        """Those that the ledger has met, in the order in which it did."""
        with self._shared.reading() as sql:
            query = "SELECT name FROM users WHERE collection_key = ? ORDER BY user_key"
            rows = sql.execute(query, (self._shared.collection_key,)).fetchall()
        return [Scope(name or None) for (name,) in rows]

    def unkept(self, scope: Scope, after: int, *, limit: int) -> list[Row]:
        """A page of the records that are neither remembered nor pinned."""
        with self._shared.reading() as sql:
            return _page(sql, self._shared.known_user(sql, scope), after, limit)

    def doomed(self, scope: Scope, stored_ids: Sequence[str], doomed: Doomed) -> list[str]:
        """Those of the records that are doomed as they stand now."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            return _still_doomed(sql, user, stored_ids, doomed, pace_spans.timeline(sql, user))

    def retire(self, scope: Scope, stored_ids: Sequence[str], *, by: str, now: float) -> None:
        """Let go of records that were pruned. The collection has them no longer: the ledger does not hold its one
        writer up while Chroma removes them."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            known = rows.known_states(sql, self._shared.collection_key, user, stored_ids)
            step = pace_spans.timeline(sql, user).step
            _delete(sql, user, scope, {one: row.key for one, row in known.items()}, step=step, by=by, now=now)
            if scope.user is None:
                readers.drop(sql, self._shared.collection_key, list(known))
            self._shared.cache.drop(list(known))
            if known:
                mark(sql, "forgotten")


def _page(sql: sqlite3.Connection, user: int, after: int, limit: int) -> list[Row]:
    """A page of the user's records that nothing holds on to."""
    found = sql.execute(_UNKEPT, (user, after, limit))
    return [Row(key, stored_id, Seen(rows.state_of(state), kind)) for key, stored_id, kind, *state in found]


def _still_doomed(
    sql: sqlite3.Connection, user: int, stored_ids: Sequence[str], doomed: Doomed, timeline: Timeline
) -> list[str]:
    """Those of the records that are to go as they stand."""
    found: list[str] = []
    for chunk in rows.chunks(stored_ids):
        query = (
            f"SELECT stored_id, kind, {rows.LIST} FROM records "  # noqa: S608 - our own names
            f"WHERE user_key = ? AND reader = 0 AND stored_id IN ({', '.join('?' * len(chunk))})"
        )
        found += [
            stored_id
            for stored_id, kind, *state in sql.execute(query, (user, *chunk))
            if doomed(Seen(rows.state_of(state), kind), timeline=timeline)
        ]
    return found


def _delete(
    sql: sqlite3.Connection, user: int, scope: Scope, gone: dict[str, int], *, step: int, by: str, now: float
) -> None:
    """Remove their rows, and write down that they were pruned; a recall under way must not write them back."""
    for stored_id, key in gone.items():
        rows.remove(sql, [key])
        sql.execute(_ERASED, (user, rows.digest(record_id(scope, stored_id)), now))
        audit.note(sql, user, stored_id, step, "pruned", by, at=now)
