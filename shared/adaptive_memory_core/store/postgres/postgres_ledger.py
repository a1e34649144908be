"""The ledger in PostgreSQL: the parts of the one in SQLite, over a database that many machines share."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.errors import InvalidInputError, LedgerError
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.ledger_statistics import undecodable, untrue
from adaptive_memory_core.store.ledger.retention import LedgerRetention
from adaptive_memory_core.store.ledger.sql_ledger import PARTS, Ledger
from adaptive_memory_core.store.postgres.postgres_tables import only_user, refuse_others

if TYPE_CHECKING:
    from adaptive_memory_core.store.postgres.postgres_connections import Pool, PoolOrAddress

REACHED_SECONDS = 5.0  # until a server that does not answer keeps a memory from being opened
MISSING = "A ledger in PostgreSQL needs the extra: pip install 'adaptive-memory-retrieval[postgres]'."


class PostgresLedger(Ledger):
    """The ledger of one collection in a PostgreSQL database, which collections, processes and machines may share.

    It takes an address, `postgresql://user@host/database`, or a `psycopg_pool.ConnectionPool` of the caller's, which
    stays open; of an `AsyncConnectionPool` it takes the settings. The tables are in the schema `adaptive_memory`, made
    on first use if the role may do so. A call waits `wait_seconds` for a connection.
    """

    outlives_process = True

    def __init__(self, given: PoolOrAddress, *, wait_seconds: float = 30.0) -> None:
        from adaptive_memory_core.store.postgres.postgres_database import LedgerDatabase
        from adaptive_memory_core.store.postgres.postgres_schema import LogDays, create_tables

        pool = _pool(given, wait_seconds)
        try:
            create_tables(pool)
        except BaseException:
            pool.close()
            raise
        self._pool = pool
        database: Any = LedgerDatabase(pool)
        super().__init__(database)
        days = LogDays(self._shared, pool)
        self.retention = LedgerRetention(self._shared, self.user_files, days)
        self._only: str | None = None  # whom the role sees, if that is one user
        self.again = database.again  # for calls of several parts: flow/calls/one_transaction.py
        for name in PARTS:
            setattr(self, name, Retried(getattr(self, name), database.again))
        days.make_today()

    def attach(self, uuid: str, name: str) -> None:
        """Speak for this collection from now on."""
        self.again(super().attach, uuid, name)
        self._only = self.again(self._only_user)
        self._shared.sees_one_user = self._only is not None

    def _only_user(self) -> str | None:
        with self._shared.reading() as sql:
            return only_user(sql)

    @property
    def only_scope(self) -> Scope | None:
        """Of the one user whom the role sees, if it sees no others."""
        return None if self._only is None else Scope(self._only or None)

    def check_scope(self, scope: Scope) -> None:
        """A role of one user's serves no other."""
        refuse_others(self._only, scope)

    def faults(self) -> list[str]:
        """What is wrong with its content, one line each; this reads all of it."""
        try:
            with self._shared.apart() as sql:
                return [*undecodable(sql), *untrue(sql)]
        except LedgerError as error:
            return [str(error)]


class Retried:
    """A part of the ledger whose calls are made again where their connection was lost."""

    def __init__(self, part: Any, again: Callable[..., Any]) -> None:
        self._part, self._again = part, again

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        return partial(self._again, found) if callable(found) else found


def reach(given: Any) -> None:
    """Refuse a database that cannot be reached, before anything is made that would stand on it."""
    with closing(_pool(given, REACHED_SECONDS)) as pool, pool.connection():
        pass


def sql_due(address: str, wait_seconds: float = REACHED_SECONDS) -> str:
    """The SQL that `create_ledger_tables` would run."""
    from adaptive_memory_core.store.postgres.postgres_schema import sql_due

    with closing(_pool(address, wait_seconds)) as pool:
        return sql_due(pool)


def create_ledger_tables(address: str, wait_seconds: float = REACHED_SECONDS) -> bool:
    """Create the tables with a role that may, if there are none; whether this call created them. A server that does
    not answer is waited for that long."""
    from adaptive_memory_core.store.postgres.postgres_schema import create_tables

    with closing(_pool(address, wait_seconds)) as pool:
        return create_tables(pool)


def _pool(given: Any, wait_seconds: float) -> Pool:
    try:
        from psycopg_pool import AsyncConnectionPool, ConnectionPool

        from adaptive_memory_core.store.postgres.postgres_connections import Pool
    except ImportError as error:
        raise InvalidInputError(MISSING) from error
    if not isinstance(given, str | ConnectionPool | AsyncConnectionPool):
        raise InvalidInputError(
            f"The ledger is {type(given).__name__}. Give an address, e.g. 'postgresql://user@host/database', or a "
            "psycopg_pool.ConnectionPool or AsyncConnectionPool."
        )
    return Pool(given, wait_seconds)
