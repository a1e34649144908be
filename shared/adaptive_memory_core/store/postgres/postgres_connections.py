"""Connections to PostgreSQL: from our pool or the caller's, given up when the server is silent, addresses hidden.

A thread that takes one of ours holds a `Hand`, which is kept in a list by weak reference: a hand that an interrupt kept
from giving back is forgotten with its frame. A child process does not touch what its parent opened.

An async connection belongs to its event loop, and a ledger is used in threads, so an async pool gives its settings
alone. The kernel notices a cable that was cut, but not a proxy, or a machine, that stands still with its connections
open.
"""

from __future__ import annotations

import math
import os
import re
import sys
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from adaptive_memory_core.errors import ClosedError, InvalidInputError, LedgerError
from adaptive_memory_core.flow.calls.call_state import have_waited, left
from adaptive_memory_core.store.locations import is_in_postgres
from adaptive_memory_core.store.postgres.postgres_statements import adapt
from adaptive_memory_core.store.process_locks import await_before_forks

PoolOrAddress: TypeAlias = str | ConnectionPool[Any] | AsyncConnectionPool[Any]
OURS = (True, None)  # each statement by itself unless we begin a transaction, and none prepared
LEAST_SECONDS = 0.1  # for a connection of the caller's pool, though the call has waited long enough
UNDONE = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
UNREACHED = "Check that the server runs, that the address is right, and that it takes as many connections."
REFUSED = "The server answers: check user, password and database in the address, and that it lets this user in."


class Pool:
    """Connections for a transaction each, never held longer; they prepare no statements on the server."""

    def __init__(self, given: PoolOrAddress, wait_seconds: float = 30.0) -> None:
        self.address = shown_address(_conninfo(given))
        self._wait_seconds = wait_seconds
        self._own: OwnConnections | None = _own(given)
        self._theirs: ConnectionPool[Any] | None = given if isinstance(given, ConnectionPool) else None
        self.behind_pooler = False  # whether something stands in between that lends connections of its own
        self._adapted: weakref.WeakSet[Connection[Any]] = weakref.WeakSet()

    @contextmanager
    def connection(self, *, writing: bool = False, urgent: bool = False) -> Generator[Connection[Any], None, None]:
        """A connection, outside of any transaction; what is left open in the end is undone. What is `urgent` gets one
        though all are in use; those who are `writing` leave one of ours to others."""
        hand = Hand(writing=writing)
        was: tuple[bool, int | None] = OURS
        try:
            self._take(hand, urgent=urgent)
            connection = hand.held[0]
            was = connection.autocommit, connection.prepare_threshold
            if was != OURS:
                connection.autocommit, connection.prepare_threshold = OURS
            if connection not in self._adapted:
                adapt(connection)
                self.behind_pooler = _is_a_poolers(connection)
                self._adapted.add(connection)
            yield connection
        finally:
            try:
                for one in hand.held:
                    _leave(one, was)
            finally:
                self._give_back(hand, urgent=urgent)

    def _take(self, hand: Hand, *, urgent: bool) -> None:
        seconds, began = left(self._wait_seconds), time.monotonic()
        try:
            if self._own is not None:
                self._own.take(hand, seconds, urgent=urgent)
            elif urgent:
                hand.held.extend(map(_beside, [self._theirs]))
            elif self._theirs is not None:
                hand.held.append(self._theirs.getconn(max(LEAST_SECONDS, seconds)))
        except psycopg.Error as error:  # the pool's own among them
            raise LedgerError(
                f"The ledger at {self.address} cannot be reached: {str(error).strip()}. "
                f"{REFUSED if FINAL.search(str(error)) else UNREACHED}"
            ) from error
        finally:
            have_waited(time.monotonic() - began)

    def _give_back(self, hand: Hand, *, urgent: bool) -> None:
        if self._own is not None:
            self._own.give_back(hand)
            return
        for one in hand.held:
            if self._theirs is not None and not urgent:
                self._theirs.putconn(one)
            else:
                one.close()

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


def _is_a_poolers(connection: Connection[Any]) -> bool:
    """A pooler says what it likes of the process that serves a connection: another one serves each transaction."""
    try:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
    except psycopg.Error:
        return True  # whoever asks next is told
    return row is None or row[0] != connection.info.backend_pid


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


MOST, MOST_WRITING, IDLE_SECONDS = 4, 3, 300.0  # those who wait for their turn to write leave one to those who read
CHECKED_SECONDS = 1.0  # a connection that nobody used for longer is asked whether it still stands
LOOK_SECONDS, PAUSE_SECONDS = 0.1, 0.1  # between two looks for a free place; between two tries to connect
FINAL = re.compile("authentication failed|does not exist|pg_hba|no password|permission denied")
_USUAL = {
    "application_name": "adaptive-memory",
    "client_encoding": "UTF8",
    "keepalives_idle": "10",  # a network that was cut is noticed after about 25 seconds
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",  # and as soon where something was sent
}


class Hand:
    """What holds a connection, or is about to."""

    def __init__(self, *, writing: bool = False) -> None:
        self.writing = writing
        self.held: list[Connection[Any]] = []


class OwnConnections:
    """Connections to one address, at most so many for those who can wait; `settings` are asked for with each one."""

    def __init__(self, address: str, settings: Callable[[], dict[str, Any]] = dict, most: int = MOST) -> None:
        self._given = {**_USUAL, **conninfo_to_dict(address)}
        self._settings, self._most = settings, most
        self._moment = threading.RLock()
        await_before_forks(self._moment)
        self._begin()

    def _begin(self) -> None:
        self._idle: list[Connection[Any]] = []
        self._used: weakref.WeakKeyDictionary[Connection[Any], float] = weakref.WeakKeyDictionary()
        self._hands: weakref.WeakSet[Hand] = weakref.WeakSet()
        self._freed = threading.Condition(self._moment)
        self._process, self._closed = os.getpid(), False

    def take(self, hand: Hand, wait_seconds: float, *, urgent: bool = False) -> None:
        """Put a connection into the hand, once fewer than allowed are in use; at once for what is `urgent`."""
        deadline = time.monotonic() + wait_seconds
        self._admit(hand, deadline, sys.maxsize if urgent else self._most)
        while True:
            with self._moment:
                hand.held.extend(islice(iter(self._popped, None), 1))  # in C: no interrupt comes in between
            if not hand.held:
                hand.held.extend(map(self._connected, [deadline]))
            if self._stands(hand.held[0]):
                allow(hand.held[0], SILENT_SECONDS)
                return
            hand.held.pop().close()
            self._drop_idle()  # the others were cut off with it

    def give_back(self, hand: Hand) -> None:
        """Keep what the hand has, for the next one, where it can be used."""
        with self._moment:
            while hand.held:
                one = hand.held[-1]
                usable = not one.closed and one.info.transaction_status == TransactionStatus.IDLE
                if usable and not self._closed and len(self._idle) < MOST:
                    self._used[one] = time.monotonic()
                    self._idle.extend(map(hand.held.pop, [-1]))  # in C: no interrupt leaves it with both
                else:
                    one.close()
                    hand.held.pop()
            self._hands.discard(hand)
            self._freed.notify_all()
            self._close_idle(time.monotonic() - IDLE_SECONDS)

    def close(self) -> None:
        with self._moment:
            self._closed = True
            if self._process == os.getpid():
                self._close_idle(time.monotonic() + 1)
            self._freed.notify_all()

    def _admit(self, hand: Hand, deadline: float, most: int) -> None:
        with self._moment:
            if self._process != os.getpid():
                self._begin()
            while not self._closed and not self._has_room(hand, most):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise psycopg.OperationalError(f"all {self._most} connections of this process are in use")
                self._freed.wait(min(left, LOOK_SECONDS))
            if self._closed:
                raise ClosedError("The ledger of this memory was closed. Open the memory again: AdaptiveMemory(...).")
            self._hands.add(hand)

    def _has_room(self, hand: Hand, most: int) -> bool:
        hands = list(self._hands)
        return len(hands) < most and not (hand.writing and sum(one.writing for one in hands) >= MOST_WRITING)

    def _popped(self) -> Connection[Any] | None:
        return self._idle.pop() if self._idle else None

    def _connected(self, deadline: float) -> LimitedConnection:
        while True:
            left = deadline - time.monotonic()
            given: dict[str, Any] = {"connect_timeout": max(2, int(left)), **self._given, **self._settings()}
            try:
                return LimitedConnection.connect(autocommit=True, prepare_threshold=None, **given)
            except psycopg.OperationalError as error:
                if left <= PAUSE_SECONDS or FINAL.search(str(error)):
                    raise
            time.sleep(PAUSE_SECONDS)

    def _stands(self, connection: Connection[Any]) -> bool:
        if time.monotonic() - self._used.get(connection, time.monotonic()) <= CHECKED_SECONDS:
            return not connection.closed
        allow(connection, CHECK_SECONDS)
        try:
            connection.execute("")
        except psycopg.Error:
            return False
        return True

    def _drop_idle(self) -> None:
        with self._moment:
            self._close_idle(time.monotonic() + 1)

    def _close_idle(self, before: float) -> None:
        for one in [one for one in self._idle if self._used[one] < before]:
            self._idle.remove(one)
            one.close()


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
    import asyncio

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
