"""What does the ledger delete by itself? Recalls beyond the retention, and notes that have expired."""

from __future__ import annotations

from adaptive_memory_core.store.ledger.clock_readings import believed_now
from adaptive_memory_core.store.ledger.context import LedgerContext

DAY = 86_400.0
ERASED_SECONDS = DAY
TURN_SECONDS = 2 * DAY  # until a turn of the same name is another one
TRIM_BATCH = 500


class LedgerRetention:
    """The chores behind the recalls."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

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
        return gone

    def _delete(self, condition: str, values: tuple[float, ...]) -> int:
        statement = (
            "DELETE FROM recalls WHERE recall_key IN "  # noqa: S608 - the condition is one of ours
            f"(SELECT recall_key FROM recalls WHERE {condition} LIMIT {TRIM_BATCH})"
        )
        gone = 0
        while True:
            with self._shared.writing() as sql:
                batch = sql.execute(statement, values).rowcount
            gone += batch
            if batch < TRIM_BATCH:
                return gone
