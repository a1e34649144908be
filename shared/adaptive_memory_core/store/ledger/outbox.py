"""Pending changes of the collection: read states to write back, and records that another process must write or
remove."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports.ledger_values import Due, DueRecord, MirrorRow
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import state_rows
from adaptive_memory_core.store.ledger.cached_copies import read_metadata
from adaptive_memory_core.store.ledger.collection_notes import Lock
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.purge import IN_LOG, mark_for_purge
from adaptive_memory_core.store.ledger.schema import LedgerPart

_DUE = (
    f"SELECT record_key, version, stored_id, users.name, {state_rows.LIST} FROM outbox "  # noqa: S608 - our own names
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
_WAITING = "SELECT count(*) FROM records WHERE collection_key = ? AND record_key IN (SELECT record_key FROM outbox)"


class LedgerOutbox(LedgerPart):
    """The states that were not written to the collection's metadata yet."""

    def __init__(self, shared: LedgerContext) -> None:
        super().__init__(shared)
        self._turn, self._is_alone = threading.RLock(), False

    def due(self, limit: int, after: int = 0) -> list[Due]:
        """The states that changed since they were last written back, oldest records first, after this record key."""
        found = self._all(_DUE, self._shared.collection_key, after, limit)
        return [
            Due(record_key, version, stored_id, Scope(name or None), state_rows.state_in_row(state))
            for record_key, version, stored_id, name, *state in found
        ]

    def settle(self, written: Sequence[Due]) -> bool:
        """Remove states that were written back from the list. States that have changed since are due again, even if
        another process has written them back in the meantime, because this write may have overwritten a newer one.
        Return whether there are any."""
        versions = [(one.record_key, one.version) for one in written]
        with self._shared.writing(announced=True, unheard=True) as sql:
            if sql.executemany(_SETTLE, versions).rowcount == len(versions):
                return False
            return sql.executemany(_DUE_AGAIN, versions).rowcount > 0

    def waiting(self) -> int:
        """The number of records of this collection that must be written back."""
        return int(self._value(_WAITING, self._shared.collection_key))

    @contextmanager
    def alone(self, patience_seconds: float) -> Generator[None, None, None]:
        """A block that one thread of all processes that share the ledger can run at a time; it may be nested."""
        with self._turn:
            lock = None if self._is_alone else self._shared.file.lock("projector")
            if lock is None:  # in RAM there are no other processes
                yield
                return
            try:
                self._take(lock, patience_seconds)
                self._is_alone = True
                yield
            finally:
                self._is_alone = False
                lock.give_back()

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


_UNMARK = "DELETE FROM due_records WHERE collection_key = ? AND stored_id = ?"  # it gets another number
_MARK = (
    "INSERT INTO due_records (collection_key, user_key, stored_id, gone) VALUES (?, coalesce("
    "(SELECT user_key FROM mirror WHERE collection_key = ? AND stored_id = ?), 0), ?, ?)"
)
_LONGEST_FIRST = "SELECT stored_id FROM due_records WHERE collection_key = ? ORDER BY number LIMIT ?"
_OF = (
    "SELECT number, gone, stored_id, text, metadata, vector FROM due_records "
    "LEFT JOIN mirror USING (collection_key, stored_id) LEFT JOIN mirror_vectors USING (row) "
    "WHERE collection_key = ? AND stored_id IN ({}) ORDER BY number"
)
_KEY = (  # of a record that was read or pinned before the collection had it
    "SELECT record_key FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 0 "
    "AND (version > 1 OR last_read IS NOT NULL OR pinned = 1)"
)


class LedgerDueRecords(LedgerPart):
    """Records that were written, changed or removed but not in the collection yet. They are noted in the transaction
    that changes the mirror."""

    def mark(self, stored_ids: Sequence[str], *, gone: bool) -> None:
        """Mark these records to be written from the mirror or removed; call this before the mirror removes them."""
        with self._shared.writing(announced=True) as sql:
            own = self._shared.collection_key
            once = list(dict.fromkeys(stored_ids))
            sql.executemany(_UNMARK, [(own, one) for one in once])
            sql.executemany(_MARK, [(own, own, one, one, int(gone)) for one in once])

    def ids(self, limit: int) -> list[str]:
        """The ids of the due records, longest due first."""
        return [row[0] for row in self._all(_LONGEST_FIRST, self._shared.collection_key, limit)]

    def of(self, stored_ids: Sequence[str]) -> list[DueRecord]:
        """The due ones of these records, each with its number and its present row in the mirror."""
        with self._shared.reading() as sql:
            found = state_rows.rows_in(sql, _OF, stored_ids, (self._shared.collection_key,))
        return [
            DueRecord(
                number,
                stored_id,
                None if gone or vector is None else MirrorRow(stored_id, text, read_metadata(metadata), vector),
                gone == 1,
            )
            for number, gone, stored_id, text, metadata, vector in found
        ]

    def settle(self, done: Sequence[DueRecord]) -> None:
        """Unmark records that are in the collection now, unless they changed since. Their read states, which the
        collection could not store before, become due."""
        with self._shared.writing(announced=True) as sql:
            sql.executemany("DELETE FROM due_records WHERE number = ?", [(one.number,) for one in done])
            state_rows.add_to_outbox(sql, self._keys(sql, [one.stored_id for one in done if not one.gone]))
            if any(one.gone for one in done):
                mark_for_purge(sql, IN_LOG)  # the row contained the id of a record that was removed

    def among(self, stored_ids: Collection[str]) -> set[str]:
        """The ids of the due ones of these records."""
        with self._shared.reading() as sql:
            return due_among(sql, self._shared.collection_key, stored_ids)

    def waiting(self) -> int:
        """The number of due records."""
        query = "SELECT count(*) FROM due_records WHERE collection_key = ?"
        return int(self._value(query, self._shared.collection_key))

    def _keys(self, sql: sqlite3.Connection, stored_ids: Sequence[str]) -> list[int]:
        found = (sql.execute(_KEY, (self._shared.collection_key, one)).fetchone() for one in stored_ids)
        return [row[0] for row in found if row is not None]


ECHO_SECONDS = 600.0  # within which the write of a suspended exporter may arrive
_OVER = "DELETE FROM exported WHERE collection_key = ? AND at < ?"
_EXPORTED = "INSERT INTO exported VALUES (?, ?, ?) ON CONFLICT (collection_key, digest) DO UPDATE SET at = excluded.at"


class LedgerExports(LedgerPart):
    """Digests of what was written to the collection in the last minutes."""

    def note(self, digests: Sequence[bytes]) -> None:
        """Note these digests before the write, so that it is recognised even if the writer ends in between."""
        own = self._shared.collection_key
        with self._shared.writing(announced=True, unheard=True) as sql:
            now = self._shared.file.now(sql)
            sql.execute(_OVER, (own, now - ECHO_SECONDS))
            sql.executemany(_EXPORTED, [(own, one, now) for one in digests])

    def among(self, digests: Sequence[bytes]) -> set[bytes]:
        """The digests that were noted."""
        query = "SELECT 1 FROM exported WHERE collection_key = ? AND digest = ?"
        with self._shared.reading() as sql:
            return {one for one in digests if sql.execute(query, (self._shared.collection_key, one)).fetchone()}


def due_among(sql: sqlite3.Connection, collection_key: int, stored_ids: Collection[str]) -> set[str]:
    """The ids of the due ones of these records, in the caller's transaction."""
    query = "SELECT stored_id FROM due_records WHERE collection_key = ? AND stored_id IN ({})"
    return {row[0] for row in state_rows.rows_in(sql, query, list(stored_ids), (collection_key,))}
