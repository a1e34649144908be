"""Recovery from lost connections: whether a transaction was committed, when to retry, and locks in the form of leases.

A lease is a row with its holder and its end. After its end, by the server's clock, another process can take it over.
Nothing is held between two statements, so neither a pooler nor a lost connection can give a lease to two holders.
"""

from __future__ import annotations

import os
import random
import threading
import time
import uuid
import weakref
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import Connection

from adaptive_memory_core.errors import ClosedError, LedgerError
from adaptive_memory_core.flow.calls.running_calls import left
from adaptive_memory_core.store.postgres.postgres_connections import Pool
from adaptive_memory_core.store.postgres.postgres_tables import SCHEMA

PASSING = (psycopg.OperationalError, psycopg.InterfaceError)  # a lost connection, a deadlock, a lock timeout
LASTING = psycopg.errors.DiskFull  # a retry does not help
RETRIED_SECONDS = 15.0  # how long an unreachable server is retried
GRACE_SECONDS = 1.0  # for a transaction whose connection broke, before it is terminated
PAUSE_SECONDS = (0.02, 0.2)  # between two tries
WHO = "SELECT pg_current_xact_id()::text, pg_backend_pid()"
_STATUS = "SELECT pg_xact_status(%s::xid8)"
_END = (  # a transaction that waits for a standby is left alone: terminating it would commit it on this server only
    "SELECT CASE WHEN wait_event IS DISTINCT FROM 'SyncRep' THEN pg_terminate_backend(pid) END "
    "FROM pg_stat_activity WHERE pid = %s AND backend_xid = (%s::xid8)::xid"
)
_MARKED = f"SELECT 1 FROM {SCHEMA}.writers WHERE writer = %s AND kept = %s"  # noqa: S608 - our own words


class LostConnectionError(LedgerError):
    """The server was unreachable or busy, and nothing was committed."""


@dataclass(frozen=True)
class WriterTurn:
    """A writer's transaction: the mark that it writes when it commits, and its number on the server."""

    writer: str
    mark: int
    number: str
    backend: int


def is_transient(error: BaseException) -> bool:
    """Whether a retry may succeed."""
    return isinstance(error, PASSING) and not isinstance(error, LASTING)


def pause() -> None:
    time.sleep(random.uniform(*PAUSE_SECONDS))  # noqa: S311 - jitter


def was_committed(pool: Pool, connection: Connection[Any], turn: WriterTurn) -> bool:
    """Whether a transaction whose commit failed was committed. If the server answered, it was not; after a lost
    connection the server is asked."""
    return connection.broken and _asked(pool, turn)


def _asked(pool: Pool, turn: WriterTurn) -> bool:
    """Whether the server has committed the transaction. A transaction that stays in progress is terminated."""
    begun = time.monotonic()
    deadline = begun + max(RETRIED_SECONDS, left(RETRIED_SECONDS))
    while time.monotonic() < deadline:
        try:
            with pool.connection(urgent=True) as another:
                if _has_ended(another, turn, patient=time.monotonic() < begun + GRACE_SECONDS):
                    return another.execute(_MARKED, (turn.writer, turn.mark)).fetchone() is not None
        except (psycopg.Error, LedgerError):
            pass
        pause()
    raise LedgerError(
        f"The connection to the ledger at {pool.address} was lost during a commit, and the server cannot be asked "
        "whether it succeeded: the change may have been kept, or not. Check before you make the call again."
    )


def _has_ended(connection: Connection[Any], turn: WriterTurn, *, patient: bool) -> bool:
    """Whether the transaction is over. Its number may be reused: after a crash a server assigns numbers again that it
    had not written."""
    try:
        row = connection.execute(_STATUS, (turn.number,)).fetchone()
    except psycopg.errors.InvalidParameterValue:
        return True  # the number is unknown to the server
    if row is None or row[0] != "in progress":
        return True
    return not patient and connection.execute(_END, (turn.backend, turn.number)).fetchone() is None


LEASE_SECONDS, RENEWED_SECONDS = 10.0, 3.0
GIVEN_BACK_TRIES = 3  # on a lost connection; then the lease expires
LEAST_PAUSE, MOST_PAUSE = 0.005, 0.05  # seconds between two tries
_TAKE = (
    f"INSERT INTO {SCHEMA}.leases AS lease (name, holder, until) "  # noqa: S608 - our own words
    "VALUES (%s, %s, clock_timestamp() + make_interval(secs => %s)) ON CONFLICT (name) DO UPDATE SET "
    "holder = excluded.holder, until = excluded.until "
    "WHERE lease.until < clock_timestamp() OR lease.holder = excluded.holder RETURNING name"
)
_RENEW = (
    f"UPDATE {SCHEMA}.leases SET until = clock_timestamp() + make_interval(secs => %s) "  # noqa: S608 - our own words
    "WHERE holder = ANY(%s)"
)

_GIVE_BACK = f"DELETE FROM {SCHEMA}.leases WHERE name = %s AND holder = %s"  # noqa: S608 - our own words


class LeaseHolder:
    """The leases of one memory; a thread renews them while there are any."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._held: weakref.WeakSet[Lease] = weakref.WeakSet()
        self._moment = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._closed = False

    def lease(self, name: str) -> Lease:
        """A lease with this name, not taken yet."""
        return Lease(self, name)

    def hold(self, lease: Lease) -> None:
        """Renew the lease from now on."""
        if self._process != os.getpid():
            self._begin()  # the parent process renews its own leases
        with self._moment:
            self._held.add(lease)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._renew, name="adaptive-memory-leases", daemon=True)
                self._thread.start()

    def drop(self, lease: Lease) -> None:
        with self._moment:
            self._held.discard(lease)

    def close(self) -> None:
        self._closed = True
        self._wake.set()

    def _renew(self) -> None:
        while not self._wake.wait(RENEWED_SECONDS):
            with self._moment:
                holders = [one.holder for one in self._held]
                if not holders:
                    self._thread = None
                    return
            try:
                with self.pool.connection(urgent=True) as connection:
                    connection.execute(_RENEW, (LEASE_SECONDS, holders))
            except (psycopg.Error, LedgerError, ClosedError):
                continue  # retried next time; if the lease expires, the writes of two holders do no harm


class Lease:
    """An exclusive lock with an expiry. It may be given back twice, and by another thread."""

    def __init__(self, leases: LeaseHolder, name: str) -> None:
        self._leases, self._name = leases, name
        self.holder = uuid.uuid4().hex
        self._taken = False

    def take(self, patience_seconds: float = 0.0) -> bool:
        """Take the lease, and wait at most this long for another holder; returns whether it was taken."""
        deadline = time.monotonic() + patience_seconds
        while not self._is_ours():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, random.uniform(LEAST_PAUSE, MOST_PAUSE)))  # noqa: S311 - jitter
        self._leases.hold(self)
        return True

    def give_back(self) -> None:
        """Release the lease if it is taken."""
        if not self._taken:
            return
        self._leases.drop(self)
        for _ in range(GIVEN_BACK_TRIES):
            try:
                with self._leases.pool.connection() as connection:
                    connection.execute(_GIVE_BACK, (self._name, self.holder))
                break
            except PASSING:
                continue
            except (psycopg.Error, LedgerError, ClosedError):
                break  # the lease expires
        self._taken = False

    def _is_ours(self) -> bool:
        """Try to take the lease; retried if the answer is lost, since its holder can take it again."""
        deadline = time.monotonic() + RETRIED_SECONDS
        while True:
            try:
                with self._leases.pool.connection() as connection:
                    self._taken = True  # before the call, so that it is released after an interrupt
                    found = connection.execute(_TAKE, (self._name, self.holder, LEASE_SECONDS)).fetchone()
            except psycopg.Error as error:
                if not is_transient(error) or time.monotonic() >= deadline:
                    raise OSError(str(error)) from error
                pause()
            else:
                self._taken = found is not None
                return self._taken
