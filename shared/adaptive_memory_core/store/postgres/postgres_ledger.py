"""The ledger in PostgreSQL: the same parts as the SQLite ledger, in a database that many machines share."""

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

    It takes an address, `postgresql://user@host/database`, or the caller's `psycopg_pool.ConnectionPool`, which stays
    open. From an `AsyncConnectionPool` only the settings are used. The tables are in the schema `adaptive_memory`,
    created on first use if the role may do so. A call waits `wait_seconds` for a connection.
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
        self._only: str | None = None  # the user whose rows the role sees, if it sees no others
        self.again = database.again  # for calls of several parts: flow/calls/one_transaction.py
        for name in PARTS:
            setattr(self, name, Retried(getattr(self, name), database.again))
        days.make_today()

    def attach(self, uuid: str, name: str) -> None:
        """Use this ledger for the given collection."""
        self.again(super().attach, uuid, name)
        self._only = self.again(self._only_user)
        self._shared.sees_one_user = self._only is not None

    def _only_user(self) -> str | None:
        with self._shared.reading() as sql:
            return only_user(sql)

    @property
    def only_scope(self) -> Scope | None:
        """The scope of the one user whose rows the role sees; None if it sees more."""
        return None if self._only is None else Scope(self._only or None)

    def check_scope(self, scope: Scope) -> None:
        """Raise an error if the role sees one user's rows only and the scope is not that user's."""
        refuse_others(self._only, scope)

    def faults(self) -> list[str]:
        """The faults in the ledger's content, one line each; this reads all of the content."""
        try:
            with self._shared.apart() as sql:
                return [*undecodable(sql), *untrue(sql)]
        except LedgerError as error:
            return [str(error)]


class Retried:
    """A part of the ledger whose calls are repeated after a lost connection."""

    def __init__(self, part: Any, again: Callable[..., Any]) -> None:
        self._part, self._again = part, again

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        return partial(self._again, found) if callable(found) else found


def reach(given: Any) -> None:
    """Raise an error if the database cannot be reached, before anything that depends on it is created."""
    with closing(_pool(given, REACHED_SECONDS)) as pool, pool.connection():
        pass


def sql_due(address: str, wait_seconds: float = REACHED_SECONDS) -> str:
    """The SQL that `create_ledger_tables` would run."""
    from adaptive_memory_core.store.postgres.postgres_schema import sql_due

    with closing(_pool(address, wait_seconds)) as pool:
        return sql_due(pool)


def create_ledger_tables(address: str, wait_seconds: float = REACHED_SECONDS) -> bool:
    """Create the tables if there are none, and return whether this call created them. Wait up to `wait_seconds` for
    the server."""
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
