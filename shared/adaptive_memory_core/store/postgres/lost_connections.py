"""What became of a transaction whose connection broke, so that it can be tried again; and locks that are leases.

A row names the holder of a lease and its end; after that time, by the server's clock, another process can take it over.
Nothing is held between two statements, so neither a pooler nor a lost connection gives it to two.
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
from adaptive_memory_core.flow.calls.call_state import left
from adaptive_memory_core.store.postgres.postgres_connections import Pool
from adaptive_memory_core.store.postgres.postgres_tables import SCHEMA

PASSING = (psycopg.OperationalError, psycopg.InterfaceError)  # a lost connection, a deadlock, a lock not given in time
LASTING = psycopg.errors.DiskFull  # until somebody sees to it
RETRIED_SECONDS = 15.0  # until a server that is gone is given up
GRACE_SECONDS = 1.0  # for a transaction whose connection broke, until the server is told to end it
PAUSE_SECONDS = (0.02, 0.2)  # between two tries
WHO = "SELECT pg_current_xact_id()::text, pg_backend_pid()"
_STATUS = "SELECT pg_xact_status(%s::xid8)"
_END = (  # one that waits for a standby would, if it was ended, be kept here alone, and lost with this server
    "SELECT CASE WHEN wait_event IS DISTINCT FROM 'SyncRep' THEN pg_terminate_backend(pid) END "
    "FROM pg_stat_activity WHERE pid = %s AND backend_xid = (%s::xid8)::xid"
)
_MARKED = f"SELECT 1 FROM {SCHEMA}.writers WHERE writer = %s AND kept = %s"  # noqa: S608 - our own words


class LostConnectionError(LedgerError):
    """The server was not there, or had others to serve first, and nothing was kept."""


@dataclass(frozen=True)
class WriterTurn:
    """A transaction of a writer: the mark that it leaves where it is kept, and its number at the server."""

    writer: str
    mark: int
    number: str
    backend: int


def is_transient(error: BaseException) -> bool:
    """Whether the call may be kept in a moment."""
    return isinstance(error, PASSING) and not isinstance(error, LASTING)


def pause() -> None:
    time.sleep(random.uniform(*PAUSE_SECONDS))  # noqa: S311 - jitter


def was_committed(pool: Pool, connection: Connection[Any], turn: WriterTurn) -> bool:
    """Whether the transaction was kept, whose end failed: an answer says that it was not, a lost connection nothing."""
    return connection.broken and _asked(pool, turn)


def _asked(pool: Pool, turn: WriterTurn) -> bool:
    """What the server says has become of a transaction. One that it waits for in vain is ended."""
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
        f"The ledger at {pool.address} was lost while this call was being kept, and does not say what became of it. "
        "It may have been kept, or not: look before you make the call again."
    )


def _has_ended(connection: Connection[Any], turn: WriterTurn, *, patient: bool) -> bool:
    """Its number may be another's by now, since a server that crashed gives those again that it had not written."""
    try:
        row = connection.execute(_STATUS, (turn.number,)).fetchone()
    except psycopg.errors.InvalidParameterValue:
        return True  # a server that has never heard of it
    if row is None or row[0] != "in progress":
        return True
    return not patient and connection.execute(_END, (turn.backend, turn.number)).fetchone() is None


LEASE_SECONDS, RENEWED_SECONDS = 10.0, 3.0
GIVEN_BACK_TRIES = 3  # with a connection that is lost; then it lapses
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
        """One of this name."""
        return Lease(self, name)

    def hold(self, lease: Lease) -> None:
        """Renew it from now on."""
        if self._process != os.getpid():
            self._begin()  # what the parent has is the parent's to renew
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
                continue  # the next time; a lease that lapses is another's, and absolute values do no harm


class Lease:
    """An exclusive right to one thing. It may be given back twice, and by a later caller."""

    def __init__(self, leases: LeaseHolder, name: str) -> None:
        self._leases, self._name = leases, name
        self.holder = uuid.uuid4().hex
        self._taken = False

    def take(self, patience_seconds: float = 0.0) -> bool:
        """Whether it is ours now; waits this long for another holder."""
        deadline = time.monotonic() + patience_seconds
        while not self._is_ours():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, random.uniform(LEAST_PAUSE, MOST_PAUSE)))  # noqa: S311 - jitter
        self._leases.hold(self)
        return True

    def give_back(self) -> None:
        """Let others have it. Nothing, where it is not taken."""
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
                break  # it lapses
        self._taken = False

    def _is_ours(self) -> bool:
        """Asked again where the answer is lost: who has it takes it once more."""
        deadline = time.monotonic() + RETRIED_SECONDS
        while True:
            try:
                with self._leases.pool.connection() as connection:
                    self._taken = True  # so that it is given back where an interrupt strikes
                    found = connection.execute(_TAKE, (self._name, self.holder, LEASE_SECONDS)).fetchone()
            except psycopg.Error as error:
                if not is_transient(error) or time.monotonic() >= deadline:
                    raise OSError(str(error)) from error
                pause()
            else:
                self._taken = found is not None
                return self._taken
