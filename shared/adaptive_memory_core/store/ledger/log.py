"""How is the log of recalls asked? By time, by record and by turn."""

from __future__ import annotations

import sqlite3
from itertools import islice

from adaptive_memory_core.flow.ports.ledger_values import Entry
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import LoggedRecall
from adaptive_memory_core.store.ledger import recall_rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.recall_encoding import Line


class LedgerLog:
    """The lines of the log."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def recall(self, scope: Scope, recall_id: str) -> LoggedRecall | None:
        """One recall of this scope."""
        with self._shared.reading() as sql:
            return recall_rows.one(sql, self._shared.known_user(sql, scope), recall_id)

    def recalls(
        self,
        scope: Scope,
        *,
        since: float | None,
        until: float | None,
        limit: int,
        containing: str | None,
        turn: str | None = None,
    ) -> list[LoggedRecall]:
        """The recalls of this scope, newest first."""
        span = (float("-inf") if since is None else since, float("inf") if until is None else until)
        with self._shared.apart() as sql:
            user = self._shared.known_user(sql, scope)
            return list(islice(recall_rows.lines(sql, user, span, containing, turn), limit))

    def policy(self, policy_hash: str) -> str | None:
        """The policy of that hash as JSON."""
        with self._shared.reading() as sql:
            row = sql.execute("SELECT policy FROM policies WHERE policy_hash = ?", (policy_hash,)).fetchone()
        return None if row is None else row[0]

    def scopes(self) -> list[Scope]:
        """Those with recalls in the log, in the order in which the ledger met them."""
        query = (
            "SELECT name FROM users WHERE collection_key = ? "
            "AND EXISTS (SELECT 1 FROM recalls WHERE recalls.user_key = users.user_key) ORDER BY user_key"
        )
        with self._shared.reading() as sql:
            rows = sql.execute(query, (self._shared.collection_key,)).fetchall()
        return [Scope(name or None) for (name,) in rows]

    def prepare(self, sql: sqlite3.Connection, user: int, entry: Entry, line: Line) -> bytes:
        """What a user's line of a recall is to say, within the transaction that counts it."""
        recall_rows.keep_policy(sql, entry, self._shared.cache.policies)
        return recall_rows.packed_line(sql, user, line, self._shared.cache.logged_ids)
