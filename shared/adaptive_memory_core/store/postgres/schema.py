"""Is the ledger's schema in the database as this version knows it? A numbered step a change, once."""

from __future__ import annotations

import math
import time
from typing import Any

import psycopg
from psycopg import Connection

from adaptive_memory_core.errors import LedgerError, LedgerVersionError
from adaptive_memory_core.shown_in_errors import reason
from adaptive_memory_core.store.postgres.dialect import SCHEMA, migrations
from adaptive_memory_core.store.postgres.limited_wait import allow
from adaptive_memory_core.store.postgres.pool import Pool

TRIES, PAUSE_SECONDS = 20, 0.05
_FIRST = (
    f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}; "
    f"CREATE TABLE IF NOT EXISTS {SCHEMA}.schema_version (version integer NOT NULL)"
)
_WRITERS_FIRST = f"{SCHEMA}.collections"
_VERSION = f"SELECT coalesce(max(version), 0) FROM {SCHEMA}.schema_version"  # noqa: S608 - our own words


def migrate(pool: Pool) -> int:
    """Bring the schema to the newest version, each step whole or not at all; gives how many there were to do."""
    version = 0
    with pool.connection() as connection:
        allow(connection, math.inf)  # an index on a large table takes its time
        try:
            version = _version(connection)
            _refuse_newer(pool, version)
            if version == len(migrations()):
                return 0
            _begin(connection)
            steps = _done(connection)
            _refuse_newer(pool, _version(connection))  # another package was quicker
        except psycopg.errors.InsufficientPrivilege as error:
            raise LedgerError(
                f"The ledger at {pool.address} has schema version {version} of {len(migrations())}, as far as this "
                f"role may see, and it may not change that: {reason(error)}. Call AdaptiveMemory.migrate(address) "
                "once with a "
                f"role that may, and grant this one the use of the schema {SCHEMA!r}, its tables and its sequences."
            ) from error
        except psycopg.Error as error:
            raise LedgerError(
                f"The schema of the ledger at {pool.address} could not be looked at or made: {str(error).strip()}. "
                "Open the memory again once the server is well."
            ) from error
    return steps


def due(pool: Pool) -> tuple[str, ...]:
    """The SQL of the steps that are to be done."""
    with pool.connection() as connection:
        version = _version(connection)
    _refuse_newer(pool, version)
    return migrations()[version:]


def _refuse_newer(pool: Pool, version: int) -> None:
    if version > len(migrations()):
        raise LedgerVersionError(
            f"The ledger at {pool.address} has schema version {version}; this package knows up to "
            f"{len(migrations())}. Install a newer version of adaptive-memory-retrieval, or give another ledger=."
        )


def _done(connection: Connection[Any]) -> int:
    """The steps, once more where the server broke them off for somebody who reads: each had what the other wanted."""
    for _ in range(TRIES):
        try:
            return _steps(connection)
        except psycopg.errors.DeadlockDetected:
            time.sleep(PAUSE_SECONDS)
    return _steps(connection)


def _steps(connection: Connection[Any]) -> int:
    """One process at a time, whoever the others are, and while nobody writes."""
    connection.execute("BEGIN")
    try:
        connection.execute(f"LOCK TABLE {SCHEMA}.schema_version IN EXCLUSIVE MODE")
        _keep_writers_out(connection)
        done = _version(connection)
        for number, script in enumerate(migrations()[done:], start=done + 1):
            connection.execute(script)
            connection.execute(f"INSERT INTO {SCHEMA}.schema_version VALUES ({number})")  # noqa: S608 - a number
    except Exception:
        if not connection.broken:
            connection.execute("ROLLBACK")
        raise  # what an interrupt left open, the pool undoes
    connection.execute("COMMIT")
    return len(migrations()) - done


def _keep_writers_out(connection: Connection[Any]) -> None:
    """Each has a row of this table before any other, so none of them holds one that we wait for meanwhile."""
    if connection.execute("SELECT to_regclass(%s)", (_WRITERS_FIRST,)).fetchone() != (None,):
        connection.execute(f"LOCK TABLE {_WRITERS_FIRST} IN EXCLUSIVE MODE")


def _version(connection: Connection[Any]) -> int:
    found = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.schema_version",)).fetchone()
    return 0 if found is None or found[0] is None else int(connection.execute(_VERSION).fetchone()[0])  # type: ignore[index]


def _begin(connection: Connection[Any]) -> None:
    """The schema itself. Where several make it at once, PostgreSQL refuses all but one, `IF NOT EXISTS` or not."""
    for _ in range(TRIES):
        try:
            connection.execute(_FIRST)
        except (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateSchema, psycopg.errors.DuplicateTable):
            time.sleep(PAUSE_SECONDS)
        else:
            return
    raise LedgerError("The ledger's schema cannot be made: others make it all the time. Try again.")
