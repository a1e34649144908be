"""Coordination of processes over one ledger: the collection that is open, and what those that may not open it ask
of the one that may.
"""

from __future__ import annotations

from typing import Any, Protocol

from adaptive_memory_core.flow.ports.ledger_values import KnownCollection
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext


class Lock(Protocol):
    """What one process at a time can have."""

    def take(self, patience_seconds: float = 0.0) -> bool:
        """Whether it is ours now; waits so long for whoever has it."""

    def give_back(self) -> None:
        """Let others have it; twice does no harm."""


_DESCRIBED = "SELECT space, database, embedder, dimension, opened FROM collections WHERE collection_key = ?"
_LAST = "SELECT coalesce(max(opened), 0) FROM collections"
_DESCRIBE = (
    "UPDATE collections SET space = ?, database = ?, embedder = coalesce(embedder, ?), "
    "dimension = coalesce(dimension, ?), opened = ? WHERE collection_key = ?"
)
_FIND = (
    "SELECT uuid, space FROM collections WHERE name = ? AND database = ? AND space IS NOT NULL "
    "ORDER BY opened DESC LIMIT 1"
)
_ASK = (
    "INSERT INTO guests (collection_key, asked) VALUES (?, 1) "
    "ON CONFLICT (collection_key) DO UPDATE SET asked = guests.asked + 1 RETURNING asked"
)


class LedgerSharing:
    """The row of the collection, and that of its wishes."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def describe(self, space: str, database: str, *, embedder: str | None, dimension: int | None) -> None:
        """The attached collection is open; written where it is not known to be so."""
        key = self._shared.collection_key
        with self._shared.reading() as sql:
            known = sql.execute(_DESCRIBED, (key,)).fetchone() or (None,) * 5
            last = sql.execute(_LAST).fetchone()[0]
        news = (known[2] is None and embedder is not None) or (known[3] is None and dimension is not None)
        if news or known[:2] != (space, database) or known[4] != last or not last:
            with self._shared.writing() as sql:
                sql.execute(_DESCRIBE, (space, database, embedder, dimension, last + 1, key))

    def described(self) -> KnownCollection | None:
        """What was said of the attached collection."""
        query = "SELECT uuid, space FROM collections WHERE collection_key = ? AND space IS NOT NULL"
        return self._known(query, (self._shared.collection_key,))

    def find(self, name: str, database: str) -> KnownCollection | None:
        """The collection of that name that was described last."""
        return self._known(_FIND, (name, database))

    def ask(self) -> int:
        """A guest wants everything in the collection now."""
        with self._shared.writing(told=True) as sql:
            return int(sql.execute(_ASK, (self._shared.collection_key,)).fetchone()[0])

    def asked(self) -> int | None:
        """The latest wish that is not done."""
        found = self._of_guests("CASE WHEN asked > done THEN asked END")
        return None if found is None else int(found)

    def is_done(self, number: int) -> bool:
        """Whether this wish is fulfilled."""
        return int(self._of_guests("done") or 0) >= number

    def done(self, number: int) -> None:
        """All wishes up to this one are fulfilled."""
        with self._shared.writing(told=True) as sql:
            query = "UPDATE guests SET done = ? WHERE collection_key = ? AND done < ?"
            sql.execute(query, (number, self._shared.collection_key, number))

    def _of_guests(self, what: str) -> Any:
        query = f"SELECT {what} FROM guests WHERE collection_key = ?"  # noqa: S608 - our own words
        with self._shared.reading() as sql:
            row = sql.execute(query, (self._shared.collection_key,)).fetchone()
        return None if row is None else row[0]

    def _known(self, query: str, values: tuple[Any, ...]) -> KnownCollection | None:
        with self._shared.reading() as sql:
            row = sql.execute(query, values).fetchone()
        return None if row is None else KnownCollection(*row)
