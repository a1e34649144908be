"""The ledger's SQLite file, shared by threads through a lock and by processes through short transactions.

SQLite lets any connection write next that tries first, so all threads of a process queue here before they begin.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal, NoReturn

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import ClosedError, LedgerError
from adaptive_memory_core.flow.calls.running_calls import have_waited, left, pauses
from adaptive_memory_core.store import sqlite_files
from adaptive_memory_core.store.ledger.schema import (
    UNREADABLE,
    LedgerConnection,
    TransactionKind,
    VersionNews,
    VersionsInFile,
    check_version,
    damaged,
    refuse_damaged,
    shows_damage,
)
from adaptive_memory_core.store.process_locks import OsLock, await_before_forks, no_fork_meanwhile
from adaptive_memory_core.store.sqlite_connection import (
    LOOK_EVERY,
    PATIENCE_SECONDS,
    RECALLS_WORTH,
    GroupCommit,
    WriteAheadLog,
    connect,
    connect_again,
    database_file,
    grouped,
    is_busy,
    prepare,
)


class LedgerFile:
    """A SQLite file (WAL) that threads share through a lock and processes through short, retried transactions.

    No thread waits for another process while it holds the lock, so readers never wait for one. A transaction that an
    interrupt left open is rolled back before the file is used again.
    """

    is_heard_by_all = True  # a write to one collection empties the caches of all
    is_written_in_turn = True  # later commits have higher numbers
    by_row = "NOT INDEXED"  # otherwise SQLite reads all rows of a collection to sort them

    def __init__(self, path: str, *, durability: Literal["normal", "full"] = "normal") -> None:
        self.path = path
        self.on_failure: Callable[[], object] = lambda: None
        self.on_write: Callable[[], object] = lambda: None
        self.on_kept: Callable[[], object] = lambda: None
        self.on_growth: Callable[[], object] = lambda: None  # the write-ahead log needs a check
        self._lock = threading.RLock()
        await_before_forks(self._lock)
        self._calls: list[Callable[[], object]] = []  # to be made when the transaction is committed
        self._late: list[Callable[[], object]] = []  # of a transaction within `reading`: to be made after that block
        self._unfinished = self._closed = self._broken_off = False
        self._log, self._queue = WriteAheadLog(self.place), queue_of(self.place)
        self.news = VersionNews()
        self._versions = VersionsInFile(self.news)
        self.look = self._versions.look
        self._left = sqlite_files.hold_open(self, self.place)
        try:
            refuse_damaged(path, self.place)
            self._connection = connect(path)
        except BaseException:
            self._left()
            raise
        try:
            self.read_only, self.lost_pages = prepare(self._connection, path)
            self._group = None if self.read_only else grouped(self._connection, self.place, durability)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Generator[LedgerConnection, None, None]:
        """The connection for queries."""
        outermost = not self._lock._is_owned()  # type: ignore[attr-defined] # what threading.Condition asks, too
        late: list[Callable[[], object]] = []
        try:
            with self._lock:
                if self._closed or (outermost and self._unfinished):
                    self._check()
                try:
                    yield self._connection
                except BaseException as error:
                    self._broken_off = True
                    if isinstance(error, (sqlite3.Error, *UNREADABLE)):
                        raise self._converted(error) from error
                    raise
                finally:
                    if outermost and self._late:
                        late, self._late = self._late, late
        finally:
            _make(late)

    @contextmanager
    def apart(self) -> Generator[LedgerConnection, None, None]:
        """A separate connection for a long query, so that no other thread waits for it. Within another block of the
        same thread, and in RAM, this is the connection of `reading`."""
        if self.place is None or self._lock._is_owned():  # type: ignore[attr-defined]
            with self.reading() as sql:
                yield sql
            return
        with self._lock:
            if self._closed or self._unfinished:
                self._check()
        try:
            with no_fork_meanwhile(), closing(connect(self.path)) as sql:
                others_ms = int(1_000 * left(PATIENCE_SECONDS))  # they may be recovering the write-ahead log
                sql.execute(f"PRAGMA busy_timeout = {others_ms}")
                yield sql
        except (sqlite3.Error, *UNREADABLE) as error:
            raise self._converted(error) from error

    @contextmanager
    def writing(
        self, *, announced: bool = False, recall_of: int = 0, unheard: bool = False
    ) -> Generator[LedgerConnection, None, None]:
        """The connection inside one transaction, which is committed as a whole or undone; then `on_failure` is called.

        Within another `writing` of the same thread this is a savepoint, and can fail alone. `on_write` is called first,
        unless the caller has `told` other processes, or will. `recall_of` is the key of the user whose recall this is:
        only that user's rows change, unless `news` records that it wrote more. With `unheard`, no rows change that
        others cache, except rows of the mirror.
        """
        if self.read_only:
            self.refuse_writing()
        kind, due = TransactionKind(announced, recall_of, unheard), list[Callable[[], object]]()
        if self._lock._is_owned():  # type: ignore[attr-defined] # what threading.Condition asks of a lock, too
            try:
                with self._transaction(due, kind, outermost=False) as sql:
                    yield sql
            finally:
                self._late += due
            return
        try:
            with self._queue.turn(left(PATIENCE_SECONDS)) as came:
                if not came:
                    raise self._converted(sqlite3.OperationalError("database is locked: others are writing it"))
                with self._transaction(due, kind, outermost=True) as sql:
                    yield sql
        finally:
            _make(due)
        if self._log.unchecked == 0:
            self.on_growth()
        if self._group is not None:
            self._make_durable(self._group)

    @contextmanager
    def _transaction(
        self, due: list[Callable[[], object]], kind: TransactionKind, *, outermost: bool
    ) -> Generator[LedgerConnection, None, None]:
        """One transaction, or a part of one. The caller has to make the calls in `due` without holding the lock."""
        wait: Callable[[], bool] | None = None
        while True:
            with self._lock:
                if self._closed or (outermost and self._unfinished):
                    self._check()
                inner, calls = self._connection.in_transaction, len(self._calls)
                try:
                    if self._begun(kind, inner=inner):
                        yield self._connection
                        self._keep(due, inner=inner)
                        return
                except BaseException as error:
                    if self._connection.in_transaction or isinstance(error, sqlite3.Error):
                        due.clear()  # else an interrupt came right after the commit
                    del self._calls[calls:]
                    self._undo(inner=inner)
                    self._broken_off = True
                    if isinstance(error, (sqlite3.Error, *UNREADABLE)):
                        raise self._converted(error) from error
                    raise
            wait = wait or pauses(PATIENCE_SECONDS)
            if not wait():
                raise self._converted(sqlite3.OperationalError("database is locked: another process is writing it"))

    def _make_durable(self, group: GroupCommit) -> None:
        """Wait for the sync to disk; other threads do not wait."""
        try:
            group.wait()
        except OSError as error:
            raise LedgerError(
                f"The ledger {self.path!r} cannot be synced to its disk: {reason(error)}. What was written is kept, "
                "but may be gone after a power cut. Check the disk."
            ) from error

    def afterwards(self, call: Callable[[], object]) -> None:
        """Make this call after the thread's transaction, if that is committed; at once if there is none."""
        with self._lock:
            if not self._closed and self._connection.in_transaction:
                self._calls.append(call)
                return
        call()

    def last_number(self, sql: sqlite3.Connection, table: str, column: str) -> int:
        """The largest number that a row of this table has ever had."""
        largest = f"SELECT coalesce(max({column}), 0) FROM {table}"  # noqa: S608 - our own names
        counted = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?"
        there, ever = sql.execute(largest).fetchone()[0], sql.execute(counted, (table,)).fetchone()[0]
        return max(int(there), int(ever))

    def now(self, sql: sqlite3.Connection) -> float:
        """POSIX seconds of the clock that all processes share."""
        return float(sql.execute("SELECT (julianday('now') - 2440587.5) * 86400.0").fetchone()[0])

    def lock(self, name: str) -> OsLock | None:
        """A lock for one process at a time among those that share the file; None in RAM."""
        return None if self.place is None else OsLock(self.place.with_name(f"{self.place.name}.{name}.lock"))

    def has_table(self, sql: sqlite3.Connection, table: str) -> bool:
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        return sql.execute(query, (table,)).fetchone() is not None

    def numbered(self, sql: sqlite3.Connection, table: str, column: str) -> None:
        """Do nothing: SQLite continues after the largest number by itself, even if rows were numbered by hand."""

    @property
    def place(self) -> Path | None:
        """The file itself; None for a ledger in RAM."""
        return database_file(self.path)

    def refuse_writing(self, _: str = "") -> NoReturn:
        raise LedgerError(
            f"The ledger {str(self.place)!r} is open for reading only, so nothing was written. To write, open the "
            "memory where its files may be written, without read_only=True."
        )

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._connection.close()
            self._left()

    def _check(self) -> None:
        """Raise if the file was closed; clean up after a block that an interrupt kept from doing so."""
        if self._closed:
            raise ClosedError("The ledger of this memory was closed. Open the memory again: AdaptiveMemory.open(...).")
        self._calls.clear()
        self._undo(inner=False)

    def _begun(self, kind: TransactionKind, *, inner: bool) -> bool:
        """Begin the transaction; return False if another process is writing."""
        if inner:
            self.news.part(kind)
            self._connection.execute("SAVEPOINT part")
        else:
            self._log.unchecked += 1 if kind.recall_of else RECALLS_WORTH
            if self._log.unchecked >= LOOK_EVERY:
                self._log.keep_short(self._connection)
            self._unfinished = True
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if not is_busy(error):
                    raise
                self._unfinished = False
                self._renew()
                return False
            if not kind.recall_of:  # a recall's `look` does it
                check_version(self._connection)
            self.news.begin(kind)
        if not kind.announced:
            self.on_write()
        return True

    def _renew(self) -> None:
        """Replace the connection. A traceback may keep an interrupted query alive, which holds the connection at an old
        snapshot. Once another process has written, that connection can no longer write."""
        if self._broken_off and self.place is not None:
            self._versions.forget()  # versions of the old connection don't fit the new one
            self.on_failure()
            old, new = self._connection, connect_again(self.path, self._connection)
            self._connection = new
            self._broken_off = False
            old.close()  # last: an interrupt may come between any two of these

    def _keep(self, due: list[Callable[[], object]], *, inner: bool) -> None:
        """Commit the transaction, and add the calls to make afterwards to `due`."""
        if inner:
            self._connection.execute("RELEASE part")
            return
        due += self._calls
        if self.news.wrote:
            self._connection.execute("UPDATE file_version SET version = version + 1")
        self._connection.execute("COMMIT")
        self._versions.kept()
        self.on_kept()
        self._unfinished = False
        self._calls = []

    def _undo(self, *, inner: bool) -> None:
        self._versions.forget()
        self.on_failure()
        if inner and self._connection.in_transaction:
            with suppress(sqlite3.OperationalError):  # an interrupt right after its end: everything is then undone
                self._connection.execute("ROLLBACK TO part")
                self._connection.execute("RELEASE part")
            return
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._unfinished = False

    def _converted(self, error: Exception) -> LedgerError:
        """The error as a LedgerError."""
        if shows_damage(error):
            return damaged(self.path, error)
        usual = "Check that its disk has room and may be written."
        return LedgerError(
            f"The ledger {self.path!r} failed: {reason(error)}. Nothing of this call was kept in it. "
            f"{sqlite_files.out_of_descriptors() or usual}"
        )


def _make(calls: list[Callable[[], object]]) -> None:
    while calls:
        calls[0]()
        del calls[0]


LOOK_SECONDS = 0.05  # between checks that the writers ahead are still waiting
_of_files: weakref.WeakValueDictionary[tuple[int, Path], WriteQueue] = weakref.WeakValueDictionary()


def queue_of(place: Path | None) -> WriteQueue:
    """The queue for writing a file, shared by all its connections in this process; a ledger in RAM has its own."""
    return WriteQueue() if place is None else _of_files.setdefault((os.getpid(), place.resolve()), WriteQueue())


class WriteQueue:
    """A queue of writers, first come, first served. Places are weak references: an interrupted call leaves none."""

    def __init__(self) -> None:
        self._moment = threading.RLock()  # a finalizer may interrupt it
        self._line: deque[weakref.ref[_Place]] = deque()

    @contextmanager
    def turn(self, seconds: float) -> Generator[bool, None, None]:
        """Wait for the turn, and give it back after the block; yields False if it did not come within `seconds`."""
        place = _Place()
        try:
            with self._moment:
                self._line.append(weakref.ref(place))
            yield self._line[0]() is place or self._waited(place, seconds)
        finally:
            with self._moment, suppress(ValueError):
                self._line.remove(weakref.ref(place))
            if self._line and (after := self._first()) is not None:
                with suppress(RuntimeError):  # it was called already
                    after.called.release()

    def _waited(self, place: _Place, seconds: float) -> bool:
        began = time.monotonic()
        try:
            while self._first() is not place:
                left = began + seconds - time.monotonic()
                if left <= 0:
                    return False
                place.called.acquire(timeout=min(left, LOOK_SECONDS))
            return True
        finally:
            have_waited(time.monotonic() - began)

    def _first(self) -> _Place | None:
        with self._moment:
            while self._line:
                first = self._line[0]()
                if first is not None:
                    return first
                self._line.popleft()
            return None


class _Place:
    """A place in the queue; releasing the lock `called` wakes its thread."""

    __slots__ = ("__weakref__", "called")

    def __init__(self) -> None:
        self.called = threading.Lock()
        self.called.acquire()
