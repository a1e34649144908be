"""Calls that are running, and closing by `with`."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from typing_extensions import Self


class _OfThread(threading.local):
    call: object | None = None


_running: dict[object, None] = {}
_own = _OfThread()
_last_end = [0.0]  # by time.monotonic


@contextmanager
def running() -> Generator[None, None, None]:
    """A call, from its beginning to its end in this thread."""
    call, outer = object(), _own.call
    try:
        begin(call)
        yield
    finally:
        end(call, outer)


def begin(call: object) -> None:
    """This thread is in the call from now on."""
    _running[call] = None
    _own.call = call


def end(call: object, outer: object | None) -> None:
    """The call is over, and the thread is in the outer one again, if there is one."""
    _own.call = outer
    _running.pop(call, None)
    _last_end[0] = time.monotonic()


def own_call() -> object | None:
    """The call that this thread is in."""
    return _own.call


def is_any_running() -> bool:
    """Whether a call is running in any thread."""
    return bool(_running)


def idle_seconds() -> float:
    """For how long no call has been running in any thread."""
    return 0.0 if _running else time.monotonic() - _last_end[0]


def _alone() -> None:
    """A fork leaves the other threads and their calls behind."""
    _running.clear()
    if _own.call is not None:
        _running[_own.call] = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)


class Closable(Protocol):
    """What has an end, blocking and async."""

    def close(self) -> None: ...

    async def aclose(self) -> None: ...


class ClosedByWith:
    """A class with `close` and `aclose` can be used in `with` and `async with`, and is closed at their end.

    >>> class Door(ClosedByWith):
    ...     def close(self) -> None:
    ...         print("closed")
    >>> with Door():
    ...     print("open")
    open
    closed
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self: Closable, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self: Closable, *_: object) -> None:
        await self.aclose()
