"""Which reads belong to one turn? Its recalls are one step, and a record is read once in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import orjson

from adaptive_memory_core.store.ledger.no_answer import tell

_NEXT = "UPDATE users SET steps = steps + 1 WHERE user_key = ?"
_KEEP = (
    "INSERT INTO turns (user_key, turn, step, at, counted) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (user_key, turn) DO UPDATE SET step = excluded.step, at = excluded.at, counted = excluded.counted"
)
_FIND = "SELECT step, counted FROM turns WHERE user_key = ? AND turn = ?"


@dataclass(frozen=True, slots=True)
class Turn:
    """The step of a recall's turn, and the rows that were counted in the same turn before."""

    step: int
    counted: frozenset[int] = frozenset()
    began: bool = True  # with this recall


def begin(sql: sqlite3.Connection, user: int, steps: int) -> Turn:
    """A new turn of a user with so many steps, which is the next one."""
    tell(sql, _NEXT, (user,))
    return Turn(steps + 1)


def find(sql: sqlite3.Connection, user: int, name: str) -> Turn | None:
    """The turn of that name, if it has begun."""
    row = sql.execute(_FIND, (user, name)).fetchone()
    return None if row is None else Turn(row[0], frozenset(orjson.loads(row[1])), began=False)


def note(
    sql: sqlite3.Connection, user: int, name: str | None, turn: Turn, counted: Iterable[int], *, at: float
) -> None:
    """Keep which rows were counted in a turn that has a name."""
    if name is not None:
        keys = orjson.dumps(sorted({*turn.counted, *counted})).decode()
        tell(sql, _KEEP, (user, name, turn.step, at, keys))
