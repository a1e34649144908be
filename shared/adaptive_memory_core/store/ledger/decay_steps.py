"""A user's recalls as steps of decay: the pace of each span of steps, and turns, whose recalls are one step
together."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import orjson

from adaptive_memory_core.learn.decay import PacedSpan, Timeline, settled
from adaptive_memory_core.policy.learning import DecayCurve, DecayPace
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.schema import LedgerConnection, decoding

MOST_SPANS = 200  # spans per user


def stored_timeline(sql: sqlite3.Connection, user: int) -> Timeline:
    """A user's number of recalls and their decay paces; empty for a user without recalls."""
    row = sql.execute("SELECT steps FROM users WHERE user_key = ?", (user,)).fetchone()
    return Timeline(0 if row is None else row[0], stored_spans(sql, user))


def note_pace(
    sql: LedgerConnection, user: int, known: Timeline, before: Timeline, at: float, pace: DecayPace
) -> tuple[PacedSpan, ...]:
    """Store the paces up to the next step. `known` is the stored timeline, and `before` also has the memory's present
    paces. Return all spans, including the one of the next step."""
    spans = before.spans
    if spans[-1].pace != pace:
        spans += (PacedSpan(known.step + 1, max(at, spans[-1].from_at), pace),)
    for span in spans[len(known.spans) :]:
        since = None if span.from_at == -math.inf else span.from_at
        query = "INSERT INTO spans (user_key, from_step, from_at, pace) VALUES (?, ?, ?, ?)"
        sql.later(query, (user, span.from_step, since, encode_pace(span.pace)))
    return spans


def compact_spans(sql: sqlite3.Connection, user: int, timeline: Timeline, *, now: float) -> Timeline:
    """Settle all of a user's records, so that only the last span is still needed. This is exact, but O(N), so it is
    done rarely."""
    query = f"SELECT record_key, kind, {rows.LIST} FROM records WHERE user_key = ? AND remembered = 0 AND pinned = 0"  # noqa: S608
    found = sql.execute(query, (user,)).fetchall()
    for key, kind, *state in found:
        now_settled = settled(rows.state_in_row(state), kind, timeline, now=now)
        values = (now_settled.strength, now_settled.settled_step, now_settled.settled_at, key)
        sql.execute("UPDATE records SET strength = ?, settled_step = ?, settled_at = ? WHERE record_key = ?", values)
    last = timeline.spans[-1]
    sql.execute(
        "DELETE FROM spans WHERE user_key = ? AND span_key < (SELECT max(span_key) FROM spans WHERE user_key = ?)",
        (user, user),
    )
    return Timeline(timeline.step, (last,))


def stored_spans(sql: sqlite3.Connection, user: int) -> tuple[PacedSpan, ...]:
    """A user's decay paces, oldest first."""
    query = "SELECT from_step, from_at, pace FROM spans WHERE user_key = ? ORDER BY span_key"
    return tuple(
        PacedSpan(step, -math.inf if at is None else at, decode_pace(pace))
        for step, at, pace in sql.execute(query, (user,))
    )


def encode_pace(pace: DecayPace) -> str:
    """A pace as JSON: the unit, then an entry per kind.

    >>> encode_pace(DecayPace())
    '["recalls",[[null,5.0,1.0,0.0]]]'
    """
    decays = [(kind, pace.of(kind)) for kind in pace.kinds()]
    return orjson.dumps([pace.unit, [[kind, one.grace, one.rate, one.floor] for kind, one in decays]]).decode()


@lru_cache(maxsize=256)
def decode_pace(text: str) -> DecayPace:
    """The pace that `encode_pace` encoded.

    >>> pace = DecayPace("days", DecayCurve(1.0, 0.5), (("fact", DecayCurve(2.0, 0.9)),))
    >>> decode_pace(encode_pace(pace)).of("fact").grace
    2.0
    """
    with decoding("a pace"):
        unit, lines = orjson.loads(text)
        decays = [(kind, DecayCurve(*numbers)) for kind, *numbers in lines]
        return DecayPace(unit, decays[0][1], tuple(decays[1:]))


_KEEP_TURN = (
    "INSERT INTO turns (user_key, turn, step, at, counted) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (user_key, turn) DO UPDATE SET step = excluded.step, at = excluded.at, counted = excluded.counted"
)
_FIND_TURN = "SELECT step, counted FROM turns WHERE user_key = ? AND turn = ?"


class RecallTurn(NamedTuple):
    """The step of a recall's turn, and the rows that were already counted in this turn."""

    step: int
    counted: frozenset[int] = frozenset()
    began: bool = True  # with this recall


def find_turn(sql: sqlite3.Connection, user: int, name: str) -> RecallTurn | None:
    """The turn of this name, if it has begun."""
    row = sql.execute(_FIND_TURN, (user, name)).fetchone()
    return None if row is None else RecallTurn(row[0], frozenset(orjson.loads(row[1])), began=False)


def note_turn(
    sql: LedgerConnection, user: int, name: str, turn: RecallTurn, counted: Iterable[int], *, at: float
) -> None:
    """Store which rows were counted in a named turn."""
    keys = orjson.dumps(sorted({*turn.counted, *counted})).decode()
    sql.later(_KEEP_TURN, (user, name, turn.step, at, keys))
