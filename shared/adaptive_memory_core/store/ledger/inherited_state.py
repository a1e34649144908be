"""Where do states belong when texts move? To the record of the same source that says the same by now."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence

from adaptive_memory_core.flow.ports.ledger_values import Moves, Rewritten
from adaptive_memory_core.records import ReadState, Scope
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.parted_rows import Owner, apart, begin_anew, set_aside
from adaptive_memory_core.store.ledger.state_rows import CHUNK, announce
from adaptive_memory_core.text_identity import LOOK_AGAIN

Reader = tuple[str | None, str]  # a record, with whom it is that reads everyone's
MOST_SETTLED = 200_000
TWIN_SECONDS = 30.0  # until it is asked again whether the other of two that say the same is gone
_UNSAID = (
    "UPDATE records SET said = ?, origin = ? "
    "WHERE collection_key = ? AND user_key = ? AND reader <= ? AND stored_id = ? AND said IS NULL"
)
_TO_MOVE = (
    "SELECT record_key FROM records WHERE collection_key = ? AND user_key IN (?, ?) AND reader <= ? AND stored_id = ? "
    "ORDER BY record_key"
)
_MOVE = (  # where nobody stands there
    "UPDATE records SET stored_id = ?, user_key = ?, version = version + 1 WHERE record_key = ? AND NOT EXISTS "
    "(SELECT 1 FROM records AS there WHERE there.collection_key = ? AND there.stored_id = ? "
    "AND there.reader = records.reader AND (there.reader = 0 OR there.user_key = ?)) RETURNING record_key"
)


class LedgerInheritance:
    """States that follow their texts."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared
        # what records say that replace nobody, or to which a state was moved; with whom it is that reads everyone's
        self._settled: dict[Reader, bytes | None] = {}
        self._twins: dict[Reader, float] = {}  # records that may replace another later, and when that is asked again

    def ancestors(self, scope: Scope, origins: Sequence[bytes]) -> dict[str, bytes]:
        """The rows of this scope whose records are, or were, of one of these texts and sources."""
        with self._shared.reading() as sql:
            return _ancestors(sql, self._owner(sql, scope), origins)

    def states_of(self, scope: Scope, ancestors: Sequence[str]) -> dict[str, ReadState]:
        """What these rows would hand on."""
        with self._shared.reading() as sql:
            collection, user, reading = self._owner(sql, scope)
            found: dict[str, ReadState] = {}
            for one in (user, apart(user)):
                known = rows.known_states(sql, collection, one, ancestors, reading=reading)
                found.update({stored_id: row.state for stored_id, row in known.items()})
            return found

    def settle(self, scope: Scope, moves: Moves, *, by: str, now: float) -> None:
        """Part records from their rows where they say something else, give rows to the records that say what they were
        of, and let the others begin anew, all in one transaction. Done twice, it changes nothing."""
        if not moves.none:
            with self._shared.writing() as sql:
                self._shared.cache.drop(_settle(sql, self._owner(sql, scope), moves, by=by, now=now))
        if len(self._settled) + len(self._twins) > MOST_SETTLED:
            self._settled.clear()
            self._twins.clear()
        reader, later = _reader(scope), time.monotonic() + TWIN_SECONDS
        self._settled.update({(reader, one): words for one, words in moves.settled.items()})
        self._twins.update({(reader, one): later for one in moves.twins})

    def new(self, scope: Scope, stored_ids: Sequence[str], known: Collection[str]) -> frozenset[str]:
        """Those that may yet turn out to replace another."""
        reader, settled = _reader(scope), self._settled
        unknown = [one for one in stored_ids if one not in known and (reader, one) not in settled]
        if unknown and self._twins:
            unknown = [one for one in unknown if self._twins.get((reader, one), 0.0) <= time.monotonic()]
        return frozenset(unknown)

    def settled(self, scope: Scope, stored_ids: Sequence[str], known: Collection[str]) -> dict[str, bytes | None]:
        """What those said that have no row and replaced nobody."""
        reader, settled = _reader(scope), self._settled
        unmet = [one for one in stored_ids if one not in known and (reader, one) in settled]
        return {one: settled[reader, one] for one in unmet}

    def _owner(self, sql: sqlite3.Connection, scope: Scope) -> Owner:
        return Owner(self._shared.collection_key, self._shared.known_user(sql, scope), scope.over is not None)


def _settle(sql: sqlite3.Connection, owner: Owner, moves: Moves, *, by: str, now: float) -> list[str]:
    """All moves; gives the ids whose rows changed."""
    whence = set_aside(sql, owner, moves.anew)
    heirs = {old: new for old, new in moves.heirs.items() if not {old, new} & (moves.anew.keys() - whence.keys())}
    moved = _move(sql, owner, heirs, whence)
    met = rows.known_states(sql, owner.collection, owner.user, list(moves.unmet), reading=owner.reading)
    fresh = {one: Rewritten(LOOK_AGAIN, seen) for one, seen in moves.unmet.items() if one not in met.keys() | whence}
    begin_anew(sql, owner, {**fresh, **{one: moves.anew[one] for one in whence}}, by=by, now=now)
    sql.executemany(_UNSAID, [(seen.said, seen.origin, *owner, one) for one, seen in moves.unsaid.items()])
    return [*fresh, *whence, *heirs, *moved, *moves.unsaid]


def _reader(scope: Scope) -> str | None:
    """Whose state a record has: its only owner's, or each reader's."""
    return None if scope.over is None else scope.user


def _ancestors(sql: sqlite3.Connection, owner: Owner, origins: Iterable[bytes]) -> dict[str, bytes]:
    """The user's rows of records with one of these origins: stored id to origin, oldest first."""
    wanted = list(dict.fromkeys(origins))
    found: list[tuple[int, str, bytes]] = []
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        query = (
            "SELECT record_key, stored_id, origin FROM records INDEXED BY records_by_origin "  # noqa: S608
            f"WHERE user_key IN (?, ?) AND reader <= ? AND origin IN ({', '.join('?' * len(chunk))})"
        )
        found += sql.execute(query, (owner.user, apart(owner.user), int(owner.reading), *chunk))
    return {stored_id: origin for _, stored_id, origin in sorted(found)}


def _move(sql: sqlite3.Connection, owner: Owner, heirs: Mapping[str, str], whence: Mapping[str, str]) -> list[str]:
    """Rows go to the records that took the place of theirs; gives the ids of those that did. What another process moved
    before, or has met under its new id, stays as it is. `whence` are the names of what was set aside just now."""
    collection, user, reading = owner
    moved: list[str] = []
    for old, new in heirs.items():
        asked = (collection, user, apart(user), int(reading), whence.get(old, old))
        keys = [key for (key,) in sql.execute(_TO_MOVE, asked).fetchall()]
        came = [
            key for key in keys if sql.execute(_MOVE, (new, user, key, collection, new, user)).fetchone() is not None
        ]
        if came:
            if old not in whence:  # else the record is still there, and the trail is its own
                sql.execute("UPDATE changes SET stored_id = ? WHERE user_key = ? AND stored_id = ?", (new, user, old))
            announce(sql, came[:1])
            moved.append(new)
    return moved
