"""What became of a transaction whose connection broke? Its writer's mark says; and what was lost is done again."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.pq import TransactionStatus

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.patience import left
from adaptive_memory_core.store.postgres.dialect import SCHEMA
from adaptive_memory_core.store.postgres.pool import UNDONE, Pool

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
class Turn:
    """A transaction of a writer: the mark that it leaves where it is kept, and its number at the server."""

    writer: str
    mark: int
    number: str
    backend: int


def passes(error: BaseException) -> bool:
    """Whether the call may be kept in a moment."""
    return isinstance(error, PASSING) and not isinstance(error, LASTING)


def pause() -> None:
    time.sleep(random.uniform(*PAUSE_SECONDS))  # noqa: S311 - jitter


def was_kept(pool: Pool, connection: Connection[Any], turn: Turn, error: BaseException) -> bool:
    """Whether the transaction was kept, which broke off while it was."""
    status = connection.info.transaction_status
    if status in UNDONE or (isinstance(error, psycopg.Error) and not connection.broken):
        return False
    if status == TransactionStatus.IDLE:
        return True
    connection.close()
    return _asked(pool, turn)


def _asked(pool: Pool, turn: Turn) -> bool:
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


def _has_ended(connection: Connection[Any], turn: Turn, *, patient: bool) -> bool:
    """Its number may be another's by now, since a server that crashed gives those again that it had not written."""
    try:
        row = connection.execute(_STATUS, (turn.number,)).fetchone()
    except psycopg.errors.InvalidParameterValue:
        return True  # a server that has never heard of it
    if row is None or row[0] != "in progress":
        return True
    return not patient and connection.execute(_END, (turn.backend, turn.number)).fetchone() is None
