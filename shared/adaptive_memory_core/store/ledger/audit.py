"""Who changed a record's state, and when? A line for each pin, unpin, demotion, verdict and remembrance."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from adaptive_memory_core.identity import record_id
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Change
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.no_answer import tell
from adaptive_memory_core.store.ledger.state_rows import Changed

_INSERT = "INSERT INTO changes (user_key, stored_id, at, step, what, by) VALUES (?, ?, ?, ?, ?, ?)"


class LedgerAudit:
    """The audit trail."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def changes(self, scope: Scope, stored_ids: Sequence[str], *, limit: int) -> list[Change]:
        """The audit trail of the scope, newest first, or that of these records."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            return list(islice(_lines(sql, scope, user, tuple(stored_ids)), limit))


def note(sql: sqlite3.Connection, user: int, stored_id: str, step: int, what: str, by: str, *, at: float) -> None:
    """Write one change down."""
    tell(sql, _INSERT, (user, stored_id, at, step, what, by))


def note_remembered(
    sql: sqlite3.Connection, user: int, changed: Mapping[str, Changed], *, step: int, by: str, at: float
) -> None:
    """Write down which records a recall made remembered."""
    for stored_id, one in changed.items():
        if one.after.remembered and not one.before.remembered:
            note(sql, user, stored_id, step, "remembered", by, at=at)


def _lines(sql: sqlite3.Connection, scope: Scope, user: int, stored_ids: tuple[str, ...]) -> Iterator[Change]:
    """The changes of a user's records, newest first; of some of them where ids are given."""
    among = f"AND stored_id IN ({', '.join('?' * len(stored_ids))}) " if stored_ids else ""
    query = (
        "SELECT stored_id, at, step, what, by FROM changes WHERE user_key = ? "  # noqa: S608 - our own words
        f"{among}ORDER BY change_key DESC"
    )
    for stored_id, at, step, what, by in sql.execute(query, (user, *stored_ids)):
        yield Change(record_id(scope, stored_id), at, step, what, by)
