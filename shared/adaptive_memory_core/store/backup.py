"""Backups of a memory while it is in use: all files of its directory, and the ledger.

A backup gets its final name only after all files are on disk and have been read back. The ledger is copied last: a read
reaches the ledger before the collection, so the ledger must never be older than its collection.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import AdaptiveMemoryError, InvalidInputError, StoreError
from adaptive_memory_core.store.chroma import chroma_database, index_files
from adaptive_memory_core.store.chroma.chroma_calls import only_writer
from adaptive_memory_core.store.chroma.collection_repair import ASIDE
from adaptive_memory_core.store.ledger.sql_ledger import SQLiteLedger
from adaptive_memory_core.store.locations import LEDGER_NAME

DATABASES = (".sqlite3", ".sqlite", ".db")
LEFT_OUT = (
    ".lock",
    ".locks",
    "-wal",
    "-shm",
    "-journal",
    ".torn",
    ".copies",
)  # files of running processes, included in a database's copy, or rebuilt from it
UNFINISHED = ".unfinished"
LOOKS = 3  # attempts: another program that writes into the collection cannot be blocked
Progress = Callable[[int, int], object]


def back_up(directory: Path, ledger: Path, target: Path, progress: Progress | None = None) -> Path:
    """Copy a directory and its ledger to a new directory that can be opened instead; return its path.

    `progress` is called with the number of bytes copied and the total. If anything fails, nothing is left under the
    target's name.
    """
    _check(directory, target)
    aside = target.with_name(target.name + UNFINISHED)
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        _copy_whole(directory, ledger, aside, progress)
        if target.exists():
            target.rmdir()
        aside.rename(target)
        _sync(target.parent)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"The memory cannot be backed up to {str(target)!r}: {reason(error)}. Nothing was left there. "
            "Give a directory on a writable disk with enough room."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target


def _check(directory: Path, target: Path) -> None:
    inside = target.resolve().is_relative_to(directory.resolve())
    if inside or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise InvalidInputError(
            f"{str(target)!r} {'is inside the memory' if inside else 'already exists'}. Give a directory that "
            "does not exist yet, or is empty, outside the memory's directory."
        )


def _copy_whole(directory: Path, ledger: Path, aside: Path, progress: Progress | None) -> None:
    """Copy until the copy is consistent; another program may write into the collection meanwhile."""
    for look in range(1, LOOKS + 1):
        with only_writer(directory):
            _copy(directory, ledger, aside, _Counted(progress, _size(directory, ledger)))
        wrong = _faults(aside)
        if not wrong:
            return
        if look == LOOKS:
            raise StoreError(
                f"The copy of {str(directory)!r} is not whole: {' '.join(wrong)} Nothing was left there. If "
                "the memory itself is damaged (memory.check() reports it), repair it first. Otherwise pause the "
                "program that keeps writing into the collection."
            )


def _copy(directory: Path, ledger: Path, aside: Path, copied: _Counted) -> None:
    for file in _files(directory, ledger):
        place = aside / file.relative_to(directory)
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix in DATABASES:
            _copy_database(file, place)
        else:
            shutil.copy2(file, place)
        _sync(place)
        copied(file)
    _copy_database(ledger, aside / LEDGER_NAME)
    _sync(aside / LEDGER_NAME)
    copied(ledger)


def _files(directory: Path, ledger: Path) -> Iterator[Path]:
    """All files of the directory except the ledger, files that a repair put aside, and files of running processes.
    Chroma's database comes before its index: the index may be newer than the database, but not older."""
    found = [one for one in sorted(directory.rglob("*")) if one.is_file() and not _is_left_out(one, directory)]
    found = [one for one in found if one.resolve() != ledger.resolve() and one.name != LEDGER_NAME]
    yield from sorted(found, key=lambda one: one.suffix not in DATABASES)


def _is_left_out(file: Path, directory: Path) -> bool:
    parts = file.relative_to(directory).parts
    return parts[0] == ASIDE or any(one.endswith(LEFT_OUT) for one in parts)


def _size(directory: Path, ledger: Path) -> int:
    return sum(one.stat().st_size for one in [*_files(directory, ledger), ledger])


def _copy_database(file: Path, place: Path) -> None:
    """Copy the database as of one moment, even while others write to it."""
    place.unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=rw", uri=True, timeout=10.0)) as source,
        closing(sqlite3.connect(place)) as copy,
    ):
        source.backup(copy, pages=-1)
        copy.execute("PRAGMA journal_mode = DELETE")


def _faults(copy: Path) -> list[str]:
    """The faults found in the copy, after reading all of it."""
    wrong = chroma_database.database_faults(copy)
    for one in [] if wrong else chroma_database.collection_ids(copy):
        held = chroma_database.contents(copy, one)
        wrong += [] if held is None else index_files.index_faults(held)
    try:
        ledger = SQLiteLedger(str(copy / LEDGER_NAME))
    except AdaptiveMemoryError as error:
        return [*wrong, str(error)]
    with closing(ledger):
        return [*wrong, *ledger.faults()]


def _sync(place: Path) -> None:
    with suppress(PermissionError):  # a directory, on some systems
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class _Counted:
    """Reports how many bytes of the total have been copied."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self, file: Path) -> None:
        self._done += file.stat().st_size
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)
