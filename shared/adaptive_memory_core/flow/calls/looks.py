"""What has a call looked at already? What one call asks several times within a moment it looks at once.

Whether another process has written is asked by every part that holds a copy; a recall that began after a write sees it
all the same, for each call looks anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Hashable
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from adaptive_memory_core.interrupts import interruptible

T = TypeVar("T")
MOMENT_SECONDS = 0.02  # after which a long call looks again
_looks: ContextVar[dict[Hashable, tuple[float, Any]] | None] = ContextVar("looks", default=None)


@interruptible
def one_call() -> Generator[None, None, None]:
    """A call from its begin to its end."""
    before = _looks.get()
    try:
        _looks.set({})
        yield
    finally:
        try:
            _looks.set(before)
        finally:
            _looks.set(before)  # also where an interrupt strikes


def looked_at(what: Hashable, look: Callable[[], T]) -> T:
    """What the look gives, or gave a moment ago in this call.

    >>> looks = iter("abc")
    >>> with one_call():
    ...     looked_at("tea", lambda: next(looks)), looked_at("tea", lambda: next(looks))
    ('a', 'a')
    >>> looked_at("tea", lambda: next(looks)), looked_at("tea", lambda: next(looks))     # in no call
    ('b', 'c')
    """
    looks = _looks.get()
    if looks is None:
        return look()
    at, known = looks.get(what, (0.0, None))
    now = time.monotonic()
    if what in looks and now - at < MOMENT_SECONDS:
        return cast("T", known)
    found = look()
    looks[what] = (now, found)
    return found


def known_already(what: Hashable) -> Any:
    """What was looked at a moment ago in this call; None where it was not.

    >>> with one_call():
    ...     known_already("tea"), looked_at("tea", lambda: "hot"), known_already("tea")
    (None, 'hot', 'hot')
    """
    looks = _looks.get()
    found = None if looks is None else looks.get(what)
    return None if found is None or time.monotonic() - found[0] >= MOMENT_SECONDS else found[1]


def look_again(what: Hashable) -> None:
    """The next one of this call that asks looks anew: it was just changed."""
    looks = _looks.get()
    if looks is not None:
        looks.pop(what, None)
