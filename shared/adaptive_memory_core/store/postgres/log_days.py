"""How does the log in PostgreSQL let go of old lines? A table for each day, made ahead, and dropped when all is past.

The server does both in functions of its own, so that a role that may make no tables can be granted these. Where it is
not, all lines stand in the table of any day, and are deleted bit by bit as in SQLite.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import psycopg

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.old_lines import OldLines
from adaptive_memory_core.store.postgres.dialect import SCHEMA
from adaptive_memory_core.store.postgres.outcome import LostConnectionError, passes
from adaptive_memory_core.store.postgres.pool import Pool

DAY = 86_400.0
AHEAD = 2  # days after today that have a table
TRIED_SECONDS = 60.0  # until days are tried again that could not be made
ANY_DAY = f"{SCHEMA}.recalls_of_any_day"
_MAKE = f"SELECT {SCHEMA}.make_log_days(%s, %s)"
_MAKE_TODAY = (
    f"SELECT {SCHEMA}.make_log_days(day, day + {AHEAD}) "  # noqa: S608 - our own words
    f"FROM (SELECT floor({SCHEMA}.posix_now() / {DAY})::bigint AS day) AS today"
)
_DROP = f"SELECT {SCHEMA}.drop_log_days(%s)"
_IS_PAST = f"SELECT EXISTS (SELECT 1 FROM {SCHEMA}.past_log_days(?))"  # noqa: S608 - our own words


class LogDays(OldLines):
    """The log's days, as one process knows them."""

    def __init__(self, shared: LedgerContext, pool: Pool) -> None:
        super().__init__(shared, ANY_DAY)
        self._pool = pool
        self._made = range(0)  # days that there are tables of
        self._tried = float("-inf")

    def make_today(self) -> None:
        """Tables for this day and those to come, by the server's clock; a memory that is opened begins with it."""
        with suppress(psycopg.Error, LedgerError):
            self._of_server(_MAKE_TODAY, ())

    def make(self, *, now: float) -> None:
        """A table for this day, and for those to come, unless there is one; it can be done without."""
        days = range(int(now // DAY), int(now // DAY) + AHEAD + 1)
        if days == self._made or time.monotonic() < self._tried + TRIED_SECONDS:
            return
        try:
            made = self._of_server(_MAKE, (days.start, days.stop - 1))
        except (psycopg.Error, LedgerError):
            made = 0
        self._made = days if made == len(days) else range(0)
        self._tried = float("-inf") if self._made else time.monotonic()

    def is_due(self, sql: Any, before: float) -> bool:
        """Whether lines are from before then, as far as they go by themselves."""
        return super().is_due(sql, before) or bool(sql.execute(_IS_PAST, (before,)).fetchone()[0])

    def delete(self, before: float) -> int:
        """Let go of them; gives how many they were, of whole days about how many."""
        try:
            gone = self._of_server(_DROP, (before,))
        except psycopg.errors.InsufficientPrivilege:
            gone = 0
        return gone + super().delete(before)

    def _of_server(self, query: str, values: tuple[float, ...]) -> int:
        try:
            with self._pool.connection() as connection:
                row = connection.execute(query, values).fetchone()
        except psycopg.Error as error:
            if not passes(error):
                raise
            raise LostConnectionError(
                f"The ledger at {self._pool.address} failed: {str(error).strip()}. See that the server can be reached."
            ) from error
        return 0 if row is None else int(row[0])
