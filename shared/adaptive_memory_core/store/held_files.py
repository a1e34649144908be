"""How are a ledger's files looked at while SQLite has them open? Through descriptors that are closed last.

The operating system takes back all locks that a process holds on a file as soon as the process closes any descriptor
of it, SQLite's own among them. Another process then takes the log of writes from under a ledger in use, and what is
committed into it afterwards is lost without a word.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from pathlib import Path

_guard = threading.RLock()  # a collection of garbage, and with it `_leave`, can come in the middle of anything
_users: dict[Path, int] = {}
_descriptors: dict[Path, dict[tuple[int, int], int]] = {}  # of each file that is in use, by device and inode


def use(user: object, place: Path | None) -> weakref.finalize:  # type: ignore[type-arg]
    """From now on SQLite has the file open, or soon will; call what is given once it has closed it."""
    if place is None:
        return weakref.finalize(user, int)
    known = place.resolve()
    with _guard:
        _users[known] = _users.get(known, 0) + 1
    done = weakref.finalize(user, _leave, known, os.getpid())
    done.atexit = False
    return done


def head(file: Path, length: int) -> bytes:
    """The first bytes of a file; FileNotFoundError where there is none."""
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
    """A child has no locks of its parent's, and no connection of its that may be used."""
    global _guard  # noqa: PLW0603 - a thread of the parent may hold it
    _guard = threading.RLock()
    _users.clear()
    _descriptors.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
