"""Notes about a collection, users' policies, relevance floors, and the processes that share a collection."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Protocol

import orjson

from adaptive_memory_core.flow.ports.ledger_values import KnownCollection, LedgerCopy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.nothing_found import Floor
from adaptive_memory_core.store.ledger.schema import LedgerPart

_COPY = (
    "SELECT collection_key, uuid, embedder, dimension, records FROM collections "
    "JOIN mirror_size USING (collection_key) WHERE name = ? AND records > 0 ORDER BY collection_key DESC LIMIT 1"
)
_ALL_DUE = (
    "INSERT INTO due_records (collection_key, user_key, stored_id, gone) "
    "SELECT collection_key, user_key, stored_id, 0 FROM mirror WHERE collection_key = ? ON CONFLICT DO NOTHING"
)


class LedgerNotes(LedgerPart):
    """Facts about the collection: its embedder, its id, and copies of a collection with the same name."""

    def embedder(self) -> tuple[str | None, int | None]:
        """The name and dimension of the embedder with which this collection was first written."""
        query = "SELECT embedder, dimension FROM collections WHERE collection_key = ?"
        return self._first(query, self._shared.collection_key) or (None, None)

    def keep_embedder(self, name: str, dimension: int) -> None:
        """Store the embedder, replacing the earlier one."""
        with self._shared.writing() as sql:
            sql.execute(
                "UPDATE collections SET embedder = ?, dimension = ? WHERE collection_key = ?",
                (name, dimension, self._shared.collection_key),
            )

    def uuid(self) -> str | None:
        """The collection's own id."""
        query = "SELECT uuid FROM collections WHERE collection_key = ?"
        found: str | None = self._value(query, self._shared.collection_key)
        return found

    def copy_of(self, name: str) -> LedgerCopy | None:
        """The latest collection of this name whose records are in the ledger, or None."""
        row = self._first(_COPY, name)
        return None if row is None else LedgerCopy(*row)

    def give_copy(self, copied: LedgerCopy, uuid: str, name: str) -> None:
        """Assign everything in the ledger about one collection to another, empty one, and mark it to be written
        there."""
        with self._shared.writing() as sql:
            empty = "DELETE FROM collections WHERE name = ? AND collection_key != ? AND rows = 0"
            sql.execute(empty, (name, copied.key))
            sql.execute("UPDATE collections SET uuid = ?, replaces = NULL WHERE collection_key = ?", (uuid, copied.key))
            sql.execute("UPDATE mirror_size SET complete_at = NULL WHERE collection_key = ?", (copied.key,))
            sql.execute(_ALL_DUE, (copied.key,))


class LedgerPolicies(LedgerPart):
    """The users' own policies."""

    def get(self, scope: Scope) -> str | None:
        """The user's own policy, or None."""
        found: str | None = self._value("SELECT policy FROM users WHERE user_key = ?", scope)
        return found

    def keep(self, scope: Scope, policy: str | None) -> None:
        """Store the user's own policy; None removes it."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            sql.execute("UPDATE users SET policy = ? WHERE user_key = ?", (policy, user))


_KEEP = (
    "INSERT INTO floors (user_key, manner, at, floor) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (user_key, manner) DO UPDATE SET at = excluded.at, floor = excluded.floor"
)


class LedgerFloors(LedgerPart):
    """The measured relevance floors."""

    def get(self, scope: Scope, manner: str) -> Floor | None:
        """The floor of this scope, if it was measured in this manner."""
        found = self._value(
            "SELECT floor FROM floors WHERE user_key = ? AND manner = ?", scope, _in_scope(scope, manner)
        )
        try:
            return None if found is None else Floor(**orjson.loads(found))
        except (TypeError, ValueError):
            return None  # a damaged row: the floor is measured again

    def keep(self, scope: Scope, manner: str, floor: Floor, *, now: float) -> None:
        """Store the floor, replacing an earlier one."""
        with self._shared.writing(announced=True) as sql:
            text = orjson.dumps(asdict(floor)).decode()
            row = (self._shared.user_key(sql, scope), _in_scope(scope, manner), now, text)
            sql.execute(_KEEP, row)


def _in_scope(scope: Scope, manner: str) -> str:
    """The key of a floor; recalls over everyone's records are measured separately."""
    return manner if scope.over is None else f"{manner}|over {scope.over}"


class Lock(Protocol):
    """A lock that one process at a time can hold."""

    def take(self, patience_seconds: float = 0.0) -> bool:
        """Try to take the lock for up to `patience_seconds`; return whether it was taken."""

    def give_back(self) -> None:
        """Release the lock; a second call has no effect."""


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


class LedgerSharing(LedgerPart):
    """Messages between the process that has a directory's collection open and the other processes (guests)."""

    def describe(self, space: str, database: str, *, embedder: str | None, dimension: int | None) -> None:
        """Note that the attached collection is open; nothing is written if this is already noted."""
        key = self._shared.collection_key
        with self._shared.reading() as sql:
            known = sql.execute(_DESCRIBED, (key,)).fetchone() or (None,) * 5
            last = sql.execute(_LAST).fetchone()[0]
        news = (known[2] is None and embedder is not None) or (known[3] is None and dimension is not None)
        if news or known[:2] != (space, database) or known[4] != last or not last:
            with self._shared.writing() as sql:
                sql.execute(_DESCRIBE, (space, database, embedder, dimension, last + 1, key))

    def described(self) -> KnownCollection | None:
        """The noted facts about the attached collection, or None."""
        query = "SELECT uuid, space FROM collections WHERE collection_key = ? AND space IS NOT NULL"
        return self._known(query, (self._shared.collection_key,))

    def find(self, name: str, database: str) -> KnownCollection | None:
        """The collection of this name that was opened last."""
        return self._known(_FIND, (name, database))

    def ask(self) -> int:
        """Request, as a guest, that everything be written to the collection now; return the request's number."""
        with self._shared.writing(announced=True) as sql:
            return int(sql.execute(_ASK, (self._shared.collection_key,)).fetchone()[0])

    def asked(self) -> int | None:
        """The latest open request, or None."""
        found = self._of_guests("CASE WHEN asked > done THEN asked END")
        return None if found is None else int(found)

    def is_done(self, number: int) -> bool:
        """Whether this request is done."""
        return int(self._of_guests("done") or 0) >= number

    def done(self, number: int) -> None:
        """Mark all requests up to this one as done."""
        with self._shared.writing(announced=True) as sql:
            query = "UPDATE guests SET done = ? WHERE collection_key = ? AND done < ?"
            sql.execute(query, (number, self._shared.collection_key, number))

    def _of_guests(self, what: str) -> Any:
        query = f"SELECT {what} FROM guests WHERE collection_key = ?"  # noqa: S608 - our own words
        return self._value(query, self._shared.collection_key)

    def _known(self, query: str, values: tuple[Any, ...]) -> KnownCollection | None:
        row = self._first(query, *values)
        return None if row is None else KnownCollection(*row)
