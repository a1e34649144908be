"""What became of a transaction whose connection broke? The server is asked; and what was lost is done again."""

from __future__ import annotations

import random
import time
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.pq import TransactionStatus

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.store.postgres.pool import UNDONE, Pool

RETRIED_SECONDS = 15.0  # until a server that is gone is given up
GRACE_SECONDS = 1.0  # for a transaction whose connection broke, until the server is told to end it
PAUSE_SECONDS = (0.02, 0.2)  # between two tries
_OUTCOME = "SELECT pg_xact_status(%s::xid8)"
_END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid = (%s::xid8)::xid"


class LostConnectionError(LedgerError):
    """The server was not there, or had others to serve first, and nothing was kept."""


def pause() -> None:
    time.sleep(random.uniform(*PAUSE_SECONDS))  # noqa: S311 - jitter


def was_kept(pool: Pool, connection: Connection[Any], number: str, error: BaseException) -> bool:
    """Whether the transaction of that number was kept, which broke off while it was."""
    status = connection.info.transaction_status
    if status in UNDONE or (isinstance(error, psycopg.Error) and not connection.broken):
        return False
    if status == TransactionStatus.IDLE:
        return True
    connection.close()
    return _asked(pool, number)


def _asked(pool: Pool, number: str) -> bool:
    """What the server says has become of a transaction. One that it waits for in vain is ended."""
    deadline = time.monotonic() + RETRIED_SECONDS
    while time.monotonic() < deadline:
        try:
            with pool.connection(urgent=True) as another:
                row = another.execute(_OUTCOME, (number,)).fetchone()
                if row is None or row[0] != "in progress":
                    return row is not None and row[0] == "committed"
                if time.monotonic() > deadline - RETRIED_SECONDS + GRACE_SECONDS:
                    another.execute(_END, (number,))
        except psycopg.errors.InvalidParameterValue:
            return False  # a server that has never heard of it
        except (psycopg.Error, LedgerError):
            pass
        pause()
    raise LedgerError(
        f"The ledger at {pool.address} was lost while this call was being kept, and does not say what became of it. "
        "It may have been kept, or not: look before you make the call again."
    )
