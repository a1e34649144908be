"""What does the ledger delete by itself? Recalls beyond the retention, and notes that have expired."""

from __future__ import annotations

from collections.abc import Collection

from adaptive_memory_core.store.ledger import removals
from adaptive_memory_core.store.ledger.clock_readings import believed_now
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.purge import Purge, mark
from adaptive_memory_core.store.ledger.sweep import drop_collection, sweep
from adaptive_memory_core.store.ledger.user_files import LedgerUserFiles

DAY = 86_400.0
ERASED_SECONDS = DAY
TURN_SECONDS = 2 * DAY  # until a turn of the same name is another one
TRIM_BATCH = 500
HOUR = 3_600.0  # between two looks for what no line of the log names any more


class LedgerRetention:
    """The chores behind the recalls."""

    def __init__(self, shared: LedgerContext, files: LedgerUserFiles) -> None:
        self._shared, self._files = shared, files
        self._purge = Purge(shared.file)
        self._swept, self._trimmed = float("-inf"), True

    def trim(self, *, now: float, log_days: float, log_recalls: int) -> int:
        """Let go of recalls beyond the retention, in small transactions; gives how many. What goes by age goes once
        more than one reading of the clock says so (`clock_readings`); marks of a day go at once."""
        kept_since = now - log_days * DAY
        with self._shared.reading() as sql:
            users = sql.execute("SELECT user_key, steps - ? FROM users", (log_recalls,)).fetchall()
            due = sql.execute("SELECT EXISTS (SELECT 1 FROM recalls WHERE at < ?)", (kept_since,)).fetchone()[0]
            doubted = sql.execute("SELECT EXISTS (SELECT 1 FROM clock_readings)").fetchone()[0]
        gone = 0
        if due:
            gone = self._delete("at < ?", (believed_now(self._shared.file, now=now) - log_days * DAY,))
        for user, last_step in users:
            if last_step > 0:
                gone += self._delete("user_key = ? AND step <= ?", (user, last_step))
        with self._shared.writing() as sql:
            if doubted and not due:  # the clock came back, or all is done
                sql.execute("DELETE FROM clock_readings")
            sql.execute("DELETE FROM erased WHERE at < ?", (now - ERASED_SECONDS,))
            sql.execute("DELETE FROM turns WHERE at < ?", (now - TURN_SECONDS,))
        removals.trim(self._shared.file)
        self._trimmed = self._trimmed or gone > 0
        if self._trimmed and abs(now - self._swept) >= HOUR:
            sweep(self._shared)
            self._swept, self._trimmed = now, False
        self._purge.work()
        self._files.sweep()
        return gone

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

    def _delete(self, condition: str, values: tuple[float, ...]) -> int:
        statement = (
            "DELETE FROM recalls WHERE recall_key IN "  # noqa: S608 - the condition is one of ours
            f"(SELECT recall_key FROM recalls WHERE {condition} LIMIT {TRIM_BATCH})"
        )
        gone = 0
        while True:
            with self._shared.writing() as sql:
                batch = sql.execute(statement, values).rowcount
                if batch:
                    mark(sql, "expired")
            gone += batch
            if batch < TRIM_BATCH:
                return gone
