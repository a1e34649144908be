"""Read states when texts change: the old row is set aside, the record starts again, and a moved text keeps its state.

A row that is set aside belongs to no user and has a name that no record has. It waits for a record with the same source
and text. There is at most one per record, and it is deleted when the record is forgotten.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from adaptive_memory_core.flow.ports.ledger_values import REWRITTEN, Moves, Rewritten
from adaptive_memory_core.identity import ASIDE_MARK, LOOK_AGAIN, text_digest
from adaptive_memory_core.learn.decay import met
from adaptive_memory_core.records import NEVER_READ, ReadState, Scope
from adaptive_memory_core.store.ledger import decay_steps, verdict_rows
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.schema import LedgerConnection, LedgerPart
from adaptive_memory_core.store.ledger.state_rows import CHUNK, add_to_outbox

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.ledger_context import LedgerContext

_SET_ASIDE = "UPDATE records SET user_key = ?, stored_id = ?, version = version + 1 WHERE record_key = ?"
_FIND = "SELECT record_key, reader FROM records WHERE collection_key = ? AND stored_id = ? AND user_key = ?"

_MIRRORED = "SELECT changed, text FROM mirror WHERE collection_key = ? AND stored_id = ?"
_TAKEN = "SELECT 1 FROM records WHERE collection_key = ? AND stored_id = ? AND user_key != ? AND reader = 0"


class Owner(NamedTuple):
    """The owner of rows: a user in a collection; with `reading`, including the user's rows of everyone's records."""

    collection: int
    user: int
    reading: bool = False


def aside_key(user: int) -> int:
    """The key under which rows of this user are set aside; only the search for heirs reads it."""
    return -user


def aside_name(stored_id: str) -> str:
    """The name of the row that was set aside for a record.

    >>> aside_name("file.md:0") == aside_name("file.md:0") != aside_name("file.md:1")
    True
    """
    return f"{stored_id}{ASIDE_MARK}{hashlib.blake2b(stored_id.encode(errors='replace'), digest_size=12).hexdigest()}"


def set_aside(sql: sqlite3.Connection, owner: Owner, rewritten: Mapping[str, Rewritten]) -> dict[str, str]:
    """Set aside the rows that still belong to the records' former texts; return the new names of these rows by record
    id. A row without learned state does not replace one that was set aside before."""
    collection, user, reading = owner
    known = rows.state_rows_by_id(sql, collection, user, list(rewritten), reading=reading)
    names: dict[str, str] = {}
    for one, row in known.items():
        if row.text_digest == rewritten[one].before != rewritten[one].now.text_digest:
            names[one] = aside_name(one) if _has_learned(row.state) else _unlearned_name(one)
            _remove(sql, owner, names[one])
            sql.execute("DELETE FROM outbox WHERE record_key = ?", (row.key,))
            if not reading and _is_taken(sql, owner, names[one]):
                _drop(sql, owner, [row.key])
            else:
                sql.execute(_SET_ASIDE, (aside_key(user), names[one], row.key))
    return names


def start_again(
    sql: LedgerConnection, owner: Owner, rewritten: Mapping[str, Rewritten], *, by: str, now: float
) -> None:
    """Insert rows for records whose rows were set aside, unless they took over another row; note this in the audit
    trail."""
    collection, user, reading = owner
    timeline = decay_steps.stored_timeline(sql, user)
    taken = rows.state_rows_by_id(sql, collection, user, list(rewritten), reading=reading)
    fresh = {
        one: changed.now._replace(state=met(timeline, NEVER_READ, now=now))
        for one, changed in rewritten.items()
        if one not in taken
    }
    rows.add_to_outbox(sql, list(rows.insert_states(sql, collection, user, fresh).values()))
    for one, changed in rewritten.items():
        if changed.before != LOOK_AGAIN:  # else the change was noted when it was written
            verdict_rows.add_change(sql, user, one, timeline.step, REWRITTEN, by, at=now)
        _remove(sql, owner, _unlearned_name(one))


def remove_aside(sql: sqlite3.Connection, owner: Owner, stored_id: str) -> tuple[bool, int]:
    """Delete the row that was set aside for a record; return whether there was one, and the number of deleted
    verdicts."""
    return _remove(sql, owner, aside_name(stored_id))


def _remove(sql: sqlite3.Connection, owner: Owner, name: str) -> tuple[bool, int]:
    found = sql.execute(_FIND, (owner.collection, name, aside_key(owner.user))).fetchall()
    met = sum(1 for _, reader in found if not reader)
    return bool(found), _drop(sql, owner, [key for key, _ in found], met)


def _drop(sql: sqlite3.Connection, owner: Owner, keys: Sequence[int], met: int = 1) -> int:
    """Delete rows, of which `met` are owners' rows; return the number of deleted verdicts."""
    if met:
        sql.execute("UPDATE collections SET met = met - ? WHERE collection_key = ?", (met, owner.collection))
    return rows.delete_rows(sql, keys)


def _is_taken(sql: sqlite3.Connection, owner: Owner, name: str) -> bool:
    """Whether another program uses this name, which no record of this memory can have, for a record. The old row is
    then deleted with its state instead of being mixed with the other record's."""
    return sql.execute(_TAKEN, (owner.collection, name, aside_key(owner.user))).fetchone() is not None


def _unlearned_name(stored_id: str) -> str:
    """The name of a row without learned state, within one transaction."""
    return aside_name(stored_id) + "#"


def _has_learned(state: ReadState) -> bool:
    """Whether the state contains anything learned."""
    untouched = ("settled_step", "fresh_step", "settled_at", "fresh_at", "useful_step")
    return replace(state, **{name: getattr(NEVER_READ, name) for name in untouched}) != NEVER_READ


Reader = tuple[str | None, str]  # the user who reads everyone's records (None: the owner), and a record
MOST_SETTLED = 200_000
TWIN_SECONDS = 30.0  # between two checks whether the other record with the same text is gone
_KEEP_TEXT = (
    "UPDATE records SET text_digest = ?, origin = ? "
    "WHERE collection_key = ? AND user_key = ? AND reader <= ? AND stored_id = ? AND text_digest IS NULL"
)
_TO_MOVE = (
    "SELECT record_key FROM records WHERE collection_key = ? AND user_key IN (?, ?) AND reader <= ? AND stored_id = ? "
    "ORDER BY record_key"
)
_MOVE = (  # unless the target already has a row
    "UPDATE records SET stored_id = ?, user_key = ?, version = version + 1 WHERE record_key = ? AND NOT EXISTS "
    "(SELECT 1 FROM records AS there WHERE there.collection_key = ? AND there.stored_id = ? "
    "AND there.reader = records.reader AND (there.reader = 0 OR there.user_key = ?)) RETURNING record_key"
)


class LedgerInheritance(LedgerPart):
    """States that follow their texts: to records that were written again, and away from records with a new text."""

    def __init__(self, shared: LedgerContext) -> None:
        super().__init__(shared)
        # digests of records that replace no other record, or to which a state was moved
        self._settled: dict[Reader, bytes | None] = {}
        self._twins: dict[Reader, float] = {}  # records that may replace another later, and the time of the next check

    def ancestors(self, scope: Scope, origins: Sequence[bytes]) -> dict[str, bytes]:
        """The rows of this scope whose records have, or had, one of these texts and sources."""
        with self._shared.reading() as sql:
            return _ancestors(sql, self._owner(sql, scope), origins)

    def states_of(self, scope: Scope, ancestors: Sequence[str]) -> dict[str, ReadState]:
        """The states that these rows would pass on."""
        with self._shared.reading() as sql:
            collection, user, reading = self._owner(sql, scope)
            found: dict[str, ReadState] = {}
            for one in (user, aside_key(user)):
                known = rows.state_rows_by_id(sql, collection, one, ancestors, reading=reading)
                found.update({stored_id: row.state for stored_id, row in known.items()})
            return found

    def settle(self, scope: Scope, moves: Moves, *, by: str, now: float) -> None:
        """Set aside the rows of records whose text has changed, move rows to the records that now have the text, and
        start the others again, all in one transaction. Repeating this changes nothing."""
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
        """The records that may still turn out to replace another one."""
        reader, settled = _reader(scope), self._settled
        unknown = [one for one in stored_ids if one not in known and (reader, one) not in settled]
        if unknown and self._twins:
            unknown = [one for one in unknown if self._twins.get((reader, one), 0.0) <= time.monotonic()]
        return frozenset(unknown)

    def settled(self, scope: Scope, stored_ids: Sequence[str], known: Collection[str]) -> dict[str, bytes | None]:
        """The text digests of records without a row that replaced no other record."""
        reader, settled = _reader(scope), self._settled
        unmet = [one for one in stored_ids if one not in known and (reader, one) in settled]
        return {one: settled[reader, one] for one in unmet}

    def _owner(self, sql: sqlite3.Connection, scope: Scope) -> Owner:
        return Owner(self._shared.collection_key, self._shared.known_user(sql, scope), scope.over is not None)


def _settle(sql: LedgerConnection, owner: Owner, moves: Moves, *, by: str, now: float) -> list[str]:
    """Make all moves; return the ids whose rows changed."""
    whence = set_aside(sql, owner, _still_so(sql, owner, moves))
    heirs = {old: new for old, new in moves.heirs.items() if not {old, new} & (moves.rewritten.keys() - whence.keys())}
    moved = _move(sql, owner, heirs, whence)
    met = rows.state_rows_by_id(sql, owner.collection, owner.user, list(moves.unmet), reading=owner.reading)
    fresh = {one: Rewritten(LOOK_AGAIN, seen) for one, seen in moves.unmet.items() if one not in met.keys() | whence}
    start_again(sql, owner, {**fresh, **{one: moves.rewritten[one] for one in whence}}, by=by, now=now)
    sql.executemany(
        _KEEP_TEXT, [(seen.text_digest, seen.origin, *owner, one) for one, seen in moves.undigested.items()]
    )
    return [*fresh, *whence, *heirs, *moved, *moves.undigested]


def _still_so(sql: sqlite3.Connection, owner: Owner, moves: Moves) -> Mapping[str, Rewritten]:
    """The records that start again, without those that were overwritten again since they were looked up; the next call
    that finds them handles them."""
    if moves.versions is None:
        return moves.rewritten
    known, still = moves.versions, dict[str, Rewritten]()
    for one, changed in moves.rewritten.items():
        row = sql.execute(_MIRRORED, (owner.collection, one)).fetchone()
        if row is None or row[0] == known.get(one) or text_digest(row[1]) == changed.now.text_digest:
            still[one] = changed
    return still


def _reader(scope: Scope) -> str | None:
    """The reader whose state is meant; None for the owner of the records."""
    return None if scope.over is None else scope.user


def _ancestors(sql: sqlite3.Connection, owner: Owner, origins: Iterable[bytes]) -> dict[str, bytes]:
    """The user's rows of records with one of these origins: stored id to origin, oldest first."""
    wanted = list(dict.fromkeys(origins))
    found: list[tuple[int, str, bytes]] = []
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        query = (
            "SELECT record_key, stored_id, origin FROM records "  # noqa: S608
            f"WHERE user_key IN (?, ?) AND reader <= ? AND origin IN ({', '.join('?' * len(chunk))})"
        )
        found += sql.execute(query, (owner.user, aside_key(owner.user), int(owner.reading), *chunk))
    return {stored_id: origin for _, stored_id, origin in sorted(found)}


def _move(sql: LedgerConnection, owner: Owner, heirs: Mapping[str, str], whence: Mapping[str, str]) -> list[str]:
    """Move rows to the records that replaced theirs; return the ids of these records. Rows that another process has
    moved, and existing rows of the target, stay unchanged. `whence` has the names of the rows that were set aside."""
    collection, user, reading = owner
    moved: list[str] = []
    for old, new in heirs.items():
        asked = (collection, user, aside_key(user), int(reading), whence.get(old, old))
        keys = [key for (key,) in sql.execute(_TO_MOVE, asked).fetchall()]
        came = [
            key for key in keys if sql.execute(_MOVE, (new, user, key, collection, new, user)).fetchone() is not None
        ]
        if came:
            if old not in whence:  # else the record still exists, and the audit trail is its own
                sql.execute("UPDATE changes SET stored_id = ? WHERE user_key = ? AND stored_id = ?", (new, user, old))
            add_to_outbox(sql, came[:1])
            moved.append(new)
    return moved
