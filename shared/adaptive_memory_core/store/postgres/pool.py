"""Where do connections to PostgreSQL come from? From a pool of our own, or from the caller's."""

from __future__ import annotations

import time
import weakref
from collections.abc import Generator
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import Connection
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.store.postgres.values import adapt

MOST, IDLE_SECONDS = 4, 300.0
CHECKED_SECONDS = 1.0  # a connection that nobody used for longer is asked whether it still stands
OURS = (True, None)  # each statement by itself unless we begin a transaction, and none prepared


class Pool:
    """Connections for a transaction each, never held longer; they prepare no statements on the server."""

    def __init__(self, given: str | ConnectionPool[Any], wait_seconds: float = 30.0) -> None:
        self.address = shown(given if isinstance(given, str) else str(given.conninfo))
        self._own, self._wait_seconds = isinstance(given, str), wait_seconds
        self._pool: ConnectionPool[Any] = _made(given) if isinstance(given, str) else given
        self._adapted: weakref.WeakSet[Connection[Any]] = weakref.WeakSet()

    @interruptible
    def connection(self) -> Generator[Connection[Any], None, None]:
        """A connection, outside of any transaction; what is left open in the end is undone."""
        connection = self._get()
        was = connection.autocommit, connection.prepare_threshold
        try:
            if was != OURS:
                connection.autocommit, connection.prepare_threshold = OURS
            if connection not in self._adapted:
                adapt(connection)
                self._adapted.add(connection)
            yield connection
        finally:
            try:
                _leave(connection, was)
            finally:
                self._pool.putconn(connection)

    def _get(self) -> Connection[Any]:
        try:
            got: Connection[Any] = self._pool.getconn(self._wait_seconds)
        except (PoolTimeout, psycopg.Error) as error:
            raise LedgerError(
                f"The ledger at {self.address} cannot be reached: {error}. Check that the server runs, that the "
                "address is right, and that it takes as many connections."
            ) from error
        return got

    def close(self) -> None:
        """Ours is closed; the caller's is the caller's."""
        if self._own:
            self._pool.close()


def shown(conninfo: str) -> str:
    """The address without what is secret.

    >>> shown("postgresql://ana:secret@db.example:5433/memories?sslmode=require")
    "'postgresql://db.example:5433/memories'"
    """
    if "://" not in conninfo:
        known = psycopg.conninfo.conninfo_to_dict(conninfo)
        return repr(f"postgresql://{known.get('host', '')}/{known.get('dbname', '')}")
    parts = urlsplit(conninfo)
    port = "" if parts.port is None else f":{parts.port}"
    return repr(f"postgresql://{parts.hostname or ''}{port}{parts.path}")


def _made(address: str) -> ConnectionPool[Any]:
    return ConnectionPool(
        address,
        min_size=0,
        max_size=MOST,
        max_idle=IDLE_SECONDS,
        kwargs={"autocommit": True, "prepare_threshold": None, "application_name": "adaptive-memory"},
        open=True,
        check=_Checked(),
    )


class _Checked:
    """Whether a connection still stands; not asked again of one that was used a moment ago."""

    def __init__(self) -> None:
        self._used: weakref.WeakKeyDictionary[Connection[Any], float] = weakref.WeakKeyDictionary()

    def __call__(self, connection: Connection[Any]) -> None:
        now = time.monotonic()
        if now - self._used.get(connection, 0.0) > CHECKED_SECONDS:
            ConnectionPool.check_connection(connection)
        self._used[connection] = now


def _leave(connection: Connection[Any], was: tuple[bool, int | None]) -> None:
    if connection.closed:
        return
    if connection.pgconn.transaction_status != TransactionStatus.IDLE:
        connection.rollback()
    if was != OURS:
        connection.autocommit, connection.prepare_threshold = was
