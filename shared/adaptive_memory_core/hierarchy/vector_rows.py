"""Which row of one matrix is whose vector? Rows with room behind them, so that one product compares with all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adaptive_memory_core.hierarchy.nodes import Array

FIRST_ROOM = 16  # rows


class VectorRows:
    """Vectors by key. Where one goes, the last one takes its row.

    >>> rows = VectorRows()
    >>> for key, vector in enumerate([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]): _ = rows.put(key, np.array(vector))
    >>> rows.drop(0), list(rows), rows.similarities(np.array([0.0, 1.0])).tolist()
    (0, [2, 1], [1.0, 0.5])
    """

    def __init__(self) -> None:
        self._keys: list[int] = []
        self._places: dict[int, int] = {}
        self._room: Array = np.zeros((0, 0), dtype=np.float32)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: int) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[int]:
        """The keys in the order of the rows."""
        return iter(self._keys)

    @property
    def all(self) -> Array:
        return self._room[: len(self._keys)]

    def place(self, key: int) -> int:
        """Which row it has; another once one was dropped."""
        return self._places[key]

    def key_at(self, place: int) -> int:
        return self._keys[place]

    def of(self, key: int) -> Array:
        return self._room[self._places[key]]

    def these(self, keys: Sequence[int]) -> Array:
        """One row each."""
        return self._room[[self._places[one] for one in keys]]

    def similarities(self, vector: Array) -> Array:
        """The cosine of each with a vector, in the order of the rows."""
        return self.all @ np.asarray(vector, dtype=np.float32)

    def load(self, keys: Sequence[int], vectors: Array) -> None:
        """These and no others."""
        self._keys, self._places = list(keys), {key: place for place, key in enumerate(keys)}
        self._room = np.array(vectors, dtype=np.float32)

    def put(self, key: int, vector: Array) -> bool:
        """Another vector, or a new one at the end; says whether it is new."""
        new = key not in self._places
        if new:
            self._make_room(len(vector))
            self._places[key] = len(self._keys)
            self._keys.append(key)
        self._room[self._places[key]] = vector
        return new

    def drop(self, key: int) -> int:
        """Gives the row that it had, where the last one stands now."""
        place, last = self._places.pop(key), self._keys.pop()
        if last != key:
            self._keys[place] = last
            self._places[last] = place
            self._room[place] = self._room[len(self._keys)]
        return place

    def _make_room(self, width: int) -> None:
        size = len(self._keys)
        if size == len(self._room):
            more = np.zeros((max(FIRST_ROOM, 2 * size), width), dtype=np.float32)
            more[:size] = self._room.reshape(size, width)
            self._room = more
