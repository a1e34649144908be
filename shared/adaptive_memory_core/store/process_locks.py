"""Locks between processes: file locks, one holder per Chroma directory, and no fork during a transaction.

The file lock is written here because of interrupts: after an interrupt at any step, `give_back` cleans up, because the
open file is stored before it is locked. `give_back` may be called twice, and by a later caller.

SQLite stores in the process's memory which locks it has on a file, and a child inherits this note without the locks. If
it were forked during another thread's transaction, any connection it opens to that file would wait forever.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EAGAIN, EDEADLK
from io import FileIO
from pathlib import Path
from typing import Any, NoReturn

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import StoreError, StoreInUseError

POLL_SECONDS = 0.002  # between two tries
TAKEN_ERRORS = (EACCES, EAGAIN, EDEADLK)  # the error codes if another process has the lock

if sys.platform == "win32":  # pragma: no cover - by the platform's own tests
    import msvcrt

    def _lock(file: FileIO) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    def _unlock(file: FileIO) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


class OsLock:
    """A lock on one file, which is created if it does not exist. Threads need a separate lock around it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     ours, theirs = OsLock(Path(directory) / "lock"), OsLock(Path(directory) / "lock")
    ...     print(ours.take(), theirs.take())
    ...     ours.give_back()
    ...     print(theirs.take())
    ...     theirs.give_back()
    True False
    True
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIO | None = None
        _all.add(self)

    def take(self, patience_seconds: float = 0.0) -> bool:
        """Try to take the lock for up to `patience_seconds`; return whether it was taken."""
        deadline = time.monotonic() + patience_seconds
        while not self._taken():
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def give_back(self) -> None:
        """Release the lock, if it is taken."""
        file = self._file
        if file is not None and not file.closed:
            _unlock_and_close(file)
        self._file = None

    def _taken(self) -> bool:
        self.give_back()
        self._file = FileIO(self._path, "ab")
        try:
            _lock(self._file)
            if _is_in_place(self._file, self._path):
                return True
        except OSError as error:
            if error.errno not in TAKEN_ERRORS:
                self.give_back()
                raise
        self.give_back()
        return False

    def _forget(self) -> None:
        """In a child after a fork: close the file without unlocking it, because the lock is the parent's."""
        if self._file is not None:
            self._file.close()
            self._file = None


_all: weakref.WeakSet[OsLock] = weakref.WeakSet()


def _unlock_and_close(file: FileIO) -> None:
    """Unlock the file before closing it: a process that was just forked may still have it open."""
    try:
        _unlock(file)
    except OSError:  # it was not locked
        file.close()
    finally:
        file.close()


def _is_in_place(file: FileIO, path: Path) -> bool:
    """Whether the path still leads to this file. Another process may have removed it after it was opened."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _forget_all() -> None:
    for lock in list(_all):
        lock._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


LOCK_NAME = "adaptive_memory.lock"
_held: dict[Path, tuple[OsLock, int, int]] = {}
_used: set[int] = set()  # processes that used embedded Chroma: this one, or those that it was forked from
_guard = threading.Lock()


def claim(directory: Path) -> None:
    """Take an embedded directory for this process; its memories share it. Raises if another process holds it."""
    if not claimed(directory):
        refuse(directory, "and this one has to be alone with it")


def never_claim() -> None:
    """In a child after a fork: let this process take no directory. Its parent used embedded Chroma, whose threads are
    missing in the child, so Chroma would wait for them forever."""
    _used.add(os.getppid())


def refuse(directory: Path, why: str) -> NoReturn:
    """Raise an error that another process has the directory open, and say what to do."""
    place = directory.resolve()
    if _used - {os.getpid()}:
        raise StoreInUseError(
            "This process was forked from one that had used embedded Chroma, so it cannot open Chroma in "
            f"{str(place)!r}, {why}. Start it with multiprocessing's spawn method, or fork before Chroma is used. If "
            "another process makes the collection first, this one needs only the ledger next to it."
        )
    raise StoreInUseError(
        f"Another process has {str(place)!r} open, {why}. Embedded Chroma is for one process: a second one reads a "
        "stale index and can damage it. Close the other one; or let both use the ledger next to it, as "
        "AdaptiveMemory.open does without ledger=; or start a server with "
        f"`chroma run --path {place}` and give every process AdaptiveMemory(chromadb.HttpClient()."
        "get_collection(...), ledger=<one file for all>)."
    )


def claimed(directory: Path) -> bool:
    """Take the directory unless another process holds it; return whether this process holds it. It is freed when the
    process dies.

    A process that was forked from the holder does not share the lock, and never takes one: see `never_claim`.
    """
    if _used - {os.getpid()}:
        return False
    place = directory.resolve()
    with _guard:
        lock, users, pid = _held.get(place, (OsLock(place / LOCK_NAME), 0, os.getpid()))
        if pid != os.getpid():  # inherited by a fork: the lock is the parent's
            lock, users = OsLock(place / LOCK_NAME), 0
        if users == 0 and not _taken(lock, place):
            return False
        _held[place] = (lock, users + 1, os.getpid())
        _used.add(os.getpid())
        return True


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """Hold the directory for this process while it is being opened. It is created if it does not exist."""
    _make(directory)
    claim(directory)
    try:
        yield
    finally:
        release(directory)


@contextmanager
def held_if_free(directory: Path) -> Iterator[bool]:
    """Like `held`, but yield False if another process holds the directory."""
    _make(directory)
    holds = claimed(directory)
    try:
        yield holds
    finally:
        if holds:
            release(directory)


def release(directory: Path) -> None:
    """Release one use of the directory; the last one frees it for other processes."""
    place = directory.resolve()
    with _guard:
        if place not in _held or _held[place][2] != os.getpid():
            return
        lock, users, pid = _held.pop(place)
        if users > 1:
            _held[place] = (lock, users - 1, pid)
        else:
            lock.give_back()


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{str(directory)!r} cannot be created: {reason(error)}. Give a directory that may be written."
        ) from error


def _taken(lock: OsLock, place: Path) -> bool:
    try:
        return lock.take()
    except OSError as error:
        raise StoreError(
            f"{str(place)!r} cannot be locked: {reason(error)}. Give a directory that may be written."
        ) from error


MOST_SECONDS = 10.0  # for which a fork waits for one lock; then it continues

_moment = threading.RLock()
_locks: weakref.WeakSet[Any] = weakref.WeakSet()  # RLocks
_locks_taken: list[Any] = []


def await_before_forks(lock: Any) -> None:
    """Let forks of this process wait while another thread has this lock (an RLock)."""
    with _moment:
        _locks.add(lock)


@contextmanager
def no_fork_meanwhile() -> Generator[None, None, None]:
    """Let forks by other threads wait until the end of this block."""
    lock = threading.RLock()
    await_before_forks(lock)
    with lock:
        yield


def _before() -> None:
    _moment.acquire()
    _locks_taken.extend(lock for lock in list(_locks) if lock.acquire(timeout=MOST_SECONDS))


def _after() -> None:
    while _locks_taken:
        with suppress(RuntimeError):
            _locks_taken.pop().release()
    _moment.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
