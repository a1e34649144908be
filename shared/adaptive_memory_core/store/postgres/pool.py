"""Where do connections to PostgreSQL come from? From a pool of our own, or from the caller's."""

from __future__ import annotations

import time
import weakref
from collections.abc import Generator
from functools import partial
from typing import Any, TypeAlias

import psycopg
from psycopg import Connection
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.patience import have_waited, left
from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.store.postgres import async_pool
from adaptive_memory_core.store.postgres.borrowed import borrow, give_back
from adaptive_memory_core.store.postgres.connections import FINAL, MOST, Hand, OwnConnections
from adaptive_memory_core.store.postgres.shown_address import shown
from adaptive_memory_core.store.postgres.values import adapt

Given: TypeAlias = str | ConnectionPool[Any] | AsyncConnectionPool[Any]
OURS = (True, None)  # each statement by itself unless we begin a transaction, and none prepared
LEAST_SECONDS = 0.1  # for a connection of the caller's pool, though the call has waited long enough
UNDONE = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
UNREACHED = "Check that the server runs, that the address is right, and that it takes as many connections."
REFUSED = "The server answers: check user, password and database in the address, and that it lets this user in."


class Pool:
    """Connections for a transaction each, never held longer; they prepare no statements on the server."""

    def __init__(self, given: Given, wait_seconds: float = 30.0) -> None:
        self.address = shown(_conninfo(given))
        self._wait_seconds = wait_seconds
        self._own: OwnConnections | None = _own(given)
        self._theirs: ConnectionPool[Any] | None = given if isinstance(given, ConnectionPool) else None
        self.behind_pooler = False  # whether something stands in between that lends connections of its own
        self._adapted: weakref.WeakSet[Connection[Any]] = weakref.WeakSet()

    @interruptible
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
                try:
                    self._give_back(hand, urgent=urgent)
                finally:
                    self._give_back(hand, urgent=urgent)  # again, where an interrupt broke that off

    def _take(self, hand: Hand, *, urgent: bool) -> None:
        seconds, began = left(self._wait_seconds), time.monotonic()
        try:
            if self._own is not None:
                self._own.take(hand, seconds, urgent=urgent)
            elif urgent:
                hand.held.extend(map(_beside, [self._theirs]))
            elif self._theirs is not None:
                borrow(self._theirs, hand, max(LEAST_SECONDS, seconds))
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
        if self._theirs is not None and not urgent:
            give_back(self._theirs, hand)
            return
        for one in hand.held:
            one.close()

    def close(self) -> None:
        """Ours are closed; the caller's are the caller's."""
        if self._own is not None:
            self._own.close()


def _own(given: Given) -> OwnConnections | None:
    """Connections of our own, where none of the caller's can be used."""
    if isinstance(given, AsyncConnectionPool):
        most = min(MOST, given.max_size or MOST)
        return OwnConnections(async_pool.address_of(given), partial(async_pool.settings_of, given), most)
    return OwnConnections(given) if isinstance(given, str) else None


def _conninfo(given: Given) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, AsyncConnectionPool):
        return async_pool.address_of(given)
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
