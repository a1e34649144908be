"""Connections to PostgreSQL, from psycopg's pool or the caller's: with a limit on silence, and with addresses hidden.

psycopg's pool connects in another thread and does not report why it fails. A thread that waits for a connection
therefore tries to connect itself, until that works or it has the reason. A child process does not use its parent's
connections.

An async connection belongs to its event loop, and a ledger is used in threads, so only the settings of an async pool
are used. The kernel notices a cut network, but not a proxy or machine that hangs with its connections open.
"""

from __future__ import annotations

import logging
import math
import os
import re
import threading
import time
import weakref
from collections.abc import Awaitable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolClosed, PoolTimeout

from adaptive_memory_core.errors import ClosedError, InvalidInputError, LedgerError
from adaptive_memory_core.flow.calls.running_calls import have_waited, left
from adaptive_memory_core.store.locations import is_in_postgres
from adaptive_memory_core.store.postgres.postgres_statements import adapt
from adaptive_memory_core.store.postgres.postgres_tables import SCHEMA
from adaptive_memory_core.store.process_locks import await_before_forks

PoolOrAddress: TypeAlias = str | ConnectionPool[Any] | AsyncConnectionPool[Any]
OURS = (True, None)  # autocommit, and no prepared statements
MOST, IDLE_SECONDS = 4, 300.0  # connections per memory; how long an idle one stays open
LEAST_SECONDS = 0.1  # the wait for a connection, even if the call's time is used up
LOOK_SECONDS = 0.25  # between two attempts to reach the server
CHECKED_SECONDS = 1.0  # a connection that was idle for longer is checked before use
CLOSE_SECONDS = 1.0  # how long closing waits for an attempt to connect
UNDONE = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
FINAL = re.compile("authentication failed|does not exist|pg_hba|no password|permission denied")
UNREACHED = "Check that the server runs, that the address is right, and that it takes as many connections."
REFUSED = "The server answers: check user, password and database in the address, and that it lets this user in."
CLOSED = "The ledger of this memory was closed. Open the memory again: AdaptiveMemory(...)."
NAME = "adaptive-memory"
_inherited: list[ConnectionPool[Any]] = []  # the parent process's pools, never closed here


class Pool:
    """Connections, each lent for one transaction; no statements are prepared on the server.

    Statements name tables without their schema, which our own sessions have as `search_path`. With
    `lends_by_transaction` each transaction sets the path, because there is a pooler or the pool is the caller's.
    """

    def __init__(self, given: PoolOrAddress, wait_seconds: float = 30.0) -> None:
        self.address = shown_address(_address(given))
        self._given, self._wait_seconds = given, wait_seconds
        self._theirs: ConnectionPool[Any] | None = given if isinstance(given, ConnectionPool) else None
        self._most = MOST if isinstance(given, str) else min(MOST, given.max_size or MOST)
        self.lends_by_transaction = self._theirs is not None
        self._moment = threading.RLock()
        await_before_forks(self._moment)
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._used: weakref.WeakKeyDictionary[Connection[Any], float] = weakref.WeakKeyDictionary()  # until when
        self._cut_at = -math.inf  # connections last used before then are lost
        self._refused = refused = threading.Event()
        self._writers = threading.BoundedSemaphore(max(1, self._most - 1))
        self._pool: ConnectionPool[Any] = self._theirs or ConnectionPool(
            kwargs=lambda: _wanted(self._given),
            connection_class=LimitedConnection,
            min_size=0,
            max_size=self._most,
            max_idle=IDLE_SECONDS,
            reconnect_timeout=0.0,  # each waiting call retries
            reconnect_failed=lambda _: refused.set(),
            num_workers=1,
            name=NAME,
            open=True,
        )

    @contextmanager
    def connection(self, *, writing: bool = False, urgent: bool = False) -> Generator[Connection[Any], None, None]:
        """A connection outside of any transaction; a transaction still open at the end is rolled back. An `urgent`
        caller gets a connection even if all are in use; callers that are `writing` leave one for readers."""
        with ExitStack() as end:
            connection = self._taken(end, writing=writing, urgent=urgent)
            was = connection.autocommit, connection.prepare_threshold
            end.callback(_leave, connection, was)
            if was != OURS:
                connection.autocommit, connection.prepare_threshold = OURS
            yield connection

    def close(self) -> None:
        """Close our own pool; a pool of the caller's stays open."""
        with self._moment:
            self._closed = True
            if self._theirs is None and self._process == os.getpid():
                self._pool.close(CLOSE_SECONDS)

    def _taken(self, end: ExitStack, *, writing: bool, urgent: bool) -> Connection[Any]:
        """A connection that `end` returns to the pool."""
        seconds, began = left(self._wait_seconds), time.monotonic()
        try:
            if urgent:
                return end.enter_context(closing(self._connected(seconds)))
            pool, writers = self._current()
            if writing:
                if not writers.acquire(timeout=max(LEAST_SECONDS, seconds)):
                    raise PoolTimeout(f"none of the connections that may write was free within {seconds:.1f} seconds")
                end.callback(writers.release)
            connection = self._live(pool, began + seconds)
            end.callback(self._give_back, pool, connection)
        except psycopg.Error as error:  # the pool's own among them
            raise LedgerError(
                f"The ledger at {self.address} cannot be reached: {str(error).strip()}. "
                f"{REFUSED if FINAL.search(str(error)) else UNREACHED}"
            ) from error
        finally:
            have_waited(time.monotonic() - began)
        return connection

    def _give_back(self, pool: ConnectionPool[Any], connection: Connection[Any]) -> None:
        self._used[connection] = time.monotonic()
        pool.putconn(connection)

    def _current(self) -> tuple[ConnectionPool[Any], threading.BoundedSemaphore]:
        """The pool and the writers' semaphore of this process."""
        with self._moment:
            if self._closed:
                raise ClosedError(CLOSED)
            if self._process != os.getpid():
                _inherited.append(self._pool)
                self._begin()
            return self._pool, self._writers

    def _live(self, pool: ConnectionPool[Any], deadline: float) -> Connection[Any]:
        while True:
            connection = self._from_pool(pool, deadline)
            is_new = connection not in self._used
            try:
                self._check(connection)
            except BaseException as error:
                self._cut_at = time.monotonic()  # the other connections were lost with it
                connection.close()
                pool.putconn(connection)
                if not isinstance(error, psycopg.Error) or time.monotonic() >= deadline:
                    raise
                time.sleep(LOOK_SECONDS if is_new else 0.0)  # a pooler answered, and the server behind it did not
            else:
                return connection

    def _from_pool(self, pool: ConnectionPool[Any], deadline: float) -> Connection[Any]:
        while True:
            remaining = max(LEAST_SECONDS, deadline - time.monotonic())
            try:
                connection: Connection[Any] = pool.getconn(remaining if self._theirs else min(remaining, LOOK_SECONDS))
            except PoolTimeout:
                self._await_server(deadline)
                if time.monotonic() >= deadline:
                    raise PoolTimeout("no connection was free in time, and none could be made") from None
            except BaseException as error:
                if isinstance(error, PoolClosed) and self._theirs is None:
                    raise ClosedError(CLOSED) from error
                if not isinstance(error, Exception) and self._theirs is None:
                    self._begin()  # the old pool still holds a place for this interrupted wait
                raise
            else:
                return connection

    def _await_server(self, deadline: float) -> None:
        """If the pool could not connect, retry until it can; raise the reason if it is permanent or time is up."""
        while self._refused.is_set():
            remaining = deadline - time.monotonic()
            try:
                self._connected(remaining).close()
                self._refused.clear()
            except psycopg.OperationalError as error:
                if remaining <= 0 or FINAL.search(str(error)):
                    raise
                time.sleep(min(remaining, LOOK_SECONDS))

    def _connected(self, seconds: float) -> Connection[Any]:
        """A connection outside of the pool."""
        return LimitedConnection.connect(**{**_wanted(self._given), "connect_timeout": max(2, int(seconds))})

    def _check(self, connection: Connection[Any]) -> None:
        """Raise if the connection cannot be used. After its first use, a connection of the caller's pool is not
        checked here."""
        used = self._used.get(connection)
        if connection.closed or (used is not None and used < self._cut_at):
            raise psycopg.OperationalError("the connection was lost")
        allow(connection, CHECK_SECONDS)
        if used is None:
            self._prepare(connection)
        elif self._theirs is None and time.monotonic() - used > CHECKED_SECONDS:
            connection.execute("")
        allow(connection, SILENT_SECONDS)

    def _prepare(self, connection: Connection[Any]) -> None:
        adapt(connection)
        self._used[connection] = time.monotonic()
        if self._theirs is None:
            row = connection.execute("SELECT pg_backend_pid()").fetchone()
            if row is None or row[0] != connection.info.backend_pid:
                self.lends_by_transaction = True  # another backend answers: there is a pooler in between
            else:
                connection.execute(f"SET search_path TO {SCHEMA}")


def _is_of_others(record: logging.LogRecord) -> bool:
    """Whether a log line is about another pool than ours. Our errors report the same, and without logging set up the
    lines would go to stderr."""
    about = record.args if isinstance(record.args, tuple) else ()
    return not any(one == NAME or isinstance(one, LimitedConnection) for one in about)


logging.getLogger("psycopg.pool").addFilter(_is_of_others)


def _leave(connection: Connection[Any], was: tuple[bool, int | None]) -> None:
    if connection.closed:
        return
    if connection.pgconn.transaction_status in UNDONE:
        try:
            connection.rollback()
        except psycopg.Error:
            connection.close()
            return
    elif connection.pgconn.transaction_status != TransactionStatus.IDLE:
        connection.close()  # interrupted during a statement: the server rolls back
        return
    if was != OURS:
        connection.autocommit, connection.prepare_threshold = was


T = TypeVar("T")
SILENT_SECONDS = 60.0  # longer than a writer waits for its turn, or any of our statements takes
CHECK_SECONDS = 5.0  # the limit for checking an idle connection


def allow(connection: Connection[Any], seconds: float) -> None:
    """Set how long the server may be silent; a connection of the caller's pool keeps its own settings."""
    if isinstance(connection, LimitedConnection):
        connection.silent_seconds = seconds


class LimitedConnection(Connection[Any]):
    """A connection that fails if its server is silent for too long."""

    silent_seconds = SILENT_SECONDS

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **named: Any) -> T:
        if self.silent_seconds == math.inf:
            return super().wait(gen, *args, **named)
        return super().wait(self._limited(gen), *args, **named)

    def _limited(self, waiting: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        """The same steps, with the limit checked whenever psycopg reports that there is nothing to read yet."""
        heard = time.monotonic()
        try:
            wanted = next(waiting)
            while True:
                ready = yield wanted
                now = time.monotonic()
                if ready:
                    heard = now
                elif now - heard > self.silent_seconds:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server has said nothing for {self.silent_seconds:g} seconds")
                wanted = waiting.send(ready)
        except StopIteration as done:
            answer: T = done.value
            return answer


_USUAL = {
    "application_name": "adaptive-memory",
    "client_encoding": "UTF8",
    "keepalives_idle": "10",  # a cut network is noticed after about 25 seconds
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",  # and as soon after something was sent
    "connect_timeout": "10",  # for one host of the address
}
_NOT_THE_SERVERS = {"autocommit", "prepare_threshold", "context", "row_factory", "cursor_factory"}


def _wanted(given: PoolOrAddress) -> dict[str, Any]:
    """The arguments of a new connection, like those of the caller's pool if there is one. They are read each time,
    because functions among them may return a new password."""
    kwargs: dict[str, Any] = {} if isinstance(given, str) else dict(_settled(given.kwargs) or {})
    settings = {name: value for name, value in kwargs.items() if name not in _NOT_THE_SERVERS}
    ours = {"autocommit": True, "prepare_threshold": None}
    return {**_USUAL, **conninfo_to_dict(_address(given)), **settings, **ours}


def _address(given: PoolOrAddress) -> str:
    return given if isinstance(given, str) else str(_settled(given.conninfo))


def _settled(given: Any) -> Any:
    """A setting, or the result of its function. A coroutine runs in a separate event loop, because the caller's loop
    may be waiting for this call."""
    value = given() if callable(given) else given
    if not isinstance(value, Awaitable):
        return value
    import asyncio

    with ThreadPoolExecutor(1, "adaptive-memory-settings") as thread:
        return thread.submit(asyncio.run, _awaited(value)).result()


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


_USABLE = (
    "Give 'postgresql://user:password@host:port/database', with special characters in the password percent-encoded "
    "(urllib.parse.quote(password, safe=''))."
)


def shown_address(conninfo: str) -> str:
    """The address without user, password and options.

    >>> shown_address("postgresql://ana:secret@db.example:5433/memories?sslmode=require")
    "'postgresql://db.example:5433/memories'"
    >>> shown_address("./memory/adaptive_memory.sqlite3")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: The ledger's address is not a PostgreSQL address: it ...
    """
    try:
        known = {name: str(value) for name, value in conninfo_to_dict(conninfo).items()}
    except psycopg.ProgrammingError:  # its message may contain the password
        raise InvalidInputError(f"{_why_unread(conninfo)}. {_USABLE}") from None
    hosts = known.get("host", known.get("hostaddr", "")).split(",")
    if "@" in known.get("dbname", "") or any("@" in host[1:] for host in hosts):  # a part of the password, then
        raise InvalidInputError(f"The ledger's address has an '@' in its host or database. {_USABLE}")
    if not known.get("port", "0").replace(",", "0").isdigit():
        raise InvalidInputError(f"The port in the ledger's address is not a number. {_USABLE}")
    ports = known["port"].split(",") if "port" in known else []
    if len(ports) not in (0, len(hosts)):
        ports = ports * len(hosts)
    named = ",".join(f"{host}:{port}" for host, port in zip(hosts, ports, strict=False)) if ports else ",".join(hosts)
    return repr(f"postgresql://{named}/{known.get('dbname', '')}")


def _why_unread(conninfo: str) -> str:
    if not is_in_postgres(conninfo):
        return "The ledger's address is not a PostgreSQL address: it does not begin with 'postgresql://'"
    return "The ledger's address cannot be read: an option in it is unknown, or a character in it has to be encoded"
