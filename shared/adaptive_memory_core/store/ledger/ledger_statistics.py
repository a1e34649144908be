"""How a user's records have fared over time: the distribution of strengths, now and as samples."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

import numpy as np
import orjson

from adaptive_memory_core.flow.ports.ledger_values import Tally
from adaptive_memory_core.learn.decay import FIELDS, Timeline, summary
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.records import ReadState, Scope
from adaptive_memory_core.reports import Sample, Strengths
from adaptive_memory_core.store.ledger import decay_steps, state_rows
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.state_rows import read_by

AT_LEAST = 0.01  # strength that counts as still there, in samples
_COLUMNS = f"SELECT {', '.join(FIELDS)}, kind FROM records WHERE user_key = ? AND "  # noqa: S608 - our own names
_TOTALS = """
SELECT count(*), coalesce(sum(remembered), 0), coalesce(sum(pinned), 0), coalesce(sum(retrieval_count), 0)
FROM records WHERE user_key = ? AND reader = 0
"""
_TALLY = """
SELECT
    (SELECT coalesce(max(steps), 0) FROM users WHERE user_key = :user),
    count(*), coalesce(sum(retrieval_count), 0), count(*) FILTER (WHERE retrieval_count > 0),
    coalesce(sum(remembered), 0), coalesce(sum(pinned), 0),
    (SELECT count(*) FROM verdicts JOIN records USING (record_key) WHERE user_key = :user AND {whose}),
    (SELECT count(*) FROM recalls WHERE user_key = :user),
    (SELECT count(*) FROM outbox JOIN records USING (record_key) WHERE user_key = :user),
    (SELECT coalesce(max(balance), 0) FROM users WHERE user_key = :user)
FROM records WHERE user_key = :user AND {whose}
"""

_SAMPLED = (
    "INSERT INTO samples (user_key, step, at, sample) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (user_key, step) DO UPDATE SET at = excluded.at, sample = excluded.sample"
)

_DUE = (
    "SELECT user_key, steps FROM users WHERE user_key IN ({}) AND "
    "steps - coalesce((SELECT max(step) FROM samples WHERE samples.user_key = users.user_key), 0) >= ?"
)

Times = tuple[tuple[int, float], ...]  # of a user's recalls, in milliseconds


class LedgerStatistics:
    """A scope in numbers, now and over time."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def tally(self, scope: Scope) -> Tally:
        """The counts of one scope."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            counts = sql.execute(_TALLY.format(whose=read_by(scope)), {"user": user}).fetchone()
        return Tally(*[*counts, _times_of(user, tuple(self._shared.update_ms))])

    def strengths(
        self, scope: Scope, regime: Regime, *, at_least: float, unmet: Sequence[ReadState], now: float
    ) -> Strengths:
        """The distribution of the scope's strengths, with those of records that have no row."""
        with self._shared.apart() as sql:
            user = self._shared.known_user(sql, scope)
            timeline = decay_steps.timeline_of(sql, user).under(regime)
            return _of_user(sql, user, timeline, read_by(scope), at_least=at_least, unmet=unmet, now=now)

    def sample(self, regime: Regime, *, every: int, now: float) -> None:
        """Keep a sample of every user who has recalled `every` times since the last one, and lately here."""
        times = tuple(self._shared.update_ms)
        with self._shared.reading() as sql:
            due = _due(sql, sorted({user for user, _ in times}), every)
        if not due:
            return
        with self._shared.apart() as sql:  # all states of a user are read: nobody waits for that
            taken = [_sample_of(sql, user, step, regime, times, now=now) for user, step in due]
        with self._shared.writing(told=True) as sql:
            sql.executemany(_SAMPLED, [one for one in taken if one is not None])

    def samples(self, scope: Scope) -> list[Sample]:
        """The samples of the scope, oldest first."""
        with self._shared.reading() as sql:
            return list(_samples(sql, self._shared.known_user(sql, scope)))


def _of_user(
    sql: sqlite3.Connection,
    user: int,
    timeline: Timeline,
    whose: str,
    *,
    at_least: float,
    unmet: Sequence[ReadState],
    now: float,
) -> Strengths:
    """The strengths of the user's records that these are, with those of records that have no row."""
    rows = sql.execute(_COLUMNS + whose, (user,)).fetchall()
    columns: list[Any] = [np.array([row[index] for row in rows], dtype=float) for index in range(len(FIELDS))]
    kinds = np.array([row[-1] for row in rows], dtype=object)
    return summary(columns, kinds, timeline, now=now, at_least=at_least, unmet=unmet)


def _due(sql: sqlite3.Connection, users: Sequence[int], every: int) -> list[tuple[int, int]]:
    """Those of the users who have recalled often enough since their last sample, each with their step."""
    found: list[tuple[int, int]] = []
    for some in state_rows.chunks(users):
        query = _DUE.format(", ".join("?" * len(some)))
        found += sql.execute(query, (*some, every)).fetchall()
    return found


def _sample_of(
    sql: sqlite3.Connection, user: int, step: int, regime: Regime, update_ms: Times, *, now: float
) -> tuple[int, int, float, str] | None:
    """The row of a sample; the more records a user has, the rarer."""
    records, remembered, pinned, reads = sql.execute(_TOTALS, (user,)).fetchone()
    last = sql.execute("SELECT coalesce(max(step), 0) FROM samples WHERE user_key = ?", (user,)).fetchone()[0]
    if step - last < records // 100:
        return None
    timeline = decay_steps.timeline_of(sql, user).under(regime)
    strengths = _of_user(sql, user, timeline, "reader = 0", at_least=AT_LEAST, unmet=(), now=now)
    own = _times_of(user, update_ms)
    took = median(own) if own else None
    sample = Sample(step, now, records, remembered, pinned, reads, strengths, took)
    return user, step, now, orjson.dumps(asdict(sample)).decode()


def _times_of(user: int, update_ms: Times) -> tuple[float, ...]:
    return tuple(took for one, took in update_ms if one == user)


def _samples(sql: sqlite3.Connection, user: int) -> Iterator[Sample]:
    """A user's samples, oldest first."""
    for (text,) in sql.execute("SELECT sample FROM samples WHERE user_key = ? ORDER BY step", (user,)):
        values = orjson.loads(text)
        strengths = {**values["strengths"], "histogram": tuple(values["strengths"]["histogram"])}
        yield Sample(**{**values, "strengths": Strengths(**strengths)})
