"""What is a value of Chroma's metadata, where it is of the type that its key stands for? Else it is none."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Any

from adaptive_memory_core.policy.ranges import LARGEST


def as_texts(value: Any) -> tuple[str, ...]:
    """The texts of a list; nothing of what is no list.

    >>> as_texts(["a", "b"]), as_texts("a")
    (('a', 'b'), ())
    """
    return tuple(one for one in value if type(one) is str) if isinstance(value, list) else ()


def as_words(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def as_number(value: Any, low: float, high: float = math.inf) -> float | None:
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, int | float)):
        return None
    return value if low <= value <= high and value - value == 0 else None  # inf - inf is NaN


def as_moment(value: Any) -> float | None:
    """POSIX seconds from a number or an ISO text; a text without a zone is read as UTC, a number beyond reason is none.

    >>> as_moment("1970-01-02"), as_moment(1e308), as_moment(float("nan"))
    (86400.0, None, None)
    """
    if value is None or (type(value) is float and -LARGEST <= value <= LARGEST):
        return value
    if not isinstance(value, str):
        return as_number(value, -LARGEST, LARGEST)
    try:
        moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
