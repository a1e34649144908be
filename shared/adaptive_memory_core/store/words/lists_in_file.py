"""How do a user's posting lists stand in a file? As arrays, without what was removed; names by their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.store.user_files.arrays_file import Arrays, packed, unpacked
from adaptive_memory_core.store.words.frozen_lists import FrozenLists, Said, merged, without

MARK_BYTES = 8
Array = Any


class Contents(NamedTuple):
    """What there is of each record; a length of 0 says that it is gone. `said` are words that `lists` lack yet."""

    ids: Sequence[str]
    marks: Sequence[bytes]
    speakers: Sequence[str | None]
    sessions: Sequence[str | None]
    places: Sequence[float]
    told: Sequence[int]
    rows: Array
    lengths: Array
    lists: FrozenLists
    said: Sequence[Said]


def arrays_of(contents: Contents) -> dict[str, Array]:
    """What a file is to hold."""
    alive = contents.lengths > 0.0
    lists = merged(contents.lists, contents.said)
    if not alive.all():
        lists = without(lists, alive)
    there = np.flatnonzero(alive)
    speakers, spoken_by = _numbered(contents.speakers)
    sessions, in_session = _numbered(contents.sessions)
    marks = np.frombuffer(b"".join(contents.marks), dtype=np.uint8).reshape(-1, MARK_BYTES)
    return {
        "ids": packed(contents.ids[place] for place in there.tolist()),
        "marks": marks[there],
        "speakers": packed(speakers),
        "spoken_by": spoken_by[there],
        "sessions": packed(sessions),
        "in_session": in_session[there],
        "places": np.array(contents.places, dtype=float)[there],
        "told": np.array(contents.told, dtype=np.int8)[there],
        "rows": contents.rows[there],
        "lengths": contents.lengths[there],
        **lists._asdict(),
    }


def contents_of(arrays: Arrays) -> Contents:
    """What a file holds.

    >>> lists = FrozenLists(np.array([5]), np.array([0, 1]), np.array([1]), np.array([2.0]))
    >>> rows, lengths = np.array([3, 9]), np.array([0.0, 4.0])
    >>> one = Contents(["a", "b"], [b"8 bytes.", b"another."], ["Ana", None], [None, "s"], [1.0, 2.0], [0, 0], rows,
    ...                lengths, lists, [])
    >>> held = arrays_of(one)
    >>> left = contents_of(Arrays({}, held, {name: len(array) for name, array in held.items()}))
    >>> left.ids, left.marks, left.speakers, left.sessions, left.lists.docs.tolist()
    (['b'], [b'another.'], [None], ['s'], [0])
    """
    marks = arrays["marks"].tobytes()
    return Contents(
        unpacked(arrays["ids"]),
        [marks[start : start + MARK_BYTES] for start in range(0, len(marks), MARK_BYTES)],
        _named(unpacked(arrays["speakers"]), arrays["spoken_by"]),
        _named(unpacked(arrays["sessions"]), arrays["in_session"]),
        arrays["places"].tolist(),
        arrays["told"].tolist(),
        arrays["rows"],
        arrays["lengths"],
        FrozenLists(*(arrays[name] for name in FrozenLists._fields)),
        [],
    )


def _numbered(names: Sequence[str | None]) -> tuple[list[str], Array]:
    """Different names, and for each place the number of its name, -1 where there is none.

    >>> known, numbers = _numbered([None, "b", "a", "b"])
    >>> known, numbers.tolist()
    (['b', 'a'], [-1, 0, 1, 0])
    """
    different = [one for one in dict.fromkeys(names) if one is not None]
    number: Mapping[str | None, int] = {None: -1, **{one: place for place, one in enumerate(different)}}
    return different, np.fromiter(map(number.__getitem__, names), dtype=np.int32, count=len(names))


def _named(names: Sequence[str], numbers: Array) -> list[str | None]:
    if not names:
        return [None] * len(numbers)
    known = [*names, None]
    return [known[number] for number in numbers.tolist()]
