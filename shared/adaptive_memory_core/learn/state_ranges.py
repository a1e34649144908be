"""Which values may a read state have? A range for every field, checked where a state comes in from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.policy.ranges import LARGEST, SHARE, Range
from adaptive_memory_core.records import ReadState
from adaptive_memory_core.shown_in_errors import shown

MOST_READS = 10**12  # a count beyond it is somebody else's number
TIME = Range(-LARGEST, LARGEST)  # POSIX seconds
COUNT = Range(0, MOST_READS, whole=True)
RANGES: dict[str, Range] = {
    **dict.fromkeys(("last_read", "refreshed_at", "settled_at", "fresh_at", "useful_at"), TIME),
    **dict.fromkeys(("streak", "retrieval_count", "credit", "helpful", "unhelpful"), COUNT),
    **dict.fromkeys(("settled_step", "fresh_step"), COUNT),
    "useful_step": Range(-MOST_READS, MOST_READS, whole=True),  # below 0: before the recalls that are counted here
    "warmth": Range(0, MOST_READS),
    "strength": SHARE,
    "boost": Range(-1, 1),
}
FLAGS = ("remembered", "pinned")
_UNKNOWN = tuple(one.name for one in fields(ReadState) if one.default is None)


def state_of(given: object, *, missing: Mapping[str, Any]) -> ReadState:
    """A state from plain values, each within its range; `missing` are the defaults that differ from a ReadState's.

    >>> state_of({"strength": 0.5}, missing={}).strength
    0.5
    >>> state_of({"strength": 2}, missing={})
    Traceback (most recent call last):
        ...
    adaptive_memory_core.errors.InvalidInputError: The read state has strength=2. It must be a number in [0, 1]. ...
    """
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"The read state is {shown(given)}. Give a mapping of its fields, as export_state() does."
        )
    values = {one.name: given[one.name] for one in fields(ReadState) if one.name in given}
    for name, value in values.items():
        _check(name, value)
    return ReadState(**{**missing, **values})


def _check(name: str, value: object) -> None:
    if name in FLAGS:
        if not isinstance(value, bool):
            raise _refused(name, value, "true or false")
    elif not (value is None and name in _UNKNOWN) and value not in RANGES[name]:
        unknown = ", or null where it is not known" if name in _UNKNOWN else ""
        raise _refused(name, value, f"{RANGES[name]}{unknown}")


def _refused(name: str, value: object, allowed: str) -> InvalidInputError:
    return InvalidInputError(
        f"The read state has {name}={shown(value)}. It must be {allowed}. Export the state anew, or mend that field."
    )
