"""Which reads belong to one question? Recalls of one turn are one step, and a record is read once in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import orjson

_NEXT = "UPDATE users SET steps = steps + 1 WHERE user_key = ? RETURNING steps"


@dataclass(frozen=True, slots=True)
class Turn:
    """The step of a recall's turn, the user's step by now, and the rows that were counted in the same turn before."""

    step: int
    now: int
    counted: frozenset[int] = frozenset()
    began: bool = True  # with this recall


def begin(sql: sqlite3.Connection, user: int, name: str | None) -> Turn:
    """The user's next step, unless the turn has one already."""
    known = find(sql, user, name)
    if known is not None:
        return known
    step = int(sql.execute(_NEXT, (user,)).fetchone()[0])
    return Turn(step, step)


def find(sql: sqlite3.Connection, user: int, name: str | None) -> Turn | None:
    """The turn of that name, if it has begun."""
    query = "SELECT step, steps, counted FROM turns JOIN users USING (user_key) WHERE user_key = ? AND turn = ?"
    row = None if name is None else sql.execute(query, (user, name)).fetchone()
    return None if row is None else Turn(row[0], row[1], frozenset(orjson.loads(row[2])), began=False)


def note(
    sql: sqlite3.Connection, user: int, name: str | None, turn: Turn, counted: Iterable[int], *, at: float
) -> None:
    """Keep which rows were counted in a turn that has a name."""
    if name is not None:
        keys = orjson.dumps(sorted({*turn.counted, *counted})).decode()
        sql.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?)", (user, name, turn.step, at, keys))
