"""How does a read state become a row, and a row a read state? Plain SQL, in the caller's transaction."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from adaptive_memory_core.identity import record_id
from adaptive_memory_core.records import ReadState, Scope, Seen
from adaptive_memory_core.store.ledger.no_answer import tell

T = TypeVar("T")
COLUMNS = tuple(field.name for field in fields(ReadState))
LIST = ", ".join(COLUMNS)
TYPES = {field.name: "DOUBLE PRECISION" if "float" in str(field.type) else "BIGINT" for field in fields(ReadState)}
CHUNK = 900  # ids in one IN (...)
_POINTWISE = "INDEXED BY records_by_stored_id WHERE reader = 0"  # left alone, SQLite walks through all of the user's
_OF_READERS = "INDEXED BY records_of_readers WHERE reader = 1"
_ENROL = (
    "INSERT INTO records (collection_key, user_key, stored_id, kind, origin, said, settled_step, fresh_step, "
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
    "SELECT stored_id, useful_step FROM records INDEXED BY records_useful "
    "WHERE user_key = ? AND useful_at IS NOT NULL AND {whose} ORDER BY useful_step DESC LIMIT ?"
)
AT_ONCE = 20  # rows in one UPDATE, which has as many parameters as they have columns


def owner_name(scope: Scope) -> str:
    """A user's name in the ledger; no user may be called ''."""
    return "" if scope.user is None else scope.user


class StateRow(NamedTuple):
    """A record's row: its key, its state, and what the record said when it was met."""

    key: int
    state: ReadState
    said: bytes | None = None

    def is_not_of(self, seen: Seen) -> bool:
        """Whether the record said something else when it was met than when it was seen."""
        return self.said != seen.said and self.said is not None and seen.said is not None


def _nothing_to_tell() -> None:
    """Nobody else keeps what depends on whose a record is."""


def known_states(
    sql: sqlite3.Connection, collection_key: int, user_key: int, stored_ids: Sequence[str], *, reading: bool = False
) -> dict[str, StateRow]:
    """The rows of those records that have one of this user: as their owner, and where that is asked for, as a reader of
    everyone's."""
    found: dict[str, StateRow] = {}
    for whose in (_OF_READERS, _POINTWISE) if reading else (_POINTWISE,):
        for chunk in chunks(stored_ids):
            query = (
                f"SELECT stored_id, record_key, said, {LIST} FROM records {whose} "  # noqa: S608 - our own names
                f"AND collection_key = ? AND user_key = ? AND stored_id IN ({', '.join('?' * len(chunk))})"
            )
            for row in sql.execute(query, (collection_key, user_key, *chunk)):
                found[row[0]] = StateRow(row[1], state_of(row[3:]), row[2])
    return found


def enrol(
    sql: sqlite3.Connection,
    collection_key: int,
    user_key: int,
    new: Mapping[str, Seen],
    begin: tuple[int, int, float, float],
) -> None:
    """Fresh rows for new records, which begin at these steps and times; others' stay as they are."""
    given = ((stored_id, seen.kind, seen.origin, seen.said) for stored_id, seen in new.items())
    sql.executemany(_ENROL, [(collection_key, user_key, *one, *begin) for one in given])


def held_by_others(sql: sqlite3.Connection, collection_key: int, user_key: int, stored_ids: Sequence[str]) -> set[str]:
    """Those of the ids that have a row of another user."""
    return {
        row[0]
        for chunk in chunks(stored_ids)
        for row in sql.execute(
            f"SELECT stored_id FROM records {_POINTWISE} AND collection_key = ? AND user_key != ? "  # noqa: S608
            f"AND stored_id IN ({', '.join('?' * len(chunk))})",
            (collection_key, user_key, *chunk),
        )
    }


def remove(sql: sqlite3.Connection, record_keys: Iterable[int]) -> int:
    """Let go of rows with what hangs on them; gives how many verdicts went."""
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
    took_over: Callable[[], object] = _nothing_to_tell,
) -> dict[str, int]:
    """Start rows for records that somebody else wrote; gives their keys. What another user left there goes, words and
    all: the record changed hands, and `took_over` is told."""
    given = {
        stored_id: (
            collection_key,
            user_key,
            stored_id,
            one.kind,
            one.origin,
            int(one.shared),
            one.said,
            *_values(one.state),
        )
        for stored_id, one in seen.items()
    }
    keys: dict[str, int] = {}
    for some in chunks(list(given), AT_ONCE):
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


@lru_cache(maxsize=AT_ONCE)
def _insert(count: int) -> str:
    """So many rows at once; those that are there already are not among what it gives."""
    row = f"(?, ?, ?, ?, ?, ?, ?, {', '.join('?' * len(COLUMNS))}, 1)"
    return (
        f"INSERT INTO records (collection_key, user_key, stored_id, kind, origin, reader, said, {LIST}, version) "  # noqa: S608 - our own names
        f"VALUES {', '.join([row] * count)} ON CONFLICT DO NOTHING RETURNING stored_id, record_key"
    )


def update_states(sql: sqlite3.Connection, states: Iterable[tuple[int, ReadState]]) -> None:
    """Keep states of rows that exist, all in one statement, and note that the collection has yet to be told."""
    last = dict(states)
    for some in chunks(list(last.items()), AT_ONCE):
        tell(sql, _update(len(some)), [value for key, state in some for value in (key, *_values(state))])
    announce(sql, last)


@lru_cache(maxsize=AT_ONCE)
def _update(count: int) -> str:
    row = f"({', '.join('?' * (1 + len(COLUMNS)))})"
    sets = ", ".join(
        f"{name} = CAST(given.column{number} AS {TYPES[name]})" for number, name in enumerate(COLUMNS, start=2)
    )
    return (
        f"UPDATE records SET {sets}, version = version + 1 FROM (VALUES {', '.join([row] * count)}) AS given "  # noqa: S608
        "WHERE record_key = CAST(given.column1 AS BIGINT)"
    )


def announce(sql: sqlite3.Connection, record_keys: Iterable[int]) -> None:
    """Put records on the list of what the collection has yet to be told: never what a reader made of everyone's."""
    for some in chunks(list(record_keys)):
        tell(sql, _ANNOUNCE.format(", ".join("?" * len(some))), some)


def state_of(row: Sequence[Any]) -> ReadState:
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


def last_helpful(sql: sqlite3.Connection, user_key: int, whose: str, limit: int) -> list[tuple[str, int]]:
    """The user's records that were last of use, the latest first, each with the step of that."""
    return sql.execute(_LAST_HELPFUL.format(whose=whose), (user_key, limit)).fetchall()


class Changed(NamedTuple):
    """A row before and after a change."""

    row: int
    before: ReadState
    after: ReadState
    said: bytes | None = None


_values = attrgetter(*COLUMNS)


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def digest(record: str) -> bytes:
    """What is kept of a forgotten id: enough to recognise it, nothing to read."""
    return hashlib.blake2b(record.encode(), digest_size=16).digest()


def erased(sql: sqlite3.Connection, user_key: int) -> frozenset[bytes]:
    """Digests of the user's records that were forgotten a short while ago."""
    return frozenset(row[0] for row in sql.execute("SELECT digest FROM erased WHERE user_key = ?", (user_key,)))


def unerase(sql: sqlite3.Connection, user_key: int, scope: Scope, stored_ids: Iterable[str]) -> None:
    """These ids were written anew: they may be read again."""
    if sql.execute("SELECT 1 FROM erased WHERE user_key = ? LIMIT 1", (user_key,)).fetchone():
        digests = [(user_key, digest(record_id(scope, stored_id))) for stored_id in stored_ids]
        sql.executemany("DELETE FROM erased WHERE user_key = ? AND digest = ?", digests)
