"""Copies of a user's vectors or words in files next to the ledger: arrays mapped into memory, written in the
background.

A file has the same content as the rows it was made from, and is faster to read. If it is missing, torn, or contains a
record removed since, the rows are read instead. The mapping is private: writing into an array does not change the file.
Each array has room for later rows; the room takes no disk space until the file is copied by a program that fills holes.
"""

from __future__ import annotations

import mmap
import os
import threading
import time
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from adaptive_memory_core.flow.ports.ledger_values import FileKind, UserFile
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.background import Going

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.cached_copies import LedgerUserFiles

MAGIC = b"adaptive-memory arrays 1\n"
PAGE = 4_096
ROOM = 1 / 16  # for later rows, as a share of the present rows
LEAST_ROOM = 1_024
Array = Any


@dataclass(frozen=True, slots=True)
class Arrays:
    """The content of a file. The arrays may have room for more rows than `sizes` says are used."""

    notes: Mapping[str, Any]
    arrays: Mapping[str, Array]
    sizes: Mapping[str, int]

    def __getitem__(self, name: str) -> Array:
        """An array without the spare room at its end."""
        return self.arrays[name][: self.sizes[name]]


def write(place: Path, notes: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write arrays and notes into a new file."""
    layout, end = {}, 0
    for name, one in arrays.items():
        layout[name] = (one.dtype.str, one.shape, end, _sum(one))
        end = _whole_pages(end + _with_room(len(one)) * _row_bytes(one))
    head = orjson.dumps({"notes": notes, "arrays": layout, "bytes": end})
    start = _whole_pages(len(MAGIC) + 12 + len(head))
    with place.open("xb") as file:
        file.write(MAGIC + len(head).to_bytes(8, "little") + zlib.crc32(head).to_bytes(4, "little") + head)
        for (_, _, offset, _), one in zip(layout.values(), arrays.values(), strict=True):
            file.seek(start + offset)
            file.write(np.ascontiguousarray(one).data.cast("B") if one.size else b"")
        file.truncate(start + end)


def load(place: Path) -> Arrays | None:
    """The content of a file; None if it is missing or damaged."""
    try:
        with place.open("rb") as file:
            head = _head(file.read(len(MAGIC) + 12), file)
            start = _whole_pages(file.tell())
            if os.fstat(file.fileno()).st_size != start + head["bytes"]:
                return None
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        arrays, sizes = {}, {}
        for name, (kind, shape, offset, total) in head["arrays"].items():
            arrays[name] = _mapped(mapped, np.dtype(kind), shape, start + offset)
            sizes[name] = shape[0]
            if _sum(arrays[name][: shape[0]]) != total:
                return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Arrays(head["notes"], arrays, sizes)


def packed(texts: Iterable[str]) -> Array:
    """The texts as one array of bytes.

    >>> unpacked(packed(["tea", "", "caf\u00e9"]))
    ['tea', '', 'caf\u00e9']
    """
    return np.frombuffer(orjson.dumps(list(texts)), dtype=np.uint8)


def unpacked(array: Array) -> list[str]:
    found: list[str] = orjson.loads(array.tobytes())
    return found


def _head(begin: bytes, file: Any) -> Any:
    if begin[: len(MAGIC)] != MAGIC:
        raise ValueError("it is a file of another kind")
    length, checksum = int.from_bytes(begin[-12:-4], "little"), int.from_bytes(begin[-4:], "little")
    head = file.read(min(length, 1 << 24))
    if zlib.crc32(head) != checksum:
        raise ValueError("it is torn")
    return orjson.loads(head)


def _mapped(mapped: mmap.mmap, kind: Any, shape: list[int], start: int) -> Array:
    rows = _with_room(shape[0])
    count = rows * int(np.prod(shape[1:], dtype=np.int64))
    return np.frombuffer(mapped, dtype=kind, count=count, offset=start).reshape(rows, *shape[1:])


def _with_room(rows: int) -> int:
    return rows + max(LEAST_ROOM, int(rows * ROOM))


def _row_bytes(array: Array) -> int:
    return int(array.dtype.itemsize * np.prod(array.shape[1:], dtype=np.int64))


def _whole_pages(size: int) -> int:
    return -(-size // PAGE) * PAGE


def _sum(array: Array) -> int:
    """A checksum that changes with any single bit: the array as 64-bit numbers, added up.

    >>> _sum(np.array([1, 2], dtype=np.int64)), _sum(np.array([1], dtype=np.uint8))
    (3, 1)
    """
    whole = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    cut = len(whole) // 8 * 8
    total = int(whole[:cut].view(np.uint64).sum(dtype=np.uint64)) + int.from_bytes(whole[cut:].tobytes(), "little")
    return total % 2**64


GROWN = 1.05  # growth since the file was written after which a new one is made: before its room is full


class CopiedUser(NamedTuple):
    """The content to write into a file; `arrays` makes the arrays, which may take a while."""

    owner: int
    written: int
    removed: int
    notes: Mapping[str, Any]
    arrays: Callable[[], Mapping[str, Any]]


@dataclass(frozen=True)
class UserCopies:
    """The files of one kind. Users with fewer records than `least` have none, because reading their rows is as fast."""

    kind: FileKind
    files: LedgerUserFiles
    keeper: UserFilesKeeper
    least: int

    def read(self, scope: Scope) -> tuple[UserFile, Arrays] | None:
        """The user's file and its arrays; None if there is no usable file."""
        found = self.files.find(scope, self.kind) if self.least else None
        if found is None:
            return None
        arrays = load(found.place)
        if arrays is None:
            self.files.drop(found)
            return None
        return found, arrays

    def is_due(self, records: int, in_file: int) -> bool:
        """Whether a user with this many records needs a new file, given the number of records in the present one."""
        return 0 < self.least <= records and records > GROWN * in_file

    def ask(
        self, scope: Scope, take: Callable[[], CopiedUser | None], adopt: Callable[[UserFile, Arrays], object]
    ) -> None:
        """Schedule writing a file of what `take` returns; `adopt` then gets the file and its arrays."""
        self.keeper.ask((self.kind, scope), lambda: self._write(scope, take, adopt))

    def _write(
        self, scope: Scope, take: Callable[[], CopiedUser | None], adopt: Callable[[UserFile, Arrays], object]
    ) -> None:
        taken = take()
        if taken is None:
            return
        there = self.files.find(scope, self.kind)
        if there is None or there.owner != taken.owner or there.written < taken.written:
            there = self._written(taken)
        arrays = None if there is None else load(there.place)
        if there is not None and arrays is not None:
            adopt(there, arrays)

    def _written(self, taken: CopiedUser) -> UserFile | None:
        place = self.files.new(taken.owner, self.kind)
        if place is None:
            return None
        try:
            write(place, taken.notes, taken.arrays())
            return self.files.keep(self.kind, UserFile(place, taken.owner, taken.written, taken.removed))
        except OSError:  # the disk is full or not writable: then there is no file
            with suppress(OSError):
                place.unlink(missing_ok=True)
            return None


AGAIN_SECONDS = 60.0  # between two files of one user; guess
SHARE = 100.0  # or this many times as long as the last one took
MOST_PACED = 1_000  # users for whom a pause is stored


class UserFilesKeeper:
    """A chore that writes each requested file once, and the next one of that user after a pause.

    >>> keeper, written = UserFilesKeeper(), []
    >>> keeper.ask("ana", lambda: written.append("ana")); keeper.ask("ana", lambda: written.append("again"))
    >>> keeper.work(lambda: True); keeper.ask("ana", lambda: written.append("too soon")); written
    ['ana']
    >>> keeper.wait() > 50.0
    True
    """

    name = "copies in files"

    def __init__(self) -> None:
        self.wake: Callable[[], object] = int
        self._asked: dict[Hashable, Callable[[], object]] = {}
        self._not_before: dict[Hashable, float] = {}
        self._moment = threading.Lock()

    def ask(self, user: Hashable, write: Callable[[], object]) -> None:
        """Schedule this call, unless one is already scheduled for the user."""
        if user in self._asked:
            return
        with self._moment:
            self._asked[user] = write
        self.wake()

    def wait(self) -> float | None:
        """Seconds until the next file may be written."""
        if not self._asked:
            return None
        with self._moment:
            first = min(self._not_before.get(one, 0.0) for one in self._asked)
        return max(0.0, first - time.monotonic())

    def work(self, _going: Going) -> None:
        """Write one file."""
        now = time.monotonic()
        with self._moment:
            user = next((one for one in self._asked if self._not_before.get(one, 0.0) <= now), None)
            write = None if user is None else self._asked.pop(user)
        if write is not None:
            write()
            self._pause(user, now)

    def _pause(self, user: Hashable, began: float) -> None:
        took = time.monotonic() - began
        with self._moment:
            if len(self._not_before) >= MOST_PACED:
                self._not_before.clear()
            self._not_before[user] = began + max(AGAIN_SECONDS, SHARE * took)
