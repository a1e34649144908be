"""Which states pass to records that were written anew? Those of the same document and text."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence

from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import readers
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.state_rows import CHUNK, announce

MOST_SETTLED = 200_000


class LedgerInheritance:
    """States that follow their texts."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared
        # records that replace nobody, or whose state has been moved to them; with whom it is that reads everyone's
        self._settled: set[tuple[str | None, str]] = set()

    def ancestors(self, scope: Scope, origins: Sequence[bytes]) -> dict[str, bytes]:
        """The rows of this scope whose records are, or were, of one of these texts and documents."""
        with self._shared.reading() as sql:
            return _ancestors(sql, self._shared.known_user(sql, scope), origins, readers.read_by(scope))

    def move(self, scope: Scope, heirs: Mapping[str, str], *, settled: Sequence[str]) -> None:
        """Give rows whose records are gone (old stored id to new) to those that took their place. The `settled` are no
        longer new: who replaces a record deletes it first, so what is no heir now never will be."""
        if heirs:
            with self._shared.writing() as sql:
                user = self._shared.known_user(sql, scope)
                moved = [
                    one
                    for kind in ((0,) if scope.over is None else (0, 1))
                    for one in _move(sql, self._shared.collection_key, user, heirs, kind)
                ]
                self._shared.cache.drop([*heirs, *moved])
        if len(self._settled) > MOST_SETTLED:
            self._settled.clear()
        reader = _reader(scope)
        self._settled.update((reader, one) for one in settled)

    def new(self, scope: Scope, stored_ids: Sequence[str], known: Collection[str]) -> frozenset[str]:
        """Those that may yet turn out to replace another."""
        reader, settled = _reader(scope), self._settled
        return frozenset(one for one in stored_ids if one not in known and (reader, one) not in settled)


def _reader(scope: Scope) -> str | None:
    """Whose state a record has: its only owner's, or each reader's."""
    return None if scope.over is None else scope.user


def _ancestors(sql: sqlite3.Connection, user: int, origins: Iterable[bytes], whose: str) -> dict[str, bytes]:
    """The user's rows of records with one of these origins: stored id to origin, oldest first."""
    wanted = list(dict.fromkeys(origins))
    found: list[tuple[int, str, bytes]] = []
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        query = (
            "SELECT record_key, stored_id, origin FROM records INDEXED BY records_by_origin "  # noqa: S608
            f"WHERE user_key = ? AND {whose} AND origin IN ({', '.join('?' * len(chunk))})"
        )
        found += sql.execute(query, (user, *chunk))
    return {stored_id: origin for _, stored_id, origin in sorted(found)}


def _move(sql: sqlite3.Connection, collection: int, user: int, heirs: Mapping[str, str], kind: int) -> list[str]:
    """Rows of owners (`kind` 0) or readers (1) go to the records that took the place of theirs; gives the ids of those
    that did. What another process moved before, or has met under its new id, stays as it is."""
    moved: list[str] = []
    for old, new in heirs.items():
        row = sql.execute(
            "UPDATE OR IGNORE records SET stored_id = ?, version = version + 1 "
            "WHERE collection_key = ? AND user_key = ? AND stored_id = ? AND reader = ? RETURNING record_key",
            (new, collection, user, old, kind),
        ).fetchone()
        if row is not None:
            sql.execute("UPDATE changes SET stored_id = ? WHERE user_key = ? AND stored_id = ?", (new, user, old))
            announce(sql, [row[0]])
            moved.append(new)
    return moved
