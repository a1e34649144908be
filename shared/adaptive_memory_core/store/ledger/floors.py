"""Which relevance floors were measured? One for each scope, embedder and set of channels."""

from __future__ import annotations

from dataclasses import asdict

import orjson

from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.nothing_found import Floor
from adaptive_memory_core.store.ledger.context import LedgerContext

_KEEP = (
    "INSERT INTO floors (user_key, manner, at, floor) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (user_key, manner) DO UPDATE SET at = excluded.at, floor = excluded.floor"
)


class LedgerFloors:
    """The measured relevance floors."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def get(self, scope: Scope, manner: str) -> Floor | None:
        """What unrelated questions find in this scope, if that was measured in this manner."""
        with self._shared.reading() as sql:
            query = "SELECT floor FROM floors WHERE user_key = ? AND manner = ?"
            row = sql.execute(query, (self._shared.known_user(sql, scope), _in_scope(scope, manner))).fetchone()
        try:
            return None if row is None else Floor(**orjson.loads(row[0]))
        except (TypeError, ValueError):
            return None  # a damaged row: it is measured anew

    def keep(self, scope: Scope, manner: str, floor: Floor, *, now: float) -> None:
        """Keep it, in the place of an earlier one."""
        with self._shared.writing(told=True) as sql:
            text = orjson.dumps(asdict(floor)).decode()
            row = (self._shared.user_key(sql, scope), _in_scope(scope, manner), now, text)
            sql.execute(_KEEP, row)


def _in_scope(scope: Scope, manner: str) -> str:
    """A user finds more over everyone's records than alone, so that is measured apart."""
    return manner if scope.over is None else f"{manner}|over {scope.over}"
