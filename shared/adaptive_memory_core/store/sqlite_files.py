"""Checks of SQLite's files while SQLite has them open: header and length, lost commits, file descriptors.

The operating system releases all of a process's locks on a file, including SQLite's, as soon as the process closes any
descriptor of it. Another process could then remove the write-ahead log of a ledger in use, and later commits would be
lost silently. So the files are read through descriptors that are closed last.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
import sys
import threading
import warnings
import weakref
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_guard = threading.RLock()  # garbage collection, and with it `_leave`, can interrupt any code
_users: dict[Path, int] = {}
_descriptors: dict[Path, dict[tuple[int, int], int]] = {}  # of each file in use, by device and inode


def hold_open(user: object, place: Path | None) -> weakref.finalize:  # type: ignore[type-arg]
    """Note that SQLite has the file open, or soon will; call the returned finalizer after SQLite has closed it."""
    if place is None:
        return weakref.finalize(user, int)
    known = place.resolve()
    with _guard:
        _users[known] = _users.get(known, 0) + 1
    done = weakref.finalize(user, _leave, known, os.getpid())
    done.atexit = False
    return done


def head_of(file: Path, length: int) -> bytes:
    """The first bytes of a file; raises FileNotFoundError if it does not exist."""
    place = file.resolve()
    main = place.with_name(place.name.removesuffix("-shm"))
    with _guard:
        if main not in _users:
            with file.open("rb") as content:
                return content.read(length)
        kept = _descriptors.setdefault(main, {})
        found = os.stat(file)
        one = (found.st_dev, found.st_ino)
        if one not in kept:
            kept[one] = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        os.lseek(kept[one], 0, os.SEEK_SET)
        return os.read(kept[one], length)


def _leave(place: Path, process: int) -> None:
    if process != os.getpid():
        return
    with _guard:
        _users[place] -= 1
        if _users[place]:
            return
        del _users[place]
        for one in _descriptors.pop(place, {}).values():
            with suppress(OSError):
                os.close(one)


def _forked() -> None:
    """In a child after a fork: forget the parent's locks and connections, which the child cannot use."""
    global _guard  # noqa: PLW0603 - a thread of the parent may hold it
    _guard = threading.RLock()
    _users.clear()
    _descriptors.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


_MAGIC = b"SQLite format 3\x00"
_LENGTH = 100


def header_fault(file: Path) -> str | None:
    """The fault of the file as a whole; None if it is sound, new or empty.

    While there is a journal, the length may differ: SQLite corrects it on opening. Others may change the file
    meanwhile, so a fault counts only if the header is the same before and after.
    """
    with suppress(FileNotFoundError):
        while file.is_file():
            head = head_of(file, _LENGTH)
            fault = _fault(head, file)
            if fault is None or head_of(file, _LENGTH) == head:
                return fault
    return None


def _fault(head: bytes, file: Path) -> str | None:
    """The fault of a file with this header. The journal is checked before the length, because SQLite deletes it only
    after the file is complete."""
    if not head:
        return None
    if not head.startswith(_MAGIC) or len(head) < _LENGTH:
        return "it is not an SQLite file"
    page = int.from_bytes(head[16:18], "big")
    pages, counted_at, changed = (int.from_bytes(head[at : at + 4], "big") for at in (28, 92, 24))
    expected = pages * (65_536 if page == 1 else page)
    if counted_at != changed or _journal(file) or (size := file.stat().st_size) >= expected:
        return None
    return f"it is torn: {size} bytes of {expected}"


def _journal(file: Path) -> bool:
    journals = [file.with_name(file.name + ending) for ending in ("-wal", "-journal")]
    return any(one.exists() and one.stat().st_size for one in journals)


_WAL_HEADER, _FRAME_HEADER = 32, 24
_INDEX = struct.Struct("=12xBBHIIII8s")  # of the shared index: isInit .. mxFrame, nPage, checksum, salts
_BACKFILLED_AT = 96  # in the shared index: pages already in the main file
Salt = bytes


@dataclass(frozen=True, slots=True)
class NotedCommits:
    """The commits in a write-ahead log, according to the log or its index: its salt, the last page of the last commit,
    and how many pages are already in the main file. `there` says whether the log itself exists, and not only its
    index."""

    salt: Salt
    pages: int
    kept: int
    there: bool = True


def commits_noted(file: Path) -> NotedCommits | None:
    """The commits that the log and its index show before SQLite opens them; None if there is neither."""
    index, wal, again = _index(file), _wal(file), _index(file)
    if index is not None and (again is None or again.salt != index.salt):
        return commits_noted(file)  # the log was restarted in between, so the two don't match
    if index is None or (wal is not None and wal.salt != index.salt):
        return wal
    return NotedCommits(index.salt, max(index.pages, 0 if wal is None else wal.pages), index.kept, wal is not None)


def commits_in_index(file: Path) -> NotedCommits | None:
    """The commits that the index alone shows, which is right while SQLite has the file open; None if it is empty."""
    return _index(file)


def lost_commits(file: Path, before: NotedCommits | None) -> int:
    """How many committed pages SQLite left out when it opened the file."""
    if before is None or before.pages <= before.kept:
        return 0
    after, wal = _index(file), _wal(file)
    ended = before.there and (wal is None or (after is not None and after.salt != before.salt))
    if ended or (wal is not None and wal.salt != before.salt):
        return 0  # the log was emptied or restarted, so its pages are in the main file
    return max(0, before.pages - (0 if after is None else after.pages))


def warn_of_lost_commits(file: Path, pages: int) -> None:
    """Warn of the lost commits, and copy the torn log before it is overwritten."""
    wal, copy = file.with_name(file.name + "-wal"), file.with_name(file.name + "-wal.torn")
    kept = wal.exists() and wal.stat().st_size > 0
    if kept:
        shutil.copyfile(wal, copy)
    warnings.warn(
        f"The write-ahead log of the ledger {str(file)!r} is torn: SQLite left out {pages} pages that had been "
        "committed, so the last recalls are not counted in it. Reads that the collection's metadata show are taken "
        "from there. " + (f"The torn log is kept as {copy.name!r}." if kept else "The log itself is gone."),
        RuntimeWarning,
        stacklevel=2,
    )


def _index(file: Path) -> NotedCommits | None:
    shared = file.with_name(file.name + "-shm")
    try:
        content = head_of(shared, _BACKFILLED_AT + 4)
    except FileNotFoundError:  # also if the last user of the ledger is just closing it
        content = b""
    if len(content) < _BACKFILLED_AT + 4:
        return None
    ready, _, _, pages, _, _, _, salt = _INDEX.unpack(content[: _INDEX.size])
    kept = int.from_bytes(content[_BACKFILLED_AT:], sys.byteorder)
    return NotedCommits(salt, pages, kept) if ready else None


def _wal(file: Path) -> NotedCommits | None:
    """The last commit that the frame headers of the log show."""
    log = file.with_name(file.name + "-wal")
    try:
        content = log.open("rb")
    except FileNotFoundError:
        return None
    with content:
        head = content.read(_WAL_HEADER)
        if len(head) < _WAL_HEADER:
            return None
        step, salt, pages, last = _FRAME_HEADER + int.from_bytes(head[8:12], "big"), head[16:24], 0, 0
        while len(frame := content.read(_FRAME_HEADER)) == _FRAME_HEADER and frame[8:16] == salt:
            pages += 1
            last = pages if any(frame[4:8]) else last
            content.seek(_WAL_HEADER + pages * step)
        whole = (os.fstat(content.fileno()).st_size - _WAL_HEADER) // step
    return NotedCommits(salt, min(last, whole), 0)


try:
    import resource
except ImportError:  # Windows, which has other limits
    resource = None  # type: ignore[assignment]

HINT = (
    "This process has run out of file descriptors{limit}. Close what is no longer used: one memory and one Chroma "
    "client will do for all requests (docs/guides/operations.md). Or allow more: ulimit -n 4096."
)


def out_of_descriptors() -> str | None:
    """A hint if no more file descriptors can be opened; else None."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            limit = "" if resource is None else f" (it may have {resource.getrlimit(resource.RLIMIT_NOFILE)[0]})"
            return HINT.format(limit=limit)
    return None
