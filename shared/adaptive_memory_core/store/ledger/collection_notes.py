"""Notes on a collection and its users: the embedder it was written with, users' own policies, measured relevance
floors.
"""

from __future__ import annotations

from dataclasses import asdict

import orjson

from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.nothing_found import Floor
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext


class LedgerNotes:
    """The row of the collection."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def embedder(self) -> tuple[str | None, int | None]:
        """The name and dimension of the embedder this collection was first written with."""
        query = "SELECT embedder, dimension FROM collections WHERE collection_key = ?"
        with self._shared.reading() as sql:
            row = sql.execute(query, (self._shared.collection_key,)).fetchone()
        return (None, None) if row is None else (row[0], row[1])

    def keep_embedder(self, name: str, dimension: int) -> None:
        """Write down the embedder, in the place of what was known."""
        with self._shared.writing() as sql:
            sql.execute(
                "UPDATE collections SET embedder = ?, dimension = ? WHERE collection_key = ?",
                (name, dimension, self._shared.collection_key),
            )

    def uuid(self) -> str | None:
        """The collection's own id."""
        query = "SELECT uuid FROM collections WHERE collection_key = ?"
        with self._shared.reading() as sql:
            row = sql.execute(query, (self._shared.collection_key,)).fetchone()
        return None if row is None else str(row[0])


class LedgerPolicies:
    """The policies that users were given."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def get(self, scope: Scope) -> str | None:
        """The user's own policy, if there is one."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            row = sql.execute("SELECT policy FROM users WHERE user_key = ?", (user,)).fetchone()
        return None if row is None else row[0]

    def keep(self, scope: Scope, policy: str | None) -> None:
        """The user's own policy from now on; None lets go of it."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            sql.execute("UPDATE users SET policy = ? WHERE user_key = ?", (policy, user))


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
