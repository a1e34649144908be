"""How does a process fork without taking a transaction along? It waits until no other thread is in one.

SQLite notes in the process's memory which locks it has on a file, and a child inherits the notes without the locks:
were it forked amid a transaction of another thread, whatever it opened of that file would wait for that for ever.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Generator
from contextlib import suppress
from typing import Any

from adaptive_memory_core.interrupts import interruptible

MOST_SECONDS = 10.0  # that a fork waits for those within one lock; then it goes on

_moment = threading.RLock()
_locks: weakref.WeakSet[Any] = weakref.WeakSet()  # RLocks
_taken: list[Any] = []


def await_before_forks(lock: Any) -> None:
    """No fork of this process while another thread has this lock (an RLock)."""
    with _moment:
        _locks.add(lock)


@interruptible
def no_fork_meanwhile() -> Generator[None, None, None]:
    """No fork of this process by another thread while this block is under way."""
    lock = threading.RLock()
    await_before_forks(lock)
    with lock:
        yield


def _before() -> None:
    _moment.acquire()
    _taken.extend(lock for lock in list(_locks) if lock.acquire(timeout=MOST_SECONDS))


def _after() -> None:
    while _taken:
        with suppress(RuntimeError):
            _taken.pop().release()
    _moment.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
