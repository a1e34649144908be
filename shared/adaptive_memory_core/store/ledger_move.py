"""Move a ledger from SQLite to PostgreSQL or back while it is in use.

All keys are noted at the beginning, and triggers in the source note each key that changes later. The note of a copied
row is removed, so a move that was killed continues with the remaining notes. At the end, writers of the source are
blocked while the rest is copied.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from adaptive_memory_core.errors import InvalidInputError, LedgerError
from adaptive_memory_core.flow.calls.one_transaction import as_often_as_lost
from adaptive_memory_core.store.ledger.sql_ledger import Ledger, SQLiteLedger
from adaptive_memory_core.store.locations import check_ledger, is_in_postgres
from adaptive_memory_core.store.moved_tables import (
    COPYING,
    GONE,
    NOTING,
    LedgerEnd,
    MoveSource,
    MoveTarget,
    distinct_keys,
    keys,
)
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from adaptive_memory_core.whole_file import expanded

PAGE, ALL = 2_000, 2**62  # rows in RAM at once, and without limit in the final stop
PATIENCE_SECONDS = 15.0  # for another move of this ledger; the lease of a killed move expires sooner
FEW = 500  # changes left to the final stop
Progress = Callable[[int, int], object]
T = TypeVar("T")


class Moved(NamedTuple):
    """How many rows were copied, and for how many seconds writers were blocked."""

    rows: int
    stopped_seconds: float


def move_between(
    source: str | Path, target: str | Path, progress: Progress | None = None, *, source_stays: bool = False
) -> int:
    """Call `move` for two places, each the path of a file or the address of a database."""
    for place in (source, target):
        check_ledger(place)
    if not is_in_postgres(source) and not expanded(source).exists():
        raise InvalidInputError(f"There is no ledger at {str(source)!r}. Give the file, or the address, of one.")
    with closing(_opened(source)) as old, closing(_opened(target)) as new:
        return move(old, new, progress, source_stays=source_stays).rows


def _opened(place: str | Path) -> Ledger:
    return PostgresLedger(str(place)) if is_in_postgres(place) else SQLiteLedger(str(place))


def move(source: Ledger, target: Ledger, progress: Progress | None = None, *, source_stays: bool = False) -> Moved:
    """Copy all rows of the source into the target, which must be empty or contain the rows of an earlier, unfinished
    call."""
    old, new = LedgerEnd(source), LedgerEnd(target)
    if old.identity() == new.identity():
        raise InvalidInputError(
            f"{source.file.path} is both the source and the target of the move. Give two different places."
        )
    lock = source.file.lock("move")
    if lock is not None and not lock.take(PATIENCE_SECONDS):
        raise LedgerError(
            "Another process is moving this ledger. Wait for it, or end it and call again: the move continues."
        )
    try:
        return _Moving(MoveSource(old), MoveTarget(new), progress).run(source_stays=source_stays)
    finally:
        if lock is not None:
            lock.give_back()


class _Moving:
    def __init__(self, source: MoveSource, target: MoveTarget, progress: Progress | None) -> None:
        self._source, self._target, self._progress = source, target, progress
        self._old, self._new, self._done, self._total = source.place, target.place, 0, 0

    def run(self, *, source_stays: bool) -> Moved:
        stopped_seconds = 0.0  # if an earlier call was killed right before the end
        self._taken(self._begin)
        if self._source.state() == COPYING:
            self._follow_all()
            stopped_seconds = self._taken(lambda: self._stop(source_stays=source_stays))
        rows = self._target.rows()
        self._taken(self._target.open)
        return Moved(rows, stopped_seconds)

    def _taken(self, step: Callable[[], T]) -> T:
        """Run a step; repeat it if a server lost the transaction. The target may have committed its part by then."""
        return as_often_as_lost(self._old.ledger, lambda: as_often_as_lost(self._new.ledger, step))

    def _begin(self) -> None:
        """Begin a move, or find the one that an earlier call began. The target is marked first, so that a source never
        notes changes for a move that doesn't exist."""
        before, here = self._source.begun(), self._target.move()
        if before is not None and before[1] == GONE and before[0] != here:
            raise InvalidInputError("The ledger was moved already. Move it from its present place.")
        if here is None:
            here = uuid.uuid4().hex
            self._target.begin(here)
        elif before is not None and before[0] == here and before[1] != NOTING:
            return
        else:
            self._target.refuse_used()  # such as by another move
        self._source.begin(here, str(self._new.ledger.file.path))

    def _follow_all(self) -> None:
        """Copy the noted rows until few are left, or until others write as fast as this copies."""
        self._total = self._source.waiting()
        before, left = ALL, max(FEW + 1, self._total)
        while FEW < left < before / 2:
            for name in keys():
                self._follow(name)
                self._tell()
            before, left = left, self._source.waiting()

    def _stop(self, *, source_stays: bool) -> float:
        """Copy the rest while writers are blocked; return for how many seconds they were."""
        with self._old.writing() as old:
            self._source.keep_others_out(old)
            began = time.monotonic()
            with self._new.writing() as new:
                for name in keys():
                    self._copy_changes(old, new, name)
                self._drop_expired(old, new)
            self._source.end(old, stays=source_stays)
        return time.monotonic() - began

    def _follow(self, name: str) -> None:
        """Copy the rows of a table that are noted so far, page by page, while others write."""
        with self._old.reading() as old:
            last, columns = self._source.last_noted(old, name), self._old.columns(old, name)
        while last:
            with self._old.reading() as old:
                noted = self._source.noted(old, name, last, PAGE)
                wanted = distinct_keys(one.key for one in noted)
                rows = self._old.rows(old, name, wanted, columns)
            with self._new.writing() as new:
                self._new.delete(new, name, wanted, keys()[name])
                had_room = self._new.insert(new, name, columns, rows)
            with self._old.writing() as old:
                self._source.copied(old, name, noted)
                if not had_room:  # another row had the same unique value, and has changed since: copy it first
                    self._source.note(old, name, wanted)
            self._done += len(noted)
            if len(noted) < PAGE:
                return
            self._tell()

    def _copy_changes(self, old: Any, new: Any, name: str) -> None:
        """Copy all remaining changes of a table while writers are blocked."""
        columns = self._old.columns(old, name)
        wanted = distinct_keys(one.key for one in self._source.noted(old, name, ALL, ALL))
        self._new.delete(new, name, wanted, keys()[name])
        rows = self._old.rows(old, name, wanted, columns)
        if not self._new.insert(new, name, columns, rows):
            raise LedgerError(f"The new ledger cannot take the rows of {name}. Give an empty one, and start again.")

    def _drop_expired(self, old: Any, new: Any) -> None:
        """Delete the log's days that PostgreSQL dropped meanwhile as whole partitions, which fires no trigger."""
        if self._old.is_file or self._old.count(old, "recalls") == self._new.count(new, "recalls"):
            return
        there = {row[0] for row in old.execute("SELECT recall_key FROM recalls").fetchall()}
        here = {row[0] for row in new.execute("SELECT recall_key FROM recalls").fetchall()}
        self._new.delete(new, "recalls", [(one,) for one in here - there], ("recall_key",))

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._done, max(self._done, self._total))
