"""Which process may touch the Chroma in a directory? The one that holds its lock: one for each embedded directory."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from adaptive_memory_core.errors import StoreError, StoreInUseError
from adaptive_memory_core.shown_in_errors import reason
from adaptive_memory_core.store.os_lock import OsLock

LOCK_NAME = "adaptive_memory.lock"
_held: dict[Path, tuple[OsLock, int, int]] = {}
_guard = threading.Lock()


def claim(directory: Path) -> None:
    """Take an embedded directory for this process; several memories of one process share it."""
    if not claimed(directory):
        refuse(directory, "and this one has to be alone with it")


def refuse(directory: Path, why: str) -> NoReturn:
    """Say that another process has the directory, and what can be done."""
    place = directory.resolve()
    raise StoreInUseError(
        f"Another process has {str(place)!r} open, {why}. Embedded Chroma is for one process: a second one reads a "
        "stale index and can damage it. Close the other one; or let both use the ledger beside it, as "
        "AdaptiveMemory.open does without ledger=; or start a server with "
        f"`chroma run --path {place}` and give every process AdaptiveMemory(chromadb.HttpClient()."
        "get_collection(...), ledger=<one file for all>)."
    )


def claimed(directory: Path) -> bool:
    """Take it where no other process has it; whether it is this one's now. It is freed when the process dies.

    A process that was forked from the holder has nothing of the lock, so it neither holds it nor keeps it from others.
    """
    place = directory.resolve()
    with _guard:
        lock, users, pid = _held.get(place, (OsLock(place / LOCK_NAME), 0, os.getpid()))
        if pid != os.getpid():  # inherited by a fork: the lock is the parent's
            lock, users = OsLock(place / LOCK_NAME), 0
        if users == 0 and not _taken(lock, place):
            return False
        _held[place] = (lock, users + 1, os.getpid())
        return True


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """The directory for this process while it is being opened; it is made where it does not exist."""
    _make(directory)
    claim(directory)
    try:
        yield
    finally:
        release(directory)


@contextmanager
def held_if_free(directory: Path) -> Iterator[bool]:
    """Whether the directory is this process's while it is being opened; it is made where it does not exist."""
    _make(directory)
    holds = claimed(directory)
    try:
        yield holds
    finally:
        if holds:
            release(directory)


def release(directory: Path) -> None:
    """Give it back; the last memory of the process frees it."""
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
            f"{str(directory)!r} cannot be made: {reason(error)}. Give a directory that may be written."
        ) from error


def _taken(lock: OsLock, place: Path) -> bool:
    try:
        return lock.take()
    except OSError as error:
        raise StoreError(
            f"{str(place)!r} cannot be locked: {reason(error)}. Give a directory that may be written."
        ) from error
