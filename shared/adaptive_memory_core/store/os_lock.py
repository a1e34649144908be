"""How does one process keep all others out of something? By the operating system's lock on a file, freed when it dies.

Ours, and no library's, for the sake of interrupts: whatever was broken off at whatever step, `give_back` makes good,
because the open file is kept before it is locked. It may be called twice, and by whoever comes next.
"""

from __future__ import annotations

import os
import sys
import time
import weakref
from collections.abc import Callable
from errno import EACCES, EAGAIN, EDEADLK
from io import FileIO
from pathlib import Path

POLL_SECONDS = 0.002  # between two tries
TAKEN_ERRORS = (EACCES, EAGAIN, EDEADLK)  # what systems answer where somebody else has the lock

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
    """The lock on one file, which is made where there is none. Threads need a lock of their own before it.

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
        """Whether it is ours now; waits so long for whoever has it."""
        deadline = time.monotonic() + patience_seconds
        while not self._taken():
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def give_back(self) -> None:
        """Let others have it. Nothing, where it is not taken."""
        file = self._file
        if file is not None and not file.closed:
            _let_go(file)
        self._file = None

    def is_kept(self) -> bool:
        """The operating system takes it from nobody who lives."""
        return True

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
        """In a child after a fork: the lock is the parent's, also once that has died."""
        if self._file is not None:
            self._file.close()
            self._file = None


def locks_beside(place: Path | None) -> Callable[[str], OsLock | None]:
    """The lock of each name, in a folder beside a file; none beside what is in RAM."""

    def lock(name: str) -> OsLock | None:
        if place is None:
            return None
        folder = place.with_name(f"{place.name}.locks")
        folder.mkdir(exist_ok=True)
        return OsLock(folder / f"{name}.lock")

    return lock


_all: weakref.WeakSet[OsLock] = weakref.WeakSet()


def _let_go(file: FileIO) -> None:
    """Unlock it before it is closed: a process that was forked just now may still have it open."""
    try:
        _unlock(file)
    except OSError:  # it was not locked
        file.close()
    finally:
        file.close()


def _is_in_place(file: FileIO, path: Path) -> bool:
    """Whether others who try will meet this file; somebody may have removed it after it was opened."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _forget_all() -> None:
    for lock in list(_all):
        lock._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
