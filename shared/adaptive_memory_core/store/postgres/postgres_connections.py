"""Connections to PostgreSQL: of psycopg's pool, or the caller's; given up when the server is silent; addresses hidden.

psycopg's pool tries to connect in a thread of its own, and does not say why it cannot: whoever waits then tries it once
to learn that. A child process leaves alone what its parent opened.

An async connection belongs to its event loop, and a ledger is used in threads, so an async pool gives its settings
alone. The kernel notices a cable that was cut, but not a proxy, or a machine, that stands still with its connections
open.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from adaptive_memory_core.errors import ClosedError, InvalidInputError, LedgerError
from adaptive_memory_core.flow.calls.call_state import have_waited, left
from adaptive_memory_core.store.locations import is_in_postgres
from adaptive_memory_core.store.postgres.postgres_statements import adapt
from adaptive_memory_core.store.postgres.postgres_tables import SCHEMA
from adaptive_memory_core.store.process_locks import await_before_forks

PoolOrAddress: TypeAlias = str | ConnectionPool[Any] | AsyncConnectionPool[Any]
OURS = (True, None)  # each statement by itself unless we begin a transaction, and none prepared
LEAST_SECONDS = 0.1  # for a connection, though the call has waited long enough
UNDONE = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
UNREACHED = "Check that the server runs, that the address is right, and that it takes as many connections."
REFUSED = "The server answers: check user, password and database in the address, and that it lets this user in."
CLOSED = "The ledger of this memory was closed. Open the memory again: AdaptiveMemory(...)."


class Pool:
    """Connections for a transaction each, never held longer; they prepare no statements on the server.

    Statements name tables without their schema, which is set for the session where a connection is ours alone. Where it
    `lends_by_transaction`, it has to be set in each one: a pooler stands in between, or the pool is the caller's.
    """

    def __init__(self, given: PoolOrAddress, wait_seconds: float = 30.0) -> None:
        self.address = shown_address(_conninfo(given))
        self._wait_seconds = wait_seconds
        self._own: OwnConnections | None = _own(given)
        self._theirs: ConnectionPool[Any] | None = given if isinstance(given, ConnectionPool) else None
        self._adapted: weakref.WeakSet[Connection[Any]] = weakref.WeakSet()  # those of theirs

    @property
    def lends_by_transaction(self) -> bool:
        return self._own is None or self._own.behind_pooler

    @contextmanager
    def connection(self, *, writing: bool = False, urgent: bool = False) -> Generator[Connection[Any], None, None]:
        """A connection, outside of any transaction; what is left open in the end is undone. What is `urgent` gets one
        though all are in use; those who are `writing` leave one of ours to others."""
        connection, give_back = self._take(writing=writing, urgent=urgent)
        was = connection.autocommit, connection.prepare_threshold
        try:
            if was != OURS:
                connection.autocommit, connection.prepare_threshold = OURS
            if self._own is None and connection not in self._adapted:
                adapt(connection)
                self._adapted.add(connection)
            yield connection
        finally:
            try:
                _leave(connection, was)
            finally:
                give_back(connection)

    def _take(self, *, writing: bool, urgent: bool) -> tuple[Connection[Any], Callable[[Connection[Any]], object]]:
        """A connection, and what is to be called with it in the end."""
        seconds, began = left(self._wait_seconds), time.monotonic()
        try:
            if self._own is not None:
                return self._own.take(seconds, writing=writing, urgent=urgent)
            pool: Any = self._theirs
            if urgent:
                return _beside(pool), Connection.close
            return pool.getconn(max(LEAST_SECONDS, seconds)), pool.putconn
        except psycopg.Error as error:  # the pool's own among them
            raise LedgerError(
                f"The ledger at {self.address} cannot be reached: {str(error).strip()}. "
                f"{REFUSED if FINAL.search(str(error)) else UNREACHED}"
            ) from error
        finally:
            have_waited(time.monotonic() - began)

    def close(self) -> None:
        """Ours are closed; the caller's are the caller's."""
        if self._own is not None:
            self._own.close()


def _own(given: PoolOrAddress) -> OwnConnections | None:
    """Our own connections, if none of the caller's can be used."""
    if isinstance(given, AsyncConnectionPool):
        most = min(MOST, given.max_size or MOST)
        return OwnConnections(address_of_pool(given), partial(connection_settings, given), most)
    return OwnConnections(given) if isinstance(given, str) else None


def _conninfo(given: PoolOrAddress) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, AsyncConnectionPool):
        return address_of_pool(given)
    asked: Any = given.conninfo
    return str(asked() if callable(asked) else asked)


def _beside(pool: Any) -> Connection[Any]:
    """One more connection to where the pool's go."""
    kwargs = pool.kwargs() if callable(pool.kwargs) else pool.kwargs
    return psycopg.connect(_conninfo(pool), **(kwargs or {}))


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
        connection.close()  # broken off amid a statement: the server undoes what it was in
        return
    if was != OURS:
        connection.autocommit, connection.prepare_threshold = was


MOST, IDLE_SECONDS = 4, 300.0  # connections of a memory; until one that nobody needs is closed
CONNECT_SECONDS = 10  # for one host of the address, unless that says otherwise
CHECKED_SECONDS = 1.0  # a connection that nobody used for longer is asked whether it still stands
LOOK_SECONDS = 0.25  # between two looks whether the server can be reached
CLOSE_SECONDS = 1.0  # that closing waits for a try to connect
FINAL = re.compile("authentication failed|does not exist|pg_hba|no password|permission denied")
_USUAL = {
    "application_name": "adaptive-memory",
    "client_encoding": "UTF8",
    "keepalives_idle": "10",  # a network that was cut is noticed after about 25 seconds
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",  # and as soon where something was sent
    "connect_timeout": str(CONNECT_SECONDS),
}
_inherited: list[ConnectionPool[Any]] = []  # a parent's pools, which nobody closes here


class OwnConnections:
    """Connections to one address, at most so many for those who can wait; `settings` are asked for with each one."""

    def __init__(self, address: str, settings: Callable[[], dict[str, Any]] = dict, most: int = MOST) -> None:
        self.behind_pooler = False  # whether something stands in between that lends connections of its own
        self._given = {**_USUAL, **conninfo_to_dict(address)}
        self._settings, self._most = settings, most
        self._moment = threading.RLock()
        await_before_forks(self._moment)
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._cut_at = -math.inf  # what was last used before then does not stand
        self._refused = threading.Event()
        self._writers = threading.BoundedSemaphore(max(1, self._most - 1))
        self._pool: ConnectionPool[LimitedConnection] = ConnectionPool(
            kwargs=self._wanted,
            connection_class=LimitedConnection,
            configure=self._prepare,
            min_size=0,
            max_size=self._most,
            max_idle=IDLE_SECONDS,
            reconnect_timeout=0.0,  # whoever waits asks again
            reconnect_failed=lambda _, refused=self._refused: refused.set(),  # type: ignore[misc]
            num_workers=1,
            name="adaptive-memory",
            open=True,
        )

    def take(
        self, seconds: float, *, writing: bool = False, urgent: bool = False
    ) -> tuple[Connection[Any], Callable[[Connection[Any]], object]]:
        """A connection, once fewer than allowed are in use, and what is to be called with it in the end; what is
        `urgent` gets one at once."""
        deadline = time.monotonic() + seconds
        pool, writers = self._current()
        if urgent:
            return self._beside(pool)
        if writing and not writers.acquire(timeout=max(LEAST_SECONDS, seconds)):
            raise self._in_use(seconds)
        try:
            connection = self._standing(pool, deadline, seconds)
        except BaseException:
            if writing:
                writers.release()
            raise
        return connection, partial(_give_back, pool, writers if writing else None)

    def close(self) -> None:
        with self._moment:
            self._closed = True
            if self._process == os.getpid():
                self._pool.close(CLOSE_SECONDS)

    def _current(self) -> tuple[ConnectionPool[LimitedConnection], threading.BoundedSemaphore]:
        with self._moment:
            if self._closed:
                raise ClosedError(CLOSED)
            if self._process != os.getpid():
                _inherited.append(self._pool)
                self._begin()
            return self._pool, self._writers

    def _standing(self, pool: ConnectionPool[LimitedConnection], deadline: float, seconds: float) -> LimitedConnection:
        while True:
            connection = self._from_pool(pool, deadline, seconds)
            if self._stands(connection):
                allow(connection, SILENT_SECONDS)
                return connection
            self._cut_at = time.monotonic()  # the others were cut off with it
            connection.close()
            pool.putconn(connection)

    def _from_pool(self, pool: ConnectionPool[LimitedConnection], deadline: float, seconds: float) -> LimitedConnection:
        while True:
            remaining = deadline - time.monotonic()
            try:
                return pool.getconn(max(LEAST_SECONDS, min(remaining, LOOK_SECONDS)))
            except PoolTimeout:
                self._raise_refusal(remaining)
                if remaining <= LOOK_SECONDS:
                    raise self._in_use(seconds) from None
            except psycopg.Error as error:
                raise ClosedError(CLOSED) from error
            except BaseException:  # an interrupt: the pool has promised a connection to one who waits no more
                with self._moment:
                    self._begin()
                pool.close(CLOSE_SECONDS)
                raise

    def _raise_refusal(self, remaining: float) -> None:
        """Why the pool cannot connect, if nothing changes that or there is no time left to wait for it."""
        if not self._refused.is_set():
            return
        self._refused.clear()
        try:
            self._connected(remaining).close()
        except psycopg.OperationalError as error:
            if remaining <= LOOK_SECONDS or FINAL.search(str(error)):
                raise
            self._refused.set()

    def _in_use(self, seconds: float) -> psycopg.OperationalError:
        return psycopg.OperationalError(
            f"none of the {self._most} connections of this process was free within {seconds:.1f} seconds"
        )

    def _beside(
        self, pool: ConnectionPool[LimitedConnection]
    ) -> tuple[Connection[Any], Callable[[Connection[Any]], object]]:
        try:
            return self._standing(pool, time.monotonic() + LEAST_SECONDS, 0.0), partial(_give_back, pool, None)
        except psycopg.OperationalError:
            return self._connected(CONNECT_SECONDS), Connection.close

    def _connected(self, seconds: float) -> LimitedConnection:
        connection = LimitedConnection.connect(**{**self._wanted(), "connect_timeout": max(2, int(seconds))})
        self._prepare(connection)
        return connection

    def _wanted(self) -> dict[str, Any]:
        """How a connection is to be made."""
        return {**self._given, **self._settings(), "autocommit": True, "prepare_threshold": None}

    def _prepare(self, connection: LimitedConnection) -> None:
        """A pooler says what it likes of the process that serves a connection: another one serves each transaction."""
        adapt(connection)
        allow(connection, CHECK_SECONDS)
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        self.behind_pooler = row is None or row[0] != connection.info.backend_pid
        if not self.behind_pooler:
            connection.execute(f"SET search_path TO {SCHEMA}")

    def _stands(self, connection: LimitedConnection) -> bool:
        if connection.closed or connection.used_at < self._cut_at:
            return False
        if time.monotonic() - connection.used_at <= CHECKED_SECONDS:
            return True
        allow(connection, CHECK_SECONDS)
        try:
            connection.execute("")
        except psycopg.Error:
            return False
        return True


def _give_back(pool: ConnectionPool[Any], writers: threading.BoundedSemaphore | None, connection: Any) -> None:
    connection.used_at = time.monotonic()
    try:
        pool.putconn(connection)
    finally:
        if writers is not None:
            writers.release()


T = TypeVar("T")
SILENT_SECONDS = 60.0  # more than a writer waits for its turn, or any statement of ours takes
CHECK_SECONDS = 5.0  # until an idle connection has to show that it still stands


def allow(connection: Connection[Any], seconds: float) -> None:
    """Let the server say nothing for so long; a connection of the caller's waits as the caller has set it up."""
    if isinstance(connection, LimitedConnection):
        connection.silent_seconds = seconds


class LimitedConnection(Connection[Any]):
    """A connection that breaks where its server says nothing for so long."""

    silent_seconds = SILENT_SECONDS

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.used_at = time.monotonic()

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **named: Any) -> T:
        if self.silent_seconds == math.inf:
            return super().wait(gen, *args, **named)
        return super().wait(self._limited(gen), *args, **named)

    def _limited(self, waiting: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        """The same steps; psycopg says from time to time that there is nothing to read yet."""
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


_NOT_THE_SERVERS = {"autocommit", "prepare_threshold", "context", "row_factory", "cursor_factory"}


def address_of_pool(pool: AsyncConnectionPool[Any]) -> str:
    """The address of its connections. Asked again for each connection: it may be a function that has a new password."""
    return str(_settled(pool.conninfo))


def connection_settings(pool: AsyncConnectionPool[Any]) -> dict[str, Any]:
    """What a connection of ours is opened with, to be like one of the pool's."""
    kwargs: dict[str, Any] = dict(_settled(pool.kwargs) or {})
    own = {name: value for name, value in kwargs.items() if name not in _NOT_THE_SERVERS}
    return {**conninfo_to_dict(address_of_pool(pool)), **own}


def _settled(given: Any) -> Any:
    """A setting, or the result of a function for it, which may be a coroutine: run in a separate loop, since the
    caller's loop may be the one that waits."""
    value = given() if callable(given) else given
    if not isinstance(value, Awaitable):
        return value
    told: list[Any] = []
    thread = threading.Thread(target=lambda: told.append(asyncio.run(_awaited(value))), name="adaptive-memory-settings")
    thread.start()
    thread.join()
    return told[0]


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


_USABLE = (
    "Give 'postgresql://user:password@host:port/database', with what is special in the password percent-encoded "
    "(urllib.parse.quote(password, safe=''))."
)


def shown_address(conninfo: str) -> str:
    """The address without what is secret.

    >>> shown_address("postgresql://ana:secret@db.example:5433/memories?sslmode=require")
    "'postgresql://db.example:5433/memories'"
    >>> shown_address("./memory/adaptive_memory.sqlite3")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: The ledger's address is none of a PostgreSQL database: it ...
    """
    try:
        known = {name: str(value) for name, value in conninfo_to_dict(conninfo).items()}
    except psycopg.ProgrammingError:  # what it says may hold the password
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
        return "The ledger's address is none of a PostgreSQL database: it does not begin with 'postgresql://'"
    return "The ledger's address cannot be read: an option in it is unknown, or a character in it has to be encoded"
