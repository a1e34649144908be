"""Did SQLite drop committed transactions? It ends a torn write-ahead log at the first bad page, silently."""

from __future__ import annotations

import os
import shutil
import struct
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

from adaptive_memory_core.store import held_files

_WAL_HEADER, _FRAME_HEADER = 32, 24
_INDEX = struct.Struct("=12xBBHIIII8s")  # of the shared index: isInit .. mxFrame, nPage, checksum, salts
_BACKFILLED_AT = 96  # in the shared index: pages that stand in the main file by now
Salt = bytes


@dataclass(frozen=True, slots=True)
class Log:
    """How much a write-ahead log is said to hold: its salt, the last page of its last commit, and how many of its pages
    stand in the main file already. `there` says that the log itself is there, and not its index alone."""

    salt: Salt
    pages: int
    kept: int
    there: bool = True


def said(file: Path) -> Log | None:
    """What the log, and the index beside it, say before SQLite opens them; None where there is neither."""
    index, wal, again = _index(file), _wal(file), _index(file)
    if index is not None and (again is None or again.salt != index.salt):
        return said(file)  # somebody ended the log in between, so the two are not of one moment
    if index is None or (wal is not None and wal.salt != index.salt):
        return wal
    return Log(index.salt, max(index.pages, 0 if wal is None else wal.pages), index.kept, wal is not None)


def said_by_index(file: Path) -> Log | None:
    """What the index alone says, which is right while SQLite has the file open; None where it says nothing yet."""
    return _index(file)


def lost(file: Path, before: Log | None) -> int:
    """How many pages of commits SQLite left out on opening the file."""
    if before is None or before.pages <= before.kept:
        return 0
    after, wal = _index(file), _wal(file)
    ended = before.there and (wal is None or (after is not None and after.salt != before.salt))
    if ended or (wal is not None and wal.salt != before.salt):
        return 0  # somebody else has ended the log or begun a new one, so it is in the main file
    return max(0, before.pages - (0 if after is None else after.pages))


def warn_of_lost_commits(file: Path, pages: int) -> None:
    """Say what is lost, and keep a copy of the torn log before it is written over."""
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


def _index(file: Path) -> Log | None:
    shared = file.with_name(file.name + "-shm")
    try:
        content = held_files.head(shared, _BACKFILLED_AT + 4)
    except FileNotFoundError:  # also where whoever used the ledger last is letting go of it just now
        content = b""
    if len(content) < _BACKFILLED_AT + 4:
        return None
    ready, _, _, pages, _, _, _, salt = _INDEX.unpack(content[: _INDEX.size])
    kept = int.from_bytes(content[_BACKFILLED_AT:], sys.byteorder)
    return Log(salt, pages, kept) if ready else None


def _wal(file: Path) -> Log | None:
    """What the heads of the log's pages say: up to which a commit ends."""
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
    return Log(salt, min(last, whole), 0)
