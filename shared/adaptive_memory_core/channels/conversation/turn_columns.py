"""Who spoke, in which session and when, of many records? As columns that grow with what is written, names by number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = Any
NOBODY = -1  # in the place of the number of a name that there is not


class Turns(NamedTuple):
    """One entry a record: who spoke, how that is known, the session, and the place in it."""

    speakers: Sequence[str | None]
    told: Sequence[int]
    sessions: Sequence[str | None]
    places: Sequence[float]


class Columns(NamedTuple):
    """The same with numbers for names, in the order in which they came; `names` are the speakers'."""

    names: Sequence[str]
    speakers: Array
    told: Array
    sessions: Array
    places: Array


class TurnColumns:
    """Columns that are added to. What was given before stays as it was.

    >>> turns = TurnColumns()
    >>> turns.extend(Turns(["Ana", None], [0, 0], ["s", "t"], [1.0, 2.0])); before = turns.columns
    >>> turns.extend(Turns(["Ana"], [0], ["t"], [3.0]))
    >>> turns.columns.speakers.tolist(), turns.columns.sessions.tolist(), len(before.places)
    ([0, -1, 0], [0, 1, 1], 2)
    """

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._session_names: dict[str, int] = {}
        self._speakers, self._told = Growing(np.int32), Growing(np.int8)
        self._sessions, self._places = Growing(np.int32), Growing(np.float64)

    @classmethod
    def of(cls, columns: Columns, sessions: Sequence[str]) -> TurnColumns:
        """With these in it; `sessions` are the names of the sessions."""
        one = cls()
        one._names = {name: number for number, name in enumerate(columns.names)}
        one._session_names = {name: number for number, name in enumerate(sessions)}
        one._append(columns)
        return one

    @property
    def columns(self) -> Columns:
        found = (self._speakers, self._told, self._sessions, self._places)
        return Columns(tuple(self._names), *(one.all for one in found))

    @property
    def session_names(self) -> list[str]:
        return list(self._session_names)

    def extend(self, turns: Turns) -> None:
        """Add those of later records."""
        speakers, sessions = _numbers(turns.speakers, self._names), _numbers(turns.sessions, self._session_names)
        self._append(Columns((), speakers, turns.told, sessions, turns.places))

    def _append(self, more: Columns) -> None:
        self._speakers.extend(more.speakers)
        self._told.extend(more.told)
        self._sessions.extend(more.sessions)
        self._places.extend(more.places)


class Growing:
    """An array with room behind it, so that adding to it costs what is added.

    >>> one = Growing(np.int64); one.extend([1, 2]); before = one.all; one.extend([3])
    >>> before.tolist(), one.all.tolist()
    ([1, 2], [1, 2, 3])
    """

    def __init__(self, kind: Any) -> None:
        self._room, self._size = np.empty(0, dtype=kind), 0

    @property
    def all(self) -> Array:
        return self._room[: self._size]

    def extend(self, more: Any) -> None:
        size = self._size + len(more)
        if size > len(self._room):
            grown = np.empty(max(size, 2 * len(self._room)), dtype=self._room.dtype)
            grown[: self._size] = self._room[: self._size]
            self._room = grown
        self._room[self._size : size] = more
        self._size = size


def _numbers(names: Iterable[str | None], known: dict[str, int]) -> list[int]:
    """The number of each name; new ones get the next numbers."""
    return [NOBODY if one is None else known.setdefault(one, len(known)) for one in names]
