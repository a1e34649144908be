"""Is a single value usable? Names, numbers, times and flags, checked where they enter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.shown_in_errors import shown

LONGEST_NAME = 1_000  # characters of a user or record id
LARGEST_K = 10_000
LAST_MOMENT = 1e15  # POSIX seconds; beyond it a float keeps no fraction of one


def name(value: object, what: str) -> str:
    """A usable id: a non-empty string that can be stored."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_NAME:
        raise InvalidInputError(
            f"The {what} is {shown(value)}. Give a non-empty string of up to {LONGEST_NAME:,} characters."
        )
    return encodable(value, what)


def encodable(value: str, what: str) -> str:
    """The string, unless it holds half a surrogate pair: that has no UTF-8, so nothing could store it."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"The {what} holds a lone surrogate at position {error.start}, which no database can store. Decode the "
            "source properly, or replace it: text.encode('utf-8', 'replace').decode()."
        ) from None
    return value


def words(value: object, what: str) -> str:
    """A text or a cue with something in it."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInputError(f"The {what} is {shown(value)}. Give a string that is not blank.")
    return encodable(value, what)


def count(value: object, what: str, most: int = LARGEST_K) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidInputError(f"{what} is {shown(value)}. Give a whole number from 1 to {most:,}.")
    return value


def flag(value: object, what: str) -> bool:
    """Yes or no; anything else might mean the opposite of what was meant."""
    if not isinstance(value, bool):
        raise InvalidInputError(f"{what} is {shown(value)}. Give True or False.")
    return value


def progress(value: object) -> Callable[[int, int], object] | None:
    """What hears how much of how much is done, if anything does."""
    if value is not None and not callable(value):
        raise InvalidInputError(
            f"progress is {shown(value)}. Give a function of two numbers, what is done and what there is, or None."
        )
    return value


def moment(value: object, what: str) -> float | None:
    """POSIX seconds from a number or a datetime that knows its zone."""
    if value is None:
        return None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LAST_MOMENT:
        raise InvalidInputError(
            f"{what} is {shown(value)}. Give POSIX seconds, e.g. time.time(), or a datetime with a time zone, "
            "e.g. datetime.now(timezone.utc)."
        )
    return float(value)


def share(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInputError(f"{what} is {shown(value)}. Give a number in [0, 1].")
    return float(value)


def distinct(ids: Iterable[str], what: str) -> list[str]:
    """The ids, unless one comes twice."""
    seen: dict[str, None] = {}
    for one in ids:
        if one in seen:
            raise InvalidInputError(f"The {what} {shown(one)} comes twice. Give each one once.")
        seen[one] = None
    return list(seen)
