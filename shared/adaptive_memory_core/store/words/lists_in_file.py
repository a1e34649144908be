"""How do a user's posting lists stand in a file? As arrays, without what was removed; names by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.channels.conversation.turn_columns import Columns
from adaptive_memory_core.store.user_files.arrays_file import Arrays, packed, unpacked
from adaptive_memory_core.store.words.frozen_lists import FrozenLists, Said, merged, without

MARK_BYTES = 8
TURNS = ("speakers", "told", "sessions", "places")
Array = Any


class Contents(NamedTuple):
    """What there is of each record; a length of 0 says that it is gone. `said` are words that `lists` lack yet."""

    ids: Sequence[str]
    marks: Sequence[bytes]
    turns: Columns
    sessions: Sequence[str]  # the names of the turns' sessions
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
    turns = contents.turns
    speaker_names, speakers = _used(turns.names, turns.speakers[there])
    session_names, sessions = _used(contents.sessions, turns.sessions[there])
    marks = np.frombuffer(b"".join(contents.marks), dtype=np.uint8).reshape(-1, MARK_BYTES)
    return {
        "ids": packed(contents.ids[place] for place in there.tolist()),
        "marks": marks[there],
        "speaker_names": packed(speaker_names),
        "session_names": packed(session_names),
        "speakers": speakers,
        "told": turns.told[there],
        "sessions": sessions,
        "places": turns.places[there],
        "rows": contents.rows[there],
        "lengths": contents.lengths[there],
        **lists._asdict(),
    }


def contents_of(arrays: Arrays) -> Contents:
    """What a file holds.

    >>> lists = FrozenLists(np.array([5]), np.array([0, 1]), np.array([1]), np.array([2.0]))
    >>> rows, lengths = np.array([3, 9]), np.array([0.0, 4.0])
    >>> turns = Columns(["Ana"], np.array([0, -1]), np.array([0, 0]), np.array([-1, 0]), np.array([1.0, 2.0]))
    >>> one = Contents(["a", "b"], [b"8 bytes.", b"another."], turns, ["s"], rows, lengths, lists, [])
    >>> held = arrays_of(one)
    >>> left = contents_of(Arrays({}, held, {name: len(array) for name, array in held.items()}))
    >>> left.ids, left.marks, left.turns.speakers.tolist(), left.sessions, left.lists.docs.tolist()
    (['b'], [b'another.'], [-1], ['s'], [0])
    """
    marks = arrays["marks"].tobytes()
    return Contents(
        unpacked(arrays["ids"]),
        [marks[start : start + MARK_BYTES] for start in range(0, len(marks), MARK_BYTES)],
        Columns(unpacked(arrays["speaker_names"]), *(arrays[name] for name in TURNS)),
        unpacked(arrays["session_names"]),
        arrays["rows"],
        arrays["lengths"],
        FrozenLists(*(arrays[name] for name in FrozenLists._fields)),
        [],
    )


def _used(names: Sequence[str], numbers: Array) -> tuple[list[str], Array]:
    """The names that somebody has, for those of what was removed go with it; and their numbers among these.

    >>> found, numbers = _used(["a", "b", "c"], np.array([2, -1, 0, 2]))
    >>> found, numbers.tolist()
    (['a', 'c'], [1, -1, 0, 1])
    """
    used = np.unique(numbers[numbers >= 0])
    among = np.full(len(names) + 1, -1, dtype=np.int32)  # the last one: what has no name
    among[used] = np.arange(len(used))
    return [names[one] for one in used.tolist()], among[numbers]
