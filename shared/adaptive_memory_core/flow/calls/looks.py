"""What has a call looked at already? What one call asks several times within a moment it looks at once.

Whether another process has written is asked by every part that holds a copy; a recall that began after a write sees it
all the same, for each call looks anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from adaptive_memory_core.flow.calls.call_state import current

T = TypeVar("T")
MOMENT_SECONDS = 0.02  # after which a long call looks again


def looked_at(what: Hashable, look: Callable[[], T]) -> T:
    """What the look gives, or gave a moment ago in this call.

    >>> from adaptive_memory_core.flow.calls.call_state import one_call
    >>> looks = iter("abc")
    >>> with one_call():
    ...     looked_at("tea", lambda: next(looks)), looked_at("tea", lambda: next(looks))
    ('a', 'a')
    >>> looked_at("tea", lambda: next(looks)), looked_at("tea", lambda: next(looks))     # in no call
    ('b', 'c')
    """
    call = current()
    if call is None:
        return look()
    known, now = call.looks.get(what), time.monotonic()
    if known is not None and now - known[0] < MOMENT_SECONDS:
        found: T = known[1]
        return found
    found = look()
    call.looks[what] = (now, found)
    return found


def known_already(what: Hashable) -> Any:
    """What was looked at a moment ago in this call; None where it was not.

    >>> from adaptive_memory_core.flow.calls.call_state import one_call
    >>> with one_call():
    ...     known_already("tea"), looked_at("tea", lambda: "hot"), known_already("tea")
    (None, 'hot', 'hot')
    """
    call = current()
    found = None if call is None else call.looks.get(what)
    return None if found is None or time.monotonic() - found[0] >= MOMENT_SECONDS else found[1]


def look_again(what: Hashable) -> None:
    """The next one of this call that asks looks anew: it was just changed."""
    call = current()
    if call is not None:
        call.looks.pop(what, None)
