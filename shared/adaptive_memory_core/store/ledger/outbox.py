"""Which records are still to be written back? Those whose states changed since the last time."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports.ledger_values import Due
from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.records import Scope
from adaptive_memory_core.shown_in_errors import reason
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.id_locks import Lock

_DUE = (
    f"SELECT record_key, version, stored_id, users.name, {rows.LIST} FROM outbox "  # noqa: S608 - our own names
    "JOIN records USING (record_key) JOIN users USING (user_key) WHERE records.collection_key = ? AND record_key > ? "
    "ORDER BY record_key LIMIT ?"
)
_SETTLE = (
    "DELETE FROM outbox WHERE record_key = ? "
    "AND (SELECT version FROM records WHERE records.record_key = outbox.record_key) = ?"
)
_DUE_AGAIN = (
    "INSERT INTO outbox SELECT record_key FROM records WHERE record_key = ? AND version != ? ON CONFLICT DO NOTHING"
)
_WAITING = "SELECT count(*) FROM outbox JOIN records USING (record_key) WHERE collection_key = ?"


class LedgerOutbox:
    """The states that the collection does not show yet."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def due(self, limit: int, after: int = 0) -> list[Due]:
        """The states that changed since they were last written back, oldest records first, behind this one."""
        with self._shared.reading() as sql:
            found = sql.execute(_DUE, (self._shared.collection_key, after, limit)).fetchall()
        return [
            Due(record_key, version, stored_id, Scope(name or None), rows.state_of(state))
            for record_key, version, stored_id, name, *state in found
        ]

    def settle(self, written: Sequence[Due]) -> bool:
        """These were written back: those that have not changed since leave the list. Those that have are due, whoever
        has written them back meanwhile: this was a late write then, over a newer one. Whether there are any."""
        versions = [(one.record_key, one.version) for one in written]
        with self._shared.writing(told=True, unheard=True) as sql:
            if sql.executemany(_SETTLE, versions).rowcount == len(versions):
                return False
            return sql.executemany(_DUE_AGAIN, versions).rowcount > 0

    def waiting(self) -> int:
        """How many records of this collection wait to be written back."""
        with self._shared.reading() as sql:
            return int(sql.execute(_WAITING, (self._shared.collection_key,)).fetchone()[0])

    @interruptible
    def alone(self, patience_seconds: float) -> Generator[None, None, None]:
        """Of all processes that share the ledger, one at a time is in here; the threads of one take turns before."""
        lock = self._shared.file.lock("projector")
        if lock is None:
            yield
            return
        try:
            self._take(lock, patience_seconds)
            yield
        finally:
            try:
                lock.give_back()
            finally:
                lock.give_back()  # again, where an interrupt broke that off

    def _take(self, lock: Lock, patience_seconds: float) -> None:
        try:
            if lock.take(patience_seconds):
                return
        except OSError as error:
            raise StoreError(
                f"The projection's lock cannot be taken: {reason(error)}. Check the ledger's directory, or its server."
            ) from error
        raise StoreError(
            f"Another process has been writing back for more than {patience_seconds:g} seconds. It writes our "
            "changes as well; call flush() again later."
        )
