"""Rows of read states, which are read, inserted, updated and deleted in the caller's transaction."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from adaptive_memory_core.identity import record_id
from adaptive_memory_core.learn.decay import Timeline, met
from adaptive_memory_core.records import ReadState, Scope, Seen
from adaptive_memory_core.store.ledger.schema import LedgerConnection

if TYPE_CHECKING:
    from adaptive_memory_core.flow.ports.ledger_values import Extent


T = TypeVar("T")
COLUMNS = tuple(field.name for field in fields(ReadState))
LIST = ", ".join(COLUMNS)
TYPES = {field.name: "DOUBLE PRECISION" if "float" in str(field.type) else "BIGINT" for field in fields(ReadState)}
CHUNK = 900  # ids per IN (...)
_ENROL = (
    "INSERT INTO records (collection_key, user_key, stored_id, kind, origin, text_digest, settled_step, fresh_step, "
    "settled_at, fresh_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (collection_key, stored_id) WHERE reader = 0 DO NOTHING"
)
_DELETE_VERDICTS = (
    "DELETE FROM verdicts WHERE record_key IN "
    "(SELECT record_key FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 0)"
)
_ANNOUNCE = (
    "INSERT INTO outbox SELECT record_key FROM records WHERE record_key IN ({}) AND reader = 0 ON CONFLICT DO NOTHING"
)
_LAST_HELPFUL = (
    "SELECT stored_id, useful_step FROM records "
    "WHERE user_key = ? AND useful_at IS NOT NULL AND reader <= ? ORDER BY useful_step DESC LIMIT ?"
)
FORGOTTEN_USER = "forgotten#n-"  # the beginning of a name that no user can have
ROWS_PER_STATEMENT = 20  # rows per UPDATE, which has a parameter for each of their columns


def owner_name(scope: Scope) -> str:
    """A user's name in the ledger; '' is everyone, because no user may have this name."""
    return "" if scope.user is None else scope.user


def forgotten_name(scope: Scope) -> str:
    """The name that is stored for a user who was forgotten."""
    return FORGOTTEN_USER + hashlib.blake2b(owner_name(scope).encode(), digest_size=16).hexdigest()


def read_by(scope: Scope) -> str:
    """The condition for a user's rows: own records, and for a scope over everyone's records, the user's rows of those.

    >>> read_by(Scope("ana")), read_by(Scope("ana", over="everyone"))
    ('reader = 0', 'reader <= 1')
    """
    return "reader = 0" if scope.over is None else "reader <= 1"


class StateRow(NamedTuple):
    """A record's row: its key, its state, and the digest of the text to which the state belongs."""

    key: int
    state: ReadState
    text_digest: bytes | None = None

    def is_not_of(self, seen: Seen) -> bool:
        """Whether the row belongs to another text than the seen record's."""
        return self.text_digest != seen.text_digest and self.text_digest is not None and seen.text_digest is not None


def _do_nothing() -> None:
    """Do nothing: no cache depends on the owner of a record."""


def state_rows_by_id(
    sql: sqlite3.Connection, collection_key: int, user_key: int, stored_ids: Sequence[str], *, reading: bool = False
) -> dict[str, StateRow]:
    """The user's rows of these records as their owner, and with `reading`, as a reader of everyone's records."""
    found: dict[str, StateRow] = {}
    for reader in (1, 0) if reading else (0,):
        query = (
            f"SELECT stored_id, record_key, text_digest, {LIST} FROM records WHERE reader = {reader} "  # noqa: S608 - our own
            "AND collection_key = ? AND user_key = ? AND stored_id IN ({})"
        )
        for stored_id, key, text_digest, *state in rows_in(sql, query, stored_ids, (collection_key, user_key)):
            found[stored_id] = StateRow(key, state_in_row(state), text_digest)
    return found


def insert_fresh(
    sql: sqlite3.Connection,
    collection_key: int,
    user_key: int,
    new: Mapping[str, Seen],
    begin: tuple[int, int, float, float],
) -> None:
    """Insert rows for new records, which begin at these steps and times; existing rows stay unchanged."""
    given = ((stored_id, seen.kind, seen.origin, seen.text_digest) for stored_id, seen in new.items())
    sql.executemany(_ENROL, [(collection_key, user_key, *one, *begin) for one in given])


def held_by_others(sql: sqlite3.Connection, collection_key: int, user_key: int, stored_ids: Sequence[str]) -> set[str]:
    """The ids that have a row of another user."""
    query = (
        "SELECT stored_id FROM records WHERE reader = 0 AND collection_key = ? AND user_key != ? AND stored_id IN ({})"
    )
    return {row[0] for row in rows_in(sql, query, stored_ids, (collection_key, user_key))}


def delete_rows(sql: sqlite3.Connection, record_keys: Iterable[int]) -> int:
    """Delete rows with their verdicts and outbox entries; return the number of deleted verdicts."""
    keys, verdicts = [(key,) for key in record_keys], 0
    for table in ("verdicts", "outbox", "records"):
        gone = sql.executemany(f"DELETE FROM {table} WHERE record_key = ?", keys).rowcount  # noqa: S608 - our own names
        verdicts += max(0, gone) if table == "verdicts" else 0
    return verdicts


def insert_states(
    sql: sqlite3.Connection,
    collection_key: int,
    user_key: int,
    seen: Mapping[str, Seen],
    took_over: Callable[[], object] = _do_nothing,
) -> dict[str, int]:
    """Insert rows for records that another program wrote; return their keys. If a record changed its owner, the former
    owner's row and verdicts are deleted, and `took_over` is called."""
    given = {
        stored_id: (
            collection_key,
            user_key,
            stored_id,
            one.kind,
            one.origin,
            int(one.shared),
            one.text_digest,
            *_values(one.state),
        )
        for stored_id, one in seen.items()
    }
    keys: dict[str, int] = {}
    for some in in_batches(list(given), ROWS_PER_STATEMENT):
        keys |= sql.execute(_insert(len(some)), [value for one in some for value in given[one]]).fetchall()
    for stored_id in [one for one in given if one not in keys]:
        took_over()
        place = (collection_key, stored_id)
        sql.execute(_DELETE_VERDICTS, place)
        sql.execute("DELETE FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 0", place)
        keys |= sql.execute(_insert(1), given[stored_id]).fetchall()
    met = sum(not one.shared for one in seen.values())
    if met:
        sql.execute("UPDATE collections SET met = met + ? WHERE collection_key = ?", (met, collection_key))
    return keys


@lru_cache(maxsize=ROWS_PER_STATEMENT)
def _insert(count: int) -> str:
    """The statement that inserts `count` rows and returns the keys of new ones; existing rows are skipped."""
    row = f"(?, ?, ?, ?, ?, ?, ?, {', '.join('?' * len(COLUMNS))}, 1)"
    return (
        "INSERT INTO records "  # noqa: S608 - our own names
        f"(collection_key, user_key, stored_id, kind, origin, reader, text_digest, {LIST}, version) "
        f"VALUES {', '.join([row] * count)} ON CONFLICT DO NOTHING RETURNING stored_id, record_key"
    )


def update_states(sql: LedgerConnection, states: Mapping[int, ReadState]) -> None:
    """Update the states of existing rows, by key, and add them to the outbox."""
    rows = [(key, *_values(state)) for key, state in states.items()]
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        some = rows[start : start + ROWS_PER_STATEMENT]
        sql.later(_update(len(some)), list(chain.from_iterable(some)))
    add_to_outbox(sql, list(states))


@lru_cache(maxsize=ROWS_PER_STATEMENT)
def _update(count: int) -> str:
    row = f"({', '.join('?' * (1 + len(COLUMNS)))})"
    sets = ", ".join(
        f"{name} = CAST(given.column{number} AS {TYPES[name]})" for number, name in enumerate(COLUMNS, start=2)
    )
    return (
        f"UPDATE records SET {sets}, version = version + 1 FROM (VALUES {', '.join([row] * count)}) AS given "  # noqa: S608
        "WHERE record_key = CAST(given.column1 AS BIGINT)"
    )


def add_to_outbox(sql: LedgerConnection, record_keys: Sequence[int]) -> None:
    """Add records to the outbox for the write-back, except readers' rows of everyone's records."""
    for start in range(0, len(record_keys), CHUNK):
        some = record_keys[start : start + CHUNK]
        sql.later(_ANNOUNCE.format(", ".join("?" * len(some))), some)


def state_in_row(row: Sequence[Any]) -> ReadState:
    """A row's state columns as a value; SQLite has no bool."""
    last_read, refreshed_at, streak, count, credit, warmth, remembered, strength, settled_step, boost, pinned, *rest = (
        row
    )
    return ReadState(
        last_read,
        refreshed_at,
        streak,
        count,
        credit,
        warmth,
        remembered == 1,
        strength,
        settled_step,
        boost,
        pinned == 1,
        *rest,
    )


def last_helpful(sql: sqlite3.Connection, user_key: int, limit: int, *, reading: bool) -> list[tuple[str, int]]:
    """The user's records that were helpful last, newest first, each with the step; with `reading`, also everyone's."""
    return sql.execute(_LAST_HELPFUL, (user_key, int(reading), limit)).fetchall()


class StateChange(NamedTuple):
    """A row before and after a change."""

    row: int
    before: ReadState
    after: ReadState
    text_digest: bytes | None = None


_values = attrgetter(*COLUMNS)


def in_batches(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def rows_in(
    sql: sqlite3.Connection, query: str, values: Sequence[Any], first: Sequence[Any] = (), last: Sequence[Any] = ()
) -> list[Any]:
    """The rows of a query with many values, `IN ({})`, in as many statements as necessary. The other parameters come
    `first` or `last`."""
    found: list[Any] = []
    for some in in_batches(values):
        found += sql.execute(query.format(", ".join("?" * len(some))), (*first, *some, *last)).fetchall()
    return found


def id_digest(record: str) -> bytes:
    """The digest that is stored of a forgotten id, enough to recognise it but not to read it."""
    return hashlib.blake2b(record.encode(), digest_size=16).digest()


def forgotten_digests(sql: sqlite3.Connection, user_key: int) -> frozenset[bytes]:
    """Digests of the user's recently forgotten records."""
    return frozenset(row[0] for row in sql.execute("SELECT digest FROM erased WHERE user_key = ?", (user_key,)))


def clear_forgotten(sql: sqlite3.Connection, user_key: int, scope: Scope, stored_ids: Iterable[str]) -> None:
    """Remove the digests of ids that were written again, so that they can be read again."""
    if sql.execute("SELECT 1 FROM erased WHERE user_key = ? LIMIT 1", (user_key,)).fetchone():
        digests = [(user_key, id_digest(record_id(scope, stored_id))) for stored_id in stored_ids]
        sql.executemany("DELETE FROM erased WHERE user_key = ? AND digest = ?", digests)


_STRONG = """
SELECT stored_id FROM records
    WHERE user_key = ? AND settled_step >= ? AND coalesce(settled_at, 9e18) >= ? AND strength >= ?
        AND reader = 0
UNION
SELECT stored_id FROM records
    WHERE user_key = ? AND (remembered = 1 OR pinned = 1) AND strength >= ? AND reader = 0
LIMIT ?
"""


def strong_ids(
    sql: sqlite3.Connection, user: int, least: float, since: tuple[int, float], limit: int
) -> list[str] | None:
    """The user's strong records that were settled since then or do not decay; None if they are more than `limit`."""
    values = (user, *since, least, user, least, limit + 1)
    found = [row[0] for row in sql.execute(_STRONG, values)]
    return found if len(found) <= limit else None


def all_known(sql: sqlite3.Connection, owner: tuple[int, int], extent: Extent) -> bool:
    """Whether every record of the user has a row, because no other program has added records since all were checked.

    The number of records from other programs must be the same as then, and the last record must have a row. This does
    not detect deleting records, adding the same number, and a record of this memory after them.
    """
    collection, user = owner
    known = sql.execute("SELECT arrived, last_id FROM users WHERE user_key = ?", (user,)).fetchone() or (0, None)
    if known[0] != _foreign_records(sql, collection, extent):
        return False
    query = "SELECT 1 FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 0"
    return extent.last in (None, known[1]) or sql.execute(query, (collection, extent.last)).fetchone() is not None


def note_all_known(sql: sqlite3.Connection, owner: tuple[int, int], extent: Extent | None) -> None:
    """Note that all records of the user have rows, in a collection of this extent."""
    if extent is not None:
        collection, user = owner
        values = (_foreign_records(sql, collection, extent), extent.last, user)
        sql.execute("UPDATE users SET arrived = ?, last_id = ? WHERE user_key = ?", values)


def insert_unknown(
    sql: sqlite3.Connection, owner: tuple[int, int], new: Mapping[str, Seen], timeline: Timeline, *, now: float
) -> None:
    """Insert rows for records that another program wrote; they decay from now on."""
    collection, user = owner
    reading = any(seen.shared for seen in new.values())
    rows = state_rows_by_id(sql, collection, user, list(new), reading=reading)
    unmet = {stored_id: seen for stored_id, seen in new.items() if stored_id not in rows}
    begun = {one: seen._replace(state=met(timeline, seen.state, now=now)) for one, seen in unmet.items()}
    insert_states(sql, collection, user, begun)


def _foreign_records(sql: sqlite3.Connection, collection: int, extent: Extent) -> int:
    """The number of records that other programs have added, from the collection's size and the ledger's counts."""
    row = sql.execute("SELECT rows, met FROM collections WHERE collection_key = ?", (collection,)).fetchone() or (0, 0)
    return extent.size - int(row[0]) + int(row[1])
