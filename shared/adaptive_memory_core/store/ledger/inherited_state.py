"""Where do states belong when texts move? To the record of the same source that says the same by now."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence

from adaptive_memory_core.flow.ports.ledger_values import Moves
from adaptive_memory_core.records import ReadState, Scope
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.parted_rows import apart, begin_anew, set_aside
from adaptive_memory_core.store.ledger.state_rows import CHUNK, announce

MOST_SETTLED = 200_000
TWIN_SECONDS = 30.0  # until it is asked again whether the other of two that say the same is gone
_UNSAID = (
    "UPDATE records SET said = ?, origin = ? "
    "WHERE collection_key = ? AND user_key = ? AND stored_id = ? AND said IS NULL"
)


class LedgerInheritance:
    """States that follow their texts."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared
        self._settled: dict[str, bytes | None] = {}  # what those say that replace nobody, or had a state moved to them
        self._twins: dict[str, float] = {}  # records that may replace another later, and when that is asked again

    def ancestors(self, scope: Scope, origins: Sequence[bytes]) -> dict[str, bytes]:
        """The rows of this scope whose records are, or were, of one of these texts and sources."""
        with self._shared.reading() as sql:
            return _ancestors(sql, self._shared.known_user(sql, scope), origins)

    def states_of(self, scope: Scope, ancestors: Sequence[str]) -> dict[str, ReadState]:
        """What these rows would hand on."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            found: dict[str, ReadState] = {}
            for one in (user, apart(user)):
                known = rows.known_states(sql, self._shared.collection_key, one, ancestors)
                found.update({stored_id: row.state for stored_id, row in known.items()})
            return found

    def settle(self, scope: Scope, moves: Moves, *, by: str, now: float) -> None:
        """Part records from their rows where they say something else, give rows to the records that say what they were
        of, and let the others begin anew, all in one transaction. Done twice, it changes nothing."""
        if not moves.none:
            with self._shared.writing() as sql:
                owner = (self._shared.collection_key, self._shared.known_user(sql, scope))
                self._shared.cache.drop(_settle(sql, owner, moves, by=by, now=now))
        if len(self._settled) + len(self._twins) > MOST_SETTLED:
            self._settled.clear()
            self._twins.clear()
        self._settled.update(moves.settled)
        self._twins.update(dict.fromkeys(moves.twins, time.monotonic() + TWIN_SECONDS))

    def new(self, stored_ids: Sequence[str], known: Collection[str]) -> frozenset[str]:
        """Those that may yet turn out to replace another."""
        unknown = [one for one in stored_ids if one not in known and one not in self._settled]
        if unknown and self._twins:
            unknown = [one for one in unknown if self._twins.get(one, 0.0) <= time.monotonic()]
        return frozenset(unknown)

    def settled(self, stored_ids: Sequence[str], known: Collection[str]) -> dict[str, bytes | None]:
        """What those said that have no row and replaced nobody."""
        return {one: self._settled[one] for one in stored_ids if one not in known and one in self._settled}


def _settle(sql: sqlite3.Connection, owner: tuple[int, int], moves: Moves, *, by: str, now: float) -> list[str]:
    """All moves; gives the ids whose rows changed."""
    whence = set_aside(sql, owner, moves.anew)
    heirs = {old: new for old, new in moves.heirs.items() if not {old, new} & (moves.anew.keys() - whence.keys())}
    moved = _move(sql, owner, heirs, whence)
    begin_anew(sql, owner, {one: moves.anew[one] for one in whence}, by=by, now=now)
    sql.executemany(_UNSAID, [(seen.said, seen.origin, *owner, one) for one, seen in moves.unsaid.items()])
    return [*whence, *heirs, *moved, *moves.unsaid]


def _ancestors(sql: sqlite3.Connection, user: int, origins: Iterable[bytes]) -> dict[str, bytes]:
    """The user's rows of records with one of these origins: stored id to origin, oldest first."""
    wanted = list(dict.fromkeys(origins))
    found: list[tuple[int, str, bytes]] = []
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        query = (
            "SELECT record_key, stored_id, origin FROM records INDEXED BY records_by_origin "  # noqa: S608
            f"WHERE user_key IN (?, ?) AND origin IN ({', '.join('?' * len(chunk))})"
        )
        found += sql.execute(query, (user, apart(user), *chunk))
    return {stored_id: origin for _, stored_id, origin in sorted(found)}


def _move(
    sql: sqlite3.Connection, owner: tuple[int, int], heirs: Mapping[str, str], whence: Mapping[str, str]
) -> list[str]:
    """Rows go to the records that took the place of theirs; gives the ids of those that did. What another process moved
    before, or has met under its new id, stays as it is. `whence` are the names of what was set aside just now."""
    collection, user = owner
    moved: list[str] = []
    for old, new in heirs.items():
        row = sql.execute(
            "UPDATE OR IGNORE records SET stored_id = ?, user_key = ?, version = version + 1 "
            "WHERE collection_key = ? AND user_key IN (?, ?) AND stored_id = ? RETURNING record_key",
            (new, user, collection, user, apart(user), whence.get(old, old)),
        ).fetchone()
        if row is not None:
            if old not in whence:  # else the record is still there, and the trail is its own
                sql.execute("UPDATE changes SET stored_id = ? WHERE user_key = ? AND stored_id = ?", (new, user, old))
            announce(sql, [row[0]])
            moved.append(new)
    return moved
