"""Automatic deletion in the ledger: recalls beyond the retention, expired notes, unused rows, and old removals.

A single reading of the clock deletes nothing: a clock can jump ahead by a year and back, but deleted rows do not come
back. So the ledger stores the readings of earlier passes. A pass trusts its own reading up to a day beyond a reading
that is at least an hour older. After a long pause, deletion is therefore an hour late; the log still shows nothing
beyond the retention.

The last removals of each user are kept, for processes with copies in RAM, after a mark: a process that reaches the mark
has missed some removals, and reads the user's rows again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable, Sequence
from statistics import median_low
from typing import Any, NamedTuple

from adaptive_memory_core.flow.ports.ledger_values import LET_GO
from adaptive_memory_core.store.ledger import graph_rows, hierarchy_growth, recall_log
from adaptive_memory_core.store.ledger.cached_copies import LedgerUserFiles
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.purge import Purge, mark_for_purge
from adaptive_memory_core.store.ledger.recall_encoding import ids_in
from adaptive_memory_core.store.sqlite_file import LedgerFile

HOUR, DAY = 3_600.0, 86_400.0
ERASED_SECONDS = DAY
TURN_SECONDS = 2 * DAY  # after which the same name means a new turn
SWEEP_SECONDS = 3_600.0  # between two searches for ids and policies that are no longer in the log
SWEEP_SHARE = 100.0  # least time between two long searches, as a multiple of the time that one takes
QUICK_SECONDS = 1.0
_BEYOND = (  # users with too many lines
    "SELECT user_key, steps - ? FROM users WHERE steps > ? "
    "AND EXISTS (SELECT 1 FROM recalls WHERE recalls.user_key = users.user_key AND recalls.step <= users.steps - ?)"
)
_EXPIRED = (
    "SELECT EXISTS (SELECT 1 FROM clock_readings), "
    "EXISTS (SELECT 1 FROM erased WHERE at < ?) OR EXISTS (SELECT 1 FROM turns WHERE at < ?)"
)


class LedgerRetention:
    """Automatic deletion of expired and unused rows."""

    def __init__(self, shared: LedgerContext, files: LedgerUserFiles, old_lines: OldLines | None = None) -> None:
        self._shared, self._files = shared, files
        self._old_lines = OldLines(shared) if old_lines is None else old_lines
        self.purge = Purge(shared.file)
        self._swept, self._trimmed = float("-inf"), True
        self._sweep_began, self._sweep_pause = float("-inf"), 0.0

    def trim(self, *, now: float, log_days: float, log_recalls: int, at_once: bool = True) -> int:
        """Delete recalls beyond the retention in small transactions; return how many. Deletion by age requires more
        than one reading of the clock (`trusted_time`), except for notes that are kept for a day. Deleted rows are
        removed from every byte of the file `at_once`, or otherwise by the background purge."""
        kept_since = now - log_days * DAY
        self._old_lines.make(now=now)
        with self._shared.reading() as sql:
            beyond = sql.execute(_BEYOND, (log_recalls,) * 3).fetchall()
            due = self._old_lines.is_due(sql, kept_since)
            doubted, expired = sql.execute(_EXPIRED, (now - ERASED_SECONDS, now - TURN_SECONDS)).fetchone()
        gone = 0
        if due:
            gone = self._old_lines.delete(trusted_now(self._shared.file, now=now) - log_days * DAY)
        for user, last_step in beyond:
            gone += delete_lines(self._shared, "user_key = ? AND step <= ?", (user, last_step))
        if expired or (doubted and not due):
            self._let_expire(now, doubted=doubted and not due)
        trim_removals(self._shared.file)
        self._sweep(now=now, gone=gone)
        if at_once:
            self.purge.now()
        self.purge.soon()  # what is left
        self._files.sweep()
        return gone

    def _let_expire(self, now: float, *, doubted: bool) -> None:
        with self._shared.writing() as sql:
            if doubted:  # the clock was set back, or everything is done
                sql.execute("DELETE FROM clock_readings")
            sql.execute("DELETE FROM erased WHERE at < ?", (now - ERASED_SECONDS,))
            sql.execute("DELETE FROM turns WHERE at < ?", (now - TURN_SECONDS,))

    def _sweep(self, *, now: float, gone: int) -> None:
        """Delete ids and policies that only deleted lines contained. This reads all lines, so it runs rarely."""
        self._trimmed = self._trimmed or gone > 0
        began = time.monotonic()
        due = abs(now - self._swept) >= SWEEP_SECONDS and began - self._sweep_began >= self._sweep_pause
        if self._trimmed and due:
            delete_unused(self._shared)
            self._swept, self._trimmed = now, False
            took = time.monotonic() - began
            self._sweep_began, self._sweep_pause = began, SWEEP_SHARE * took if took > QUICK_SECONDS else 0.0

    def collections(self) -> set[str]:
        """The ids of the collections in the ledger."""
        with self._shared.reading() as sql:
            return {row[0] for row in sql.execute("SELECT uuid FROM collections")}

    def forget_collections(self, uuids: Collection[str]) -> None:
        """Delete all rows of collections that no longer exist, but never those of the attached collection."""
        for uuid in uuids:
            with self._shared.writing() as sql:
                row = sql.execute("SELECT collection_key FROM collections WHERE uuid = ?", (uuid,)).fetchone()
                if row is not None and row[0] != self._shared.collection_key:
                    delete_collection(sql, row[0])
                    mark_for_purge(sql, "forgotten")


TRIM_BATCH = 500


class OldLines:
    """Deletion of old lines from one table; PostgreSQL replaces this with partitions."""

    def __init__(self, shared: LedgerContext, table: str = "recalls") -> None:
        self._shared, self._table = shared, table

    def make(self, *, now: float) -> None:
        """Prepare for new lines; with a single table, there is nothing to do."""

    def is_due(self, sql: sqlite3.Connection, before: float) -> bool:
        """Whether there are lines from before this time."""
        query = f"SELECT EXISTS (SELECT 1 FROM {self._table} WHERE at < ?)"  # noqa: S608 - our own names
        return bool(sql.execute(query, (before,)).fetchone()[0])

    def delete(self, before: float) -> int:
        """Delete the lines from before this time; return how many there were."""
        return delete_lines(self._shared, "at < ?", (before,), self._table)


def delete_lines(shared: LedgerContext, condition: str, values: tuple[float, ...], table: str = "recalls") -> int:
    """Delete the lines that meet the condition, in batches; return how many there were."""
    statement = (
        f"DELETE FROM {table} WHERE recall_key IN "  # noqa: S608 - the condition is one of ours
        f"(SELECT recall_key FROM {table} WHERE {condition} LIMIT {TRIM_BATCH})"
    )
    gone = 0
    while True:
        with shared.writing() as sql:
            batch = sql.execute(statement, values).rowcount
            if batch:
                mark_for_purge(sql, "expired")
        gone += batch
        if batch < TRIM_BATCH:
            return gone


ALL = 2**62
PAGE = 2_000  # lines that are read at a time
_LINES = "SELECT recall_key, candidates, policy_hash FROM recalls WHERE recall_key > ? ORDER BY recall_key LIMIT ?"
_USERS = "SELECT user_key FROM users WHERE collection_key = {}"
_OF_USERS = (
    "recalls",
    "samples",
    "spans",
    "turns",
    "changes",
    "erased",
    "floors",
    "logged_ids",
    "user_files",
    "followed",
)
_OF_RECORDS = ("verdicts", "outbox")
_OF_COLLECTIONS = (
    *("records", "words", "due_records", "exported", "guests", "mirror", "mirror_size"),
    *("reembedding", "new_vectors"),
)


def delete_unused(shared: LedgerContext) -> None:
    """Delete policies and ids that no line contains. Lines are read page by page, without locking.

    If a collection is not notified of writes to another one, only its own ids are deleted, and policies, which
    collections share, are kept.
    """
    file, last, page = shared.file, 0, PAGE
    whose = "" if file.is_heard_by_all else f"WHERE user_key IN ({_USERS.format(shared.collection_key)})"
    with shared.reading() as sql:
        ids = {row[0] for row in sql.execute(f"SELECT id_key FROM logged_ids {whose}")}  # noqa: S608 - our own words
        found = sql.execute("SELECT policy_hash FROM policies").fetchall() if file.is_heard_by_all else []
        policies = {row[0] for row in found}
    with shared.apart() as sql:
        while page == PAGE:
            lines = sql.execute(_LINES, (last, PAGE)).fetchall()
            _cross_off(lines, ids, policies)
            page, last = len(lines), lines[-1][0] if lines else last
    if not ids and not policies:
        return
    with shared.writing() as sql:
        _cross_off(sql.execute(_LINES, (last, ALL)).fetchall(), ids, policies)
        recall_log.forget_ids(sql, ids)
        sql.executemany("DELETE FROM policies WHERE policy_hash = ?", [(one,) for one in policies])
        if ids or policies:
            mark_for_purge(sql, "expired")
        shared.cache.clear()


def _cross_off(lines: Iterable[tuple[int, Any, str]], ids: set[int], policies: set[str]) -> None:
    """Remove the ids and policies in these lines from the sets of unused ones."""
    for _, candidates, policy in lines:
        ids.difference_update(ids_in(candidates))
        policies.discard(policy)


def delete_collection(sql: sqlite3.Connection, collection: int) -> None:
    """Remove every row of a collection and of its users."""
    users = "SELECT user_key FROM users WHERE collection_key = ?"
    records = "SELECT record_key FROM records WHERE collection_key = ?"
    for table in _OF_RECORDS:
        sql.execute(f"DELETE FROM {table} WHERE record_key IN ({records})", (collection,))  # noqa: S608 - our own names
    graph_rows.drop_graph(sql, collection)
    hierarchy_growth.drop_hierarchies(sql, collection)
    for table in _OF_COLLECTIONS:
        sql.execute(f"DELETE FROM {table} WHERE collection_key = ?", (collection,))  # noqa: S608 - our own names
    for table in (*_OF_USERS, *REMOVAL_TABLES):
        sql.execute(f"DELETE FROM {table} WHERE user_key IN ({users})", (collection,))  # noqa: S608 - our own names
    for table in ("users", "collections"):
        sql.execute(f"DELETE FROM {table} WHERE collection_key = ?", (collection,))  # noqa: S608 - our own names


REMOVAL_TABLES = ("words_gone", "mirror_gone")
MOST_REMOVALS = 10_000  # kept per table; reading a user's rows again takes about as long as reading these
_HEARD = {"words_gone": "(SELECT min(removed) FROM graph_seen)"}  # the last removal that the graph has followed
_BEFORE = (
    "SELECT CASE WHEN last - most < heard THEN last - most ELSE heard END "
    "FROM (SELECT last, most, coalesce({heard}, last) AS heard "
    "FROM (SELECT max(gone) AS last, ? AS most FROM {table}) AS of_all) AS told"
)
_DUE = "SELECT EXISTS (SELECT 1 FROM {table} WHERE gone <= ? AND row != ?)"
_LAST = "SELECT max(gone) FROM {table} WHERE gone <= ? GROUP BY user_key"


def trim_removals(file: LedgerFile, most: int = MOST_REMOVALS) -> None:
    """Delete all removals except the last ones."""
    for table in REMOVAL_TABLES:
        with file.reading() as sql:
            heard = _HEARD.get(table, "NULL")
            before = sql.execute(_BEFORE.format(table=table, heard=heard), (most,)).fetchone()[0]
            due = sql.execute(_DUE.format(table=table), (before, LET_GO)).fetchone()[0]
        if due:
            with file.writing() as sql:
                marks = _LAST.format(table=table)
                sql.execute(f"DELETE FROM {table} WHERE gone <= ? AND gone NOT IN ({marks})", (before, before))  # noqa: S608
                sql.execute(f"UPDATE {table} SET row = ? WHERE gone <= ?", (LET_GO, before))  # noqa: S608


APART = 600.0  # seconds between two readings that are kept

_LAST_RECALLS = "SELECT at FROM recalls WHERE at <= ? ORDER BY recall_key DESC LIMIT 5"


class TrustedTime(NamedTuple):
    """The time that retention uses, and the readings to store for the next pass."""

    now: float
    readings: tuple[float, ...]


def trusted_now(file: LedgerFile, *, now: float) -> float:
    """The latest time that is confirmed by more than one reading of the clock."""
    with file.reading() as sql:
        known = tuple(row[0] for row in sql.execute("SELECT at FROM clock_readings ORDER BY at"))
        recalls = [row[0] for row in sql.execute(_LAST_RECALLS, (now - HOUR,))]
    believed = trusted_time(known, median_low(recalls) if recalls else None, now=now)
    if believed.readings != known:
        with file.writing(announced=True) as sql:
            sql.execute("DELETE FROM clock_readings")
            sql.executemany(
                "INSERT INTO clock_readings VALUES (?) ON CONFLICT DO NOTHING", [(one,) for one in believed.readings]
            )
    return believed.now


def trusted_time(readings: Sequence[float], recalled: float | None, *, now: float) -> TrustedTime:
    """The time up to which this reading can be trusted, given earlier readings, oldest first, and the time of the last
    recalls that are more than an hour old.

    >>> trusted_time([0.0], None, now=2 * HOUR).now == 2 * HOUR             # as it was to be expected
    True
    >>> leapt = trusted_time([0.0], None, now=365 * DAY)                    # a leap, or a long pause
    >>> leapt.now == DAY, trusted_time(leapt.readings, None, now=365 * DAY + HOUR).now == 365 * DAY + HOUR
    (True, True)
    >>> trusted_time(leapt.readings, None, now=2 * HOUR)                    # it was a leap
    TrustedTime(now=7200.0, readings=(0.0, 7200.0))
    """
    past = [one for one in readings if one <= now]
    old = [one for one in past if one <= now - HOUR]
    witness = old[-1] if old else recalled if recalled is not None else past[0] if past else None
    kept = [one for one in past if not old or one >= old[-1]]
    if not kept or now - kept[-1] >= APART:
        kept.append(now)
    return TrustedTime(now if witness is None else min(now, witness + DAY), tuple(kept))
