"""Which pace held at which of a user's steps? A row wherever it changed, so that decay stays exact when policies do."""

from __future__ import annotations

import math
import sqlite3
from functools import lru_cache

import orjson

from adaptive_memory_core.learn.remembrance import Span, Timeline
from adaptive_memory_core.pace import Decay, Pace


def timeline(sql: sqlite3.Connection, user: int) -> Timeline:
    """A user's recalls so far and the paces they were made under; for a user without any, nothing."""
    row = sql.execute("SELECT steps FROM users WHERE user_key = ?", (user,)).fetchone()
    return Timeline(0 if row is None else row[0], _spans(sql, user))


def note(sql: sqlite3.Connection, user: int, step: int, at: float, pace: Pace) -> Timeline:
    """Keep the pace of a new step; gives the timeline up to the step before."""
    spans = _spans(sql, user)
    if not spans or (spans[-1].pace != pace and spans[-1].from_step < step):
        start, since = (step, at) if spans else (0, None)
        sql.execute("INSERT INTO spans VALUES (?, ?, ?, ?)", (user, start, since, encode(pace)))
        spans += (Span(start, -math.inf if since is None else since, pace),)
    return Timeline(step - 1, spans)


def _spans(sql: sqlite3.Connection, user: int) -> tuple[Span, ...]:
    query = "SELECT from_step, from_at, pace FROM spans WHERE user_key = ? ORDER BY from_step"
    return tuple(
        Span(step, -math.inf if at is None else at, decode(pace)) for step, at, pace in sql.execute(query, (user,))
    )


def encode(pace: Pace) -> str:
    """A pace as JSON: the unit, then a line per kind.

    >>> encode(Pace())
    '["recalls",[[null,5.0,1.0,0.0]]]'
    """
    decays = [(kind, pace.of(kind)) for kind in pace.kinds()]
    return orjson.dumps([pace.unit, [[kind, one.grace, one.rate, one.floor] for kind, one in decays]]).decode()


@lru_cache(maxsize=256)
def decode(text: str) -> Pace:
    """What `encode` wrote.

    >>> decode(encode(Pace("days", Decay(1.0, 0.5), (("fact", Decay(2.0, 0.9)),)))).of("fact").grace
    2.0
    """
    unit, lines = orjson.loads(text)
    decays = [(kind, Decay(*numbers)) for kind, *numbers in lines]
    return Pace(unit, decays[0][1], tuple(decays[1:]))
