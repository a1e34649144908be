"""Which pace of decay held at which of a user's recalls? A row for each change, so that decay stays exact."""

from __future__ import annotations

import math
import sqlite3
from functools import lru_cache

import orjson

from adaptive_memory_core.learn.decay.strength import Span, Timeline, settled
from adaptive_memory_core.policy.decay import DecayCurve, Pace, Regime
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.no_answer import tell
from adaptive_memory_core.store.ledger.unreadable import decoding

MOST_SPANS = 200  # spans of one user


def timeline(sql: sqlite3.Connection, user: int) -> Timeline:
    """A user's recalls so far and the paces they were made under; for a user without any, nothing."""
    row = sql.execute("SELECT steps FROM users WHERE user_key = ?", (user,)).fetchone()
    return Timeline(0 if row is None else row[0], _spans(sql, user))


def note(
    sql: sqlite3.Connection, user: int, before: Timeline, at: float, pace: Pace, regime: Regime
) -> tuple[Span, ...]:
    """Keep the paces up to the step after the timeline's: the memory's own until now, then this step's."""
    spans = before.under(regime).spans
    if spans[-1].pace != pace:
        spans += (Span(before.step + 1, max(at, spans[-1].from_at), pace),)
    for span in spans[len(before.spans) :]:
        since = None if span.from_at == -math.inf else span.from_at
        query = "INSERT INTO spans (user_key, from_step, from_at, pace) VALUES (?, ?, ?, ?)"
        tell(sql, query, (user, span.from_step, since, encode(span.pace)))
    return spans


def compact(sql: sqlite3.Connection, user: int, timeline: Timeline, *, now: float) -> Timeline:
    """Settle all of a user's records, so that only the last span is still needed; exact, and O(N), so seldom."""
    query = f"SELECT record_key, kind, {rows.LIST} FROM records WHERE user_key = ? AND remembered = 0 AND pinned = 0"  # noqa: S608
    found = sql.execute(query, (user,)).fetchall()
    for key, kind, *state in found:
        now_settled = settled(rows.state_of(state), kind, timeline, now=now)
        values = (now_settled.strength, now_settled.settled_step, now_settled.settled_at, key)
        sql.execute("UPDATE records SET strength = ?, settled_step = ?, settled_at = ? WHERE record_key = ?", values)
    last = timeline.spans[-1]
    sql.execute(
        "DELETE FROM spans WHERE user_key = ? AND span_key < (SELECT max(span_key) FROM spans WHERE user_key = ?)",
        (user, user),
    )
    return Timeline(timeline.step, (last,))


def _spans(sql: sqlite3.Connection, user: int) -> tuple[Span, ...]:
    query = "SELECT from_step, from_at, pace FROM spans WHERE user_key = ? ORDER BY span_key"
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

    >>> decode(encode(Pace("days", DecayCurve(1.0, 0.5), (("fact", DecayCurve(2.0, 0.9)),)))).of("fact").grace
    2.0
    """
    with decoding("a pace"):
        unit, lines = orjson.loads(text)
        decays = [(kind, DecayCurve(*numbers)) for kind, *numbers in lines]
        return Pace(unit, decays[0][1], tuple(decays[1:]))
