"""Is the answer of a caller's own channel valid? Ids with one number in [0, 1] each, checked; the best are kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from heapq import nlargest
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.shown_in_errors import shown

ROUNDING = 1e-6  # by which a number may lie outside [0, 1]


def numbers_of(given: Any, limit: int) -> dict[str, float]:
    """The `limit` best ids of a channel, each with its number in [0, 1], best first; an id counts once.

    >>> numbers_of([("a", 0.25), ("b", 1), ("a", 0.5)], 2)
    {'b': 1.0, 'a': 0.5}
    >>> numbers_of({"a": 7}, 2)
    Traceback (most recent call last):
    adaptive_memory_core.errors.InvalidInputError: it gave 7 for 'a'. Give a number in [0, 1] for each id.
    """
    pairs = given.items() if isinstance(given, Mapping) else given
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise _refused(given)
    best: dict[str, float] = {}
    for pair in pairs:
        if (
            isinstance(pair, str)
            or not isinstance(pair, tuple | list)
            or len(pair) != 2
            or not isinstance(pair[0], str)
        ):
            raise _refused(pair)
        if not pair[0].isascii() and any("\ud800" <= one <= "\udfff" for one in pair[0]):
            raise InvalidInputError(f"it gave the id {shown(pair[0])}, which is not Unicode. Give ids of records.")
        best[pair[0]] = max(best.get(pair[0], 0.0), _share(*pair))
    return dict(nlargest(limit, best.items(), key=lambda one: one[1]))


def _share(name: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not -ROUNDING <= number <= 1.0 + ROUNDING:
        raise InvalidInputError(f"it gave {shown(value)} for {shown(name)}. Give a number in [0, 1] for each id.")
    return min(1.0, max(0.0, number))


def _refused(given: Any) -> InvalidInputError:
    return InvalidInputError(f"it gave {shown(given)}. Give a mapping from ids to numbers in [0, 1], or pairs of them.")
