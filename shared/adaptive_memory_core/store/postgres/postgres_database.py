"""The ledger's database in PostgreSQL: a connection per transaction, and one writer per collection at a time.

It has the same interface as the SQLite file: `reading` gives a connection for queries, `writing` a connection inside a
transaction. A writer locks the collection's row, so writes happen one after another, and numbers follow the order of
commits. A thread that waits for that row holds no lock of this process. No server-side state outlives a transaction, so
a pooler may run each transaction on another connection.

A transaction begins and ends with one message each, because round trips are expensive. Two version numbers show whether
somebody else has written: the collection's, and the user's own, the only one that a recall changes.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple, ParamSpec, TypeVar

import psycopg
from psycopg import Connection

from adaptive_memory_core.errors import ClosedError, LedgerError
from adaptive_memory_core.flow.calls.running_calls import have_waited, left
from adaptive_memory_core.store.ledger.schema import UNREADABLE, LedgerLook, TransactionKind, VersionNews
from adaptive_memory_core.store.postgres.lost_connections import (
    RETRIED_SECONDS,
    WHO,
    Lease,
    LeaseHolder,
    LostConnectionError,
    WriterTurn,
    is_transient,
    pause,
    was_committed,
)
from adaptive_memory_core.store.postgres.postgres_connections import Pool
from adaptive_memory_core.store.postgres.postgres_statements import PostgresStatements
from adaptive_memory_core.store.postgres.postgres_tables import SCHEMA

P = ParamSpec("P")
T = TypeVar("T")
DENIED = "Grant the role what it lacks, or the scope that it needs (docs/guides/deployment.md#row-level-security)."
LOCK_SECONDS = 30  # how long a writer waits for others, unless the call has its own limit
IDLE_SECONDS = 20  # an idle transaction is ended by the server after this time: its client is gone, and others wait
_WITHIN = f"SET LOCAL search_path TO {SCHEMA}; SET LOCAL idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'"
_LOOK = f"BEGIN READ ONLY; {_WITHIN}"
_LOOK_AT = (
    f"SELECT version, (SELECT changes FROM {SCHEMA}.mirror_size WHERE collection_key = %s), "  # noqa: S608 - our own
    f"(SELECT counted FROM {SCHEMA}.users WHERE user_key = %s) "
    f"FROM {SCHEMA}.collections WHERE collection_key = %s"
)
_USERS_VERSION = f"SELECT counted FROM {SCHEMA}.users WHERE user_key = %s"  # noqa: S608 - our own words


class LedgerDatabase:
    """The ledger's tables in a PostgreSQL database, as this process sees them."""

    place = None  # not a file
    read_only = False
    is_heard_by_all = False  # each collection has its own version
    is_written_in_turn = False  # sequences assign numbers before the order of commits is known
    by_row = ""  # no index hint: the planner has statistics
    lost_pages = 0

    def __init__(self, pool: Pool) -> None:
        self.path = pool.address
        self.on_failure: Callable[[], object] = lambda: None
        self.on_write: Callable[[], object] = lambda: None
        self.on_kept: Callable[[], object] = lambda: None
        self.on_growth: Callable[[], object] = lambda: None
        self._pool = pool
        self._leases = LeaseHolder(pool)
        self._lock = threading.RLock()
        self._sql: PostgresStatements | None = None  # the connection of the current block
        self._writing = self._closed = False
        self._calls: list[Callable[[], object]] = []
        self._writer, self._turns = uuid.uuid4().hex, 0
        self.news, self._of_user = VersionNews(), 0  # `_of_user`: the version of the recalling user at the beginning

    @contextmanager
    def reading(self) -> Generator[Any, None, None]:
        """The connection for queries."""
        if self._lock._is_owned():  # type: ignore[attr-defined] # what threading.Condition asks of a lock, too
            yield self._sql
            return
        with self._pool.connection() as connection:
            self._be_served(connection)
            with self._lock:
                self._check()
                try:
                    self._sql = PostgresStatements(connection)
                    yield self._sql
                except (psycopg.Error, *UNREADABLE) as error:
                    raise self._as_ledger_error(error) from error
                finally:
                    self._sql = None

    @contextmanager
    def apart(self) -> Generator[Any, None, None]:
        """A separate connection for a long query, so that nobody waits for it. Within another block of this thread, the
        block's own connection."""
        if self._lock._is_owned():  # type: ignore[attr-defined] # what threading.Condition asks of a lock, too
            yield self._sql
            return
        with self._pool.connection() as connection:
            self._be_served(connection)
            self._check()
            try:
                yield PostgresStatements(connection)
            except (psycopg.Error, *UNREADABLE) as error:
                raise self._as_ledger_error(error) from error

    @contextmanager
    def writing(
        self, *, announced: bool = False, recall_of: int = 0, unheard: bool = False
    ) -> Generator[Any, None, None]:
        """The connection inside one transaction. All of it is committed, or nothing; after a failure `on_failure` is
        called.

        Within another `writing` of this thread it is a part of the outer transaction and can fail alone. `on_write` is
        called first, unless the caller has `told` the others or will. `recall_of` is the key of the user whose recall
        is counted: only that user's rows change, unless `news` says that more was written. `unheard` means that
        nothing changes that others cache in RAM, except rows of the mirror.
        """
        kind = TransactionKind(announced, recall_of, unheard)
        if self._lock._is_owned() and self._writing:  # type: ignore[attr-defined]
            self.news.part(kind)
            with self._part(announced=announced) as sql:
                yield sql
            return
        due: list[Callable[[], object]] = []
        with self._pool.connection(writing=True) as connection, self._transaction(connection, due, kind) as sql:
            yield sql
        for call in due:
            call()

    @contextmanager
    def _transaction(
        self, connection: Connection[Any], due: list[Callable[[], object]], kind: TransactionKind
    ) -> Generator[Any, None, None]:
        version, of_user, turn = self._turn(connection, kind.recall_of)
        with self._lock:
            self._check()
            before = self._sql
            try:
                self.news.notice(version)
                self._sql = sql = PostgresStatements(connection, in_transaction=True)
                self._writing = True
                self.news.begin(kind)
                self._of_user = of_user
                if not kind.announced:
                    self.on_write()
                yield sql
                self._keep(connection, sql.rest(), turn, due)
            except BaseException as error:
                self._calls.clear()
                self.on_failure()
                if isinstance(error, (psycopg.Error, *UNREADABLE)):
                    raise self._as_ledger_error(error) from error
                raise
            finally:
                self._sql, self._writing = before, False

    @contextmanager
    def _part(self, *, announced: bool) -> Generator[Any, None, None]:
        """A savepoint in this thread's transaction."""
        sql, calls = self._of_this_block(), len(self._calls)
        sql.connection.execute("SAVEPOINT part")
        try:
            if not announced:
                self.on_write()
            yield sql
            sql.connection.execute("RELEASE SAVEPOINT part")
        except BaseException as error:
            del self._calls[calls:]
            self.on_failure()
            sql.undo_part()
            if isinstance(error, (psycopg.Error, *UNREADABLE)):
                raise self._as_ledger_error(error) from error
            raise

    def _be_served(self, connection: Connection[Any]) -> None:
        """Begin a transaction if connections are lent by transaction. This happens before our lock is taken: a writer
        may wait for that lock, and every holder of a pooler's connection for that writer. The pool ends the
        transaction."""
        if self._pool.lends_by_transaction:
            try:
                connection.execute(_LOOK)
            except psycopg.Error as error:
                raise self._as_ledger_error(error) from error

    def _turn(self, connection: Connection[Any], recall_of: int) -> tuple[int | None, int, WriterTurn]:
        """Begin once nobody else writes to the collection. Returns the versions of the collection and the user, and
        this writer's turn. The pool rolls back a transaction that is left open."""
        began = time.monotonic()
        try:
            begun = begin_transaction(connection, self.news.collection_key, recall_of, lock_seconds=left(LOCK_SECONDS))
        except psycopg.Error as error:
            raise self._as_ledger_error(error) from error
        finally:
            have_waited(time.monotonic() - began)
        with self._lock:
            self._turns += 1
            turn = WriterTurn(f"{self._writer}:{os.getpid()}", self._turns, begun.number, begun.backend)
        return begun.version, begun.of_user or 0, turn

    def _keep(self, connection: Connection[Any], rest: str, turn: WriterTurn, due: list[Callable[[], object]]) -> None:
        try:
            commit_transaction(connection, turn, self.news.collection_key, rest, wrote=self.news.wrote)
        except psycopg.Error:
            if not was_committed(self._pool, connection, turn):
                raise
        due += self._calls
        self._calls = []
        self.news.kept()
        self.on_kept()

    def again(self, call: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """The result of the call, which is retried if its connection was lost and nothing was committed. Within a block
        it is not retried. Retries continue for as long as the caller would wait for other writers.
        """
        deadline = time.monotonic() + left(RETRIED_SECONDS)
        while True:
            try:
                return call(*args, **named)
            except LostConnectionError:
                if self._lock._is_owned() or time.monotonic() >= deadline:  # type: ignore[attr-defined]
                    raise
                pause()

    def look(self, sql: PostgresStatements, user: int) -> LedgerLook:
        """The versions that show whether another process or memory has written, or recalled for this user."""
        if self._writing:
            return LedgerLook(self.news.from_others, None, self.version_of_user(sql, user))
        row = sql.connection.execute(_LOOK_AT, (self.news.collection_key, user, self.news.collection_key)).fetchone()
        version, of_rows, of_user = (None, None, None) if row is None else row
        self.news.notice(version)
        return LedgerLook(self.news.from_others, of_rows or 0, of_user or 0)

    def version_of_user(self, sql: PostgresStatements, user: int) -> int:
        """A number that changes with each counted recall of the user."""
        if self._writing and user == self.news.recall_of:
            return self._of_user
        row = sql.connection.execute(_USERS_VERSION, (user,)).fetchone()
        return 0 if row is None else int(row[0])

    def last_number(self, sql: PostgresStatements, table: str, column: str) -> int:
        """The largest number that a row of this table has had."""
        given = f"pg_sequence_last_value(pg_get_serial_sequence('{SCHEMA}.{table}', '{column}')::regclass)"
        query = f"SELECT greatest(coalesce({given}, 0), (SELECT coalesce(max({column}), 0) FROM {SCHEMA}.{table}))"  # noqa: S608
        return int(sql.connection.execute(query).fetchone()[0])  # type: ignore[index]

    def now(self, sql: PostgresStatements) -> float:
        """POSIX seconds by the server's clock."""
        return float(sql.execute("SELECT posix_now()").fetchone()[0])  # type: ignore[index]

    def has_table(self, sql: PostgresStatements, table: str) -> bool:
        return sql.connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.{table}",)).fetchone() != (None,)

    def numbered(self, sql: PostgresStatements, table: str, column: str) -> None:
        """Move the sequence behind numbers that were assigned by hand."""
        largest = self.last_number(sql, table, column)
        if largest:
            name = f"{SCHEMA}.{table}"
            sql.connection.execute("SELECT setval(pg_get_serial_sequence(%s, %s), %s)", (name, column, largest))

    def afterwards(self, call: Callable[[], object]) -> None:
        """Make the call after this thread's transaction has committed; immediately if there is no transaction."""
        with self._lock:
            if not self._closed and self._writing:
                self._calls.append(call)
                return
        call()

    def lock(self, name: str) -> Lease:
        """A lock that one process at a time can take, among all that share the collection's ledger."""
        return self._leases.lease(f"{self.news.collection_key}:{name}")

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                self._leases.close()
                self._pool.close()

    def _of_this_block(self) -> PostgresStatements:
        if self._sql is None:
            raise LedgerError("The ledger's transaction has ended already.")
        return self._sql

    def _check(self) -> None:
        if self._closed:
            raise ClosedError("The ledger of this memory was closed. Open the memory again: AdaptiveMemory(...).")

    def _as_ledger_error(self, error: Exception) -> LedgerError:
        """The server's error as a LedgerError."""
        kind = LostConnectionError if is_transient(error) else LedgerError
        denied = isinstance(error, psycopg.errors.InsufficientPrivilege)
        return kind(
            f"The ledger at {self.path} failed: {str(error).strip() or type(error).__name__}. Nothing of this call was "
            f"kept in it. {DENIED if denied else 'Check that the server can be reached and has room.'}"
        )


_BEGIN = (
    f"BEGIN; SET LOCAL lock_timeout = '{{}}ms'; {_WITHIN}; "  # noqa: S608 - our own names, and numbers
    f"SELECT version FROM {SCHEMA}.collections WHERE collection_key = {{}} FOR NO KEY UPDATE; "
    f"SELECT counted FROM {SCHEMA}.users WHERE user_key = {{}}; {WHO}"
)
_LONG_GONE = f"DELETE FROM {SCHEMA}.writers WHERE collection_key = {{}} AND kept_at < now() - interval '1 day'; "  # noqa: S608
_MARK = (
    f"INSERT INTO {SCHEMA}.writers (writer, collection_key, kept) VALUES ('{{}}', {{}}, {{}}) "  # noqa: S608 - our own
    "ON CONFLICT (writer) DO UPDATE SET kept = excluded.kept, kept_at = now(); "
)
_WROTE = f"UPDATE {SCHEMA}.collections SET version = version + 1 WHERE collection_key = {{}}; "  # noqa: S608


class BegunTransaction(NamedTuple):
    """The versions of the collection and the user, None if there is no row; the transaction's number and backend."""

    version: int | None
    of_user: int | None
    number: str
    backend: int


def begin_transaction(
    connection: Connection[Any], collection: int, user: int, *, lock_seconds: float
) -> BegunTransaction:
    """Begin a transaction once nobody else writes to the collection."""
    cursor = connection.execute(_BEGIN.format(max(1, round(1_000 * lock_seconds)), collection, user))
    rows: list[Any] = [cursor.fetchone() if cursor.description else None]
    while cursor.nextset():
        rows.append(cursor.fetchone() if cursor.description else None)
    version, of_user, (number, backend) = rows[-3:]
    return BegunTransaction(_number(version), _number(of_user), number, backend)


def _number(row: Any) -> int | None:
    return None if row is None else int(row[0])


def commit_transaction(
    connection: Connection[Any], turn: WriterTurn, collection: int, rest: str, *, wrote: bool
) -> None:
    """Send the `rest` of the statements and the writer's mark, and commit. `wrote` says that more was written than
    counted recalls."""
    first = _LONG_GONE.format(collection) if turn.mark == 1 else ""
    mark = _MARK.format(turn.writer, collection, turn.mark)
    others = _WROTE.format(collection) if wrote else ""
    connection.execute(f"{rest}{first}{mark}{others}COMMIT")
