"""What does the ledger delete by itself? Recalls beyond the retention, and notes that have expired."""

from __future__ import annotations

import time
from collections.abc import Collection

from adaptive_memory_core.store.ledger import removals
from adaptive_memory_core.store.ledger.clock_readings import believed_now
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.old_lines import OldLines, delete
from adaptive_memory_core.store.ledger.purge import Purge, mark
from adaptive_memory_core.store.ledger.sweep import drop_collection, sweep
from adaptive_memory_core.store.ledger.user_files import LedgerUserFiles

DAY = 86_400.0
ERASED_SECONDS = DAY
TURN_SECONDS = 2 * DAY  # until a turn of the same name is another one
HOUR = 3_600.0  # between two looks for what no line of the log names any more
SWEEP_SHARE = 100.0  # and at least so many times as long as one takes, where that is long
QUICK_SECONDS = 1.0
_BEYOND = (  # users with more lines than stay
    "SELECT user_key, steps - ? FROM users WHERE steps > ? "
    "AND EXISTS (SELECT 1 FROM recalls WHERE recalls.user_key = users.user_key AND recalls.step <= users.steps - ?)"
)
_EXPIRED = (
    "SELECT EXISTS (SELECT 1 FROM clock_readings), "
    "EXISTS (SELECT 1 FROM erased WHERE at < ?) OR EXISTS (SELECT 1 FROM turns WHERE at < ?)"
)


class LedgerRetention:
    """The chores behind the recalls."""

    def __init__(self, shared: LedgerContext, files: LedgerUserFiles, old_lines: OldLines | None = None) -> None:
        self._shared, self._files = shared, files
        self._old_lines = OldLines(shared) if old_lines is None else old_lines
        self.purge = Purge(shared.file)
        self._swept, self._trimmed = float("-inf"), True
        self._sweep_began, self._sweep_pause = float("-inf"), 0.0

    def trim(self, *, now: float, log_days: float, log_recalls: int, at_once: bool = True) -> int:
        """Let go of recalls beyond the retention, in small transactions; gives how many. What goes by age goes once
        more than one reading of the clock says so (`clock_readings`); marks of a day go at once. What was deleted is
        removed from the file's every byte `at_once`, or else in a quiet moment, if the purge is among the chores."""
        kept_since = now - log_days * DAY
        self._old_lines.make(now=now)
        with self._shared.reading() as sql:
            beyond = sql.execute(_BEYOND, (log_recalls,) * 3).fetchall()
            due = self._old_lines.is_due(sql, kept_since)
            doubted, expired = sql.execute(_EXPIRED, (now - ERASED_SECONDS, now - TURN_SECONDS)).fetchone()
        gone = 0
        if due:
            gone = self._old_lines.delete(believed_now(self._shared.file, now=now) - log_days * DAY)
        for user, last_step in beyond:
            gone += delete(self._shared, "user_key = ? AND step <= ?", (user, last_step))
        if expired or (doubted and not due):
            self._let_expire(now, doubted=doubted and not due)
        removals.trim(self._shared.file)
        self._sweep(now=now, gone=gone)
        if at_once:
            self.purge.now()
        self.purge.soon()  # what is left
        self._files.sweep()
        return gone

    def _let_expire(self, now: float, *, doubted: bool) -> None:
        with self._shared.writing() as sql:
            if doubted:  # the clock came back, or all is done
                sql.execute("DELETE FROM clock_readings")
            sql.execute("DELETE FROM erased WHERE at < ?", (now - ERASED_SECONDS,))
            sql.execute("DELETE FROM turns WHERE at < ?", (now - TURN_SECONDS,))

    def _sweep(self, *, now: float, gone: int) -> None:
        """Let go of what only the lines named that are gone; it looks through all lines, so it is for quiet moments."""
        self._trimmed = self._trimmed or gone > 0
        began = time.monotonic()
        due = abs(now - self._swept) >= HOUR and began - self._sweep_began >= self._sweep_pause
        if self._trimmed and due:
            sweep(self._shared)
            self._swept, self._trimmed = now, False
            took = time.monotonic() - began
            self._sweep_began, self._sweep_pause = began, SWEEP_SHARE * took if took > QUICK_SECONDS else 0.0

    def collections(self) -> set[str]:
        """The collections that there are rows of."""
        with self._shared.reading() as sql:
            return {row[0] for row in sql.execute("SELECT uuid FROM collections")}

    def forget_collections(self, uuids: Collection[str]) -> None:
        """Let go of all rows of these, which exist no more; never of the collection that the ledger speaks for."""
        for uuid in uuids:
            with self._shared.writing() as sql:
                row = sql.execute("SELECT collection_key FROM collections WHERE uuid = ?", (uuid,)).fetchone()
                if row is not None and row[0] != self._shared.collection_key:
                    drop_collection(sql, row[0])
                    mark(sql, "forgotten")
