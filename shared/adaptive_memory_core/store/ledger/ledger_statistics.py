"""Statistics of the ledger, and checks for damage and lost records."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

import numpy as np
import orjson

from adaptive_memory_core.errors import InvalidInputError, LedgerError
from adaptive_memory_core.flow.ports.ledger_values import JoinStates, Tally
from adaptive_memory_core.learn.after_read import state_from_values
from adaptive_memory_core.learn.decay import FIELDS, Timeline, strength_summary
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.records import ReadState, Scope
from adaptive_memory_core.reports import Sample, Strengths
from adaptive_memory_core.store.ledger import (
    cached_copies,
    decay_steps,
    graph_rows,
    recall_log,
    removal,
    state_rows,
)
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.schema import UNREADABLE, LedgerConnection, LedgerPart
from adaptive_memory_core.store.ledger.state_rows import StateRow, read_by
from adaptive_memory_core.store.sqlite_file import LedgerFile

_KNOWN = """
SELECT count(*) FILTER (WHERE collection_key = ? AND NOT EXISTS (
    SELECT 1 FROM mirror_size WHERE collection_key = ? AND records = 0 AND complete_at NOT IN ('restored', 'emptied')
)), count(*) FILTER (WHERE collection_key != ?)
FROM records JOIN collections USING (collection_key) WHERE (name = ? OR collection_key = ?) AND reader = 0
"""


class LedgerComparison(LedgerPart):
    """Facts to compare with the collection, to find records that it or the ledger has lost."""

    def records_known(self, name: str) -> tuple[int, int]:
        """The numbers of registered records of this collection and of earlier collections with this name. If the mirror
        is complete and empty, this collection's count as 0: they never arrived there, or were all removed."""
        own = self._shared.collection_key
        here, earlier = self._first(_KNOWN, own, own, own, name, own)
        return here, earlier

    def latest_read(self) -> float | None:
        """The time when a record of this collection was last read, or None."""
        query = "SELECT max(last_read) FROM records WHERE collection_key = ? AND reader = 0"
        found: float | None = self._value(query, self._shared.collection_key)
        return found

    def met(self, stored_ids: Sequence[str]) -> list[str]:
        """The records that have a state in the ledger, of any user."""
        query = "SELECT 1 FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 0"
        with self._shared.reading() as sql:
            return [one for one in stored_ids if sql.execute(query, (self._shared.collection_key, one)).fetchone()]

    def merge(self, scope: Scope, kept: str, gone: str, join: JoinStates | None) -> None:
        """Merge the state, verdicts and audit trail of one record into another; without `join`, the state is
        deleted."""
        shared = self._shared
        with shared.writing() as sql:
            user = shared.known_user(sql, scope)
            known = rows.state_rows_by_id(sql, shared.collection_key, user, [kept, gone])
            if gone in known and kept in known and join is not None:
                _join(sql, known[kept], known[gone], join)
            elif gone in known and join is not None:
                query = "UPDATE records SET stored_id = ?, version = version + 1 WHERE record_key = ?"
                sql.execute(query, (kept, known[gone].key))
                rows.add_to_outbox(sql, [known[gone].key])
            elif gone in known:
                rows.delete_rows(sql, [known[gone].key])
            sql.execute("UPDATE changes SET stored_id = ? WHERE user_key = ? AND stored_id = ?", (kept, user, gone))
            if scope.user is None:
                removal.merge_readers(sql, shared.collection_key, gone, kept)
            graph_rows.drop_graph_of(sql, shared.collection_key, [gone])
            cached_copies.delete_copies(sql, "mirror", shared.collection_key, [gone])
            shared.cache.drop([kept, gone])


def _join(sql: LedgerConnection, kept: StateRow, gone: StateRow, join: JoinStates) -> None:
    for table in ("verdicts", "judged_for"):
        sql.execute(
            f"UPDATE {table} SET record_key = ? WHERE record_key = ? "  # noqa: S608 - our own names
            f"AND recall_id NOT IN (SELECT recall_id FROM {table} WHERE record_key = ?)",
            (kept.key, gone.key, kept.key),
        )
    rows.delete_rows(sql, [gone.key])
    rows.update_states(sql, {kept.key: join(kept.state, gone.state)})


def faults(file: LedgerFile) -> list[str]:
    """The faults of a ledger file, a sentence each; empty if there are none."""
    try:
        with file.apart() as sql:
            found = [str(row[0]) for row in sql.execute("PRAGMA quick_check(10)") if row[0] != "ok"]
            return (
                [f"SQLite finds: {'; '.join(found)}."]
                if found
                else [*_unreadable(sql), *undecodable(sql), *untrue(sql)]
            )
    except LedgerError as error:
        return [str(error)]


def _unreadable(sql: sqlite3.Connection) -> list[str]:
    found = []
    names = [row[0] for row in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for name in names:
        try:
            for _ in sql.execute(f'SELECT * FROM "{name}"'):  # noqa: S608 - a name of a table
                pass
        except (sqlite3.Error, UnicodeDecodeError) as error:
            found.append(f"The table {name} cannot be read: {error}.")
    return found


def undecodable(sql: sqlite3.Connection) -> list[str]:
    """Faults in lines of the log and in paces, which no version of this package could have written."""
    users = [row[0] for row in sql.execute("SELECT user_key FROM users")]
    always = (-math.inf, math.inf)
    try:
        for user in users:
            decay_steps.stored_timeline(sql, user)
            for _ in recall_log.logged_rows(sql, user, always, None, None):
                pass
    except (sqlite3.Error, LedgerError, *UNREADABLE) as error:
        return [f"The log or the paces cannot be read: {error}."]
    return []


def untrue(sql: sqlite3.Connection) -> list[str]:
    """Faults in states, whose values no read or verdict could have produced."""
    wrong = 0
    for row in sql.execute(f"SELECT {rows.LIST} FROM records"):  # noqa: S608 - our own names
        try:
            state_from_values(asdict(rows.state_in_row(row)))
        except (InvalidInputError, TypeError, ValueError):
            wrong += 1
    return [f"The reads of {wrong} records are outside what is possible."] if wrong else []


AT_LEAST = 0.01  # least strength that counts as not faded, in samples
_COLUMNS = f"SELECT {', '.join(FIELDS)}, kind FROM records WHERE user_key = ? AND "  # noqa: S608 - our own names
_TOTALS = """
SELECT count(*), coalesce(sum(remembered), 0), coalesce(sum(pinned), 0), coalesce(sum(retrieval_count), 0)
FROM records WHERE user_key = ? AND reader = 0
"""
_TALLY = """
SELECT
    (SELECT coalesce(max(steps), 0) FROM users WHERE user_key = ?),
    count(*), coalesce(sum(retrieval_count), 0), count(*) FILTER (WHERE retrieval_count > 0),
    coalesce(sum(remembered), 0), coalesce(sum(pinned), 0),
    (SELECT count(*) FROM verdicts JOIN records USING (record_key) WHERE user_key = ? AND {whose}),
    (SELECT count(*) FROM recalls WHERE user_key = ?),
    (SELECT count(*) FROM outbox JOIN records USING (record_key) WHERE user_key = ?),
    (SELECT coalesce(max(balance), 0) FROM users WHERE user_key = ?)
FROM records WHERE user_key = ? AND {whose}
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


class LedgerStatistics(LedgerPart):
    """Statistics of a scope, now and over time."""

    def tally(self, scope: Scope) -> Tally:
        """The counts of one scope."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            counts = sql.execute(_TALLY.format(whose=read_by(scope)), (user,) * 6).fetchone()
        return Tally(*[*counts, _times_of(user, tuple(self._shared.update_ms))])

    def strengths(
        self, scope: Scope, regime: Regime, *, at_least: float, unmet: Sequence[ReadState], now: float
    ) -> Strengths:
        """The distribution of the scope's strengths; `unmet` are the states of records without a row."""
        with self._shared.apart() as sql:
            user = self._shared.known_user(sql, scope)
            timeline = decay_steps.stored_timeline(sql, user).under(regime)
            return _of_user(sql, user, timeline, read_by(scope), at_least=at_least, unmet=unmet, now=now)

    def sample(self, regime: Regime, *, every: int, now: float) -> None:
        """Store a sample for every user with recent recalls in this process and `every` recalls since the last
        sample."""
        times = tuple(self._shared.update_ms)
        with self._shared.reading() as sql:
            due = _due(sql, sorted({user for user, _ in times}), every)
        if not due:
            return
        with self._shared.apart() as sql:  # reads all states of a user, so no lock is held
            taken = [_sample_of(sql, user, step, regime, times, now=now) for user, step in due]
        with self._shared.writing(announced=True) as sql:
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
    """The distribution of strengths of a user's rows that meet the condition `whose`, and of `unmet` states."""
    rows = sql.execute(_COLUMNS + whose, (user,)).fetchall()
    columns: list[Any] = [np.array([row[index] for row in rows], dtype=float) for index in range(len(FIELDS))]
    kinds = np.array([row[-1] for row in rows], dtype=object)
    return strength_summary(columns, kinds, timeline, now=now, at_least=at_least, unmet=unmet)


def _due(sql: sqlite3.Connection, users: Sequence[int], every: int) -> list[tuple[int, int]]:
    """The users with enough recalls since their last sample, each with their step."""
    return state_rows.rows_in(sql, _DUE, users, last=(every,))


def _sample_of(
    sql: sqlite3.Connection, user: int, step: int, regime: Regime, update_ms: Times, *, now: float
) -> tuple[int, int, float, str] | None:
    """The row of a sample, or None: the more records a user has, the rarer are samples."""
    records, remembered, pinned, reads = sql.execute(_TOTALS, (user,)).fetchone()
    last = sql.execute("SELECT coalesce(max(step), 0) FROM samples WHERE user_key = ?", (user,)).fetchone()[0]
    if step - last < records // 100:
        return None
    timeline = decay_steps.stored_timeline(sql, user).under(regime)
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
