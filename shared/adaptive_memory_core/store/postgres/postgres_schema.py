"""Creating and checking a ledger's tables in PostgreSQL, and the log with a table per day, dropped when it is past.

Stored functions create and drop the log's tables on the server, so that a role that may not create tables can be
granted these functions. Without that grant, all lines go into one table for any day and are deleted in small batches,
as in SQLite.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import Connection

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import LedgerError, LedgerVersionError
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.retention import OldLines
from adaptive_memory_core.store.ledger.schema import SCHEMA_VERSION, newer, unknown
from adaptive_memory_core.store.postgres.lost_connections import LostConnectionError, is_transient
from adaptive_memory_core.store.postgres.postgres_connections import Pool, allow
from adaptive_memory_core.store.postgres.postgres_tables import SCHEMA, schema_sql

MAKERS = 4_207_117_001  # the advisory lock for creating the tables; our own number
_FIRST = f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}; CREATE TABLE {SCHEMA}.schema_version (version integer NOT NULL)"
_IS_THERE = (  # reads the catalogue, since `to_regclass` may answer from a cache older than the tables
    f"SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = '{SCHEMA}' AND tablename = 'schema_version'"  # noqa: S608
)
_VERSION = f"SELECT max(version) FROM {SCHEMA}.schema_version"  # noqa: S608 - our own words


def create_tables(pool: Pool) -> bool:
    """Create the tables in one transaction if there are none, and return whether this call created them. Raise an error
    for a schema of another version."""
    with pool.connection() as connection:
        allow(connection, math.inf)
        try:
            version = _version(connection) or _created(connection)
            if version is None:
                return True
        except psycopg.errors.InsufficientPrivilege as error:
            raise LedgerError(
                f"The ledger at {pool.address} has no tables that this role may see, and the role may not create them: "
                f"{reason(error)}. Call AdaptiveMemory.create_tables(address) once with a role that may, and grant "
                f"this one the use of the schema {SCHEMA!r}, its tables and its sequences."
            ) from error
        except psycopg.Error as error:
            raise LedgerError(
                f"The schema of the ledger at {pool.address} could not be read or created: {str(error).strip()}. "
                "Open the memory again once the server is well."
            ) from error
    _check(pool, version)
    return False


def sql_due(pool: Pool) -> str:
    """The SQL that `create_tables` would run: empty if the tables are there."""
    with pool.connection() as connection:
        version = _version(connection)
    if version is None:
        return schema_sql()
    _check(pool, version)
    return ""


def _check(pool: Pool, version: int) -> None:
    found = f"The ledger at {pool.address} has schema version {version}"
    if version > SCHEMA_VERSION:
        raise LedgerVersionError(newer(found))
    if version < SCHEMA_VERSION:
        raise LedgerVersionError(unknown(found))


def _created(connection: Connection[Any]) -> int | None:
    """Create the tables and return None, or return the schema version if another process created them first."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MAKERS,))
        version = _version(connection)
        if version is None:
            numbered = f"INSERT INTO {SCHEMA}.schema_version VALUES ({SCHEMA_VERSION})"  # noqa: S608 - a number
            connection.execute(f"{_FIRST}; {schema_sql()}; {numbered}")
    return version


def _version(connection: Connection[Any]) -> int | None:
    """The version of the schema; None if there are no tables yet."""
    if connection.execute(_IS_THERE).fetchone() is None:
        return None
    row = connection.execute(_VERSION).fetchone()
    return None if row is None or row[0] is None else int(row[0])


DAY = 86_400.0
AHEAD = 2  # days after today that have a table
TRIED_SECONDS = 60.0  # until the next try, if tables could not be created
ANY_DAY = f"{SCHEMA}.recalls_of_any_day"
_MAKE = f"SELECT {SCHEMA}.make_log_days(%s, %s)"
_MAKE_TODAY = (
    f"SELECT {SCHEMA}.make_log_days(day, day + {AHEAD}) "  # noqa: S608 - our own words
    f"FROM (SELECT floor({SCHEMA}.posix_now() / {DAY})::bigint AS day) AS today"
)
_DROP = f"SELECT {SCHEMA}.drop_log_days(%s)"
_IS_PAST = f"SELECT EXISTS (SELECT 1 FROM {SCHEMA}.past_log_days(?))"  # noqa: S608 - our own words


class LogDays(OldLines):
    """The log's tables by day; each process caches which of them exist."""

    def __init__(self, shared: LedgerContext, pool: Pool) -> None:
        super().__init__(shared, ANY_DAY)
        self._pool = pool
        self._made = range(0)  # days that have tables
        self._tried = float("-inf")

    def make_today(self) -> None:
        """Create the tables for today and the next days by the server's clock. This is done when a memory is opened."""
        with suppress(psycopg.Error, LedgerError):
            self._of_server(_MAKE_TODAY, ())

    def make(self, *, now: float) -> None:
        """Create the missing tables for the day of `now` and the next days. If that fails, the log works without."""
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
        """Whether there are lines older than `before` that can be deleted."""
        return super().is_due(sql, before) or bool(sql.execute(_IS_PAST, (before,)).fetchone()[0])

    def delete(self, before: float) -> int:
        """Delete the lines older than `before` and return their number, which is approximate for whole days."""
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
            if not is_transient(error):
                raise
            raise LostConnectionError(
                f"The ledger at {self._pool.address} failed: {str(error).strip()}. See that the server can be reached."
            ) from error
        return 0 if row is None else int(row[0])
