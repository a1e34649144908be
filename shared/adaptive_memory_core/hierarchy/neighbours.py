"""Unit vectors in rows, and the nearest neighbours among them.

Changes are applied when neighbours are read, so ten changes of one node before that cost no more than one.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence

import numpy as np

from adaptive_memory_core.hierarchy.nodes import Array, Neighbours


def from_unrelated(vectors: Array, unrelated: Array | None) -> Array:
    """Each vector minus the mean of unrelated texts, scaled to length 1; zeros are unchanged, and all vectors if the
    mean is unknown.

    Episodes and themes compare sums of vectors. Their plain cosine means nothing if the embedder makes all texts
    similar, so it is measured from unrelated texts, as `score.surprise.Baseline` does for single texts.

    >>> from_unrelated(np.array([[0.6, 0.8], [0.0, 0.0]]), np.array([0.0, 0.8])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    rows = unit_vectors(vectors)
    if unrelated is None or rows.shape[-1] != len(unrelated):  # of another embedder
        return vectors
    return unit_vectors(np.where(rows.any(axis=-1, keepdims=True), rows - unrelated, 0.0))


def unit_vectors(vectors: Array) -> Array:
    """The vectors scaled to length 1; zeros are unchanged.

    >>> unit_vectors(np.array([3.0, 4.0])).tolist(), unit_vectors(np.zeros((1, 2))).tolist()
    ([0.6, 0.8], [[0.0, 0.0]])
    """
    rows = np.asarray(vectors)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(lengths > 0.0, lengths, 1.0)


class UsualLikeness:
    """The mean cosine of a user's vectors, as the reference for what counts as near. It depends on the embedder and on
    the user's topics.

    >>> usual = UsualLikeness()
    >>> usual.begin(np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> round(usual.mean, 3)
    0.6
    >>> usual.less(np.array([0.6, 0.8]))
    >>> usual.mean
    0.0
    """

    def __init__(self) -> None:
        self._sum: Array = None
        self._count = 0

    def begin(self, vectors: Array) -> None:
        """Start with these unit vectors."""
        self._sum, self._count = vectors.sum(axis=0, dtype=np.float64), len(vectors)

    def more(self, vector: Array) -> None:
        self._sum = np.array(vector, dtype=np.float64) if self._sum is None else self._sum + vector
        self._count += 1

    def less(self, vector: Array) -> None:
        self._sum, self._count = self._sum - vector, self._count - 1

    @property
    def mean(self) -> float:
        """The mean cosine of two different vectors; 0 if it is negative or there are fewer than two."""
        if self._count < 2:
            return 0.0
        return max(0.0, (float(self._sum @ self._sum) - self._count) / (self._count * (self._count - 1)))


FIRST_ROOM = 16  # rows


class VectorRows:
    """Vectors by key. When one is removed, the last one takes its row.

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
        """The row of the key, which may change when a key is dropped."""
        return self._places[key]

    def key_at(self, place: int) -> int:
        return self._keys[place]

    def of(self, key: int) -> Array:
        return self._room[self._places[key]]

    def these(self, keys: Sequence[int]) -> Array:
        """The vectors of these keys, one per row."""
        return self._room[[self._places[one] for one in keys]]

    def similarities(self, vector: Array) -> Array:
        """The cosine of each row with a vector."""
        return self.all @ np.asarray(vector, dtype=np.float32)

    def load(self, keys: Sequence[int], vectors: Array) -> None:
        """Replace the content with these vectors."""
        self._keys, self._places = list(keys), {key: place for place, key in enumerate(keys)}
        self._room = np.array(vectors, dtype=np.float32)

    def put(self, key: int, vector: Array) -> bool:
        """Replace the vector of a key, or add it at the end; return whether the key is new."""
        new = key not in self._places
        if new:
            self._make_room(len(vector))
            self._places[key] = len(self._keys)
            self._keys.append(key)
        self._room[self._places[key]] = vector
        return new

    def drop(self, key: int) -> int:
        """Remove a key and return its row, which now contains the last vector."""
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


_Near = tuple[float, int]  # the negative similarity, so that the nearest sorts first, and the key
NOBODY = -2.0  # a similarity below any


class NearestGraph:
    """Nodes with unit vectors, and for each node its nearest neighbours with their cosines, best first.

    >>> graph = NearestGraph(2)
    >>> for key, vector in enumerate([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]): graph.put(key, np.array(vector))
    >>> graph.of(0), graph.of(2)
    (((1, 0.5), (2, 0.0)), ((1, 0.5), (0, 0.0)))
    >>> graph.drop(1)
    >>> graph.of(0), sorted(graph.taken_changes())
    (((2, 0.0),), [0, 2])
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.rows = VectorRows()
        self._lists: dict[int, list[_Near]] = {}
        self._least: Array = np.zeros(0)  # by row: the similarity of the last neighbour, if the list is full
        self._changed: set[int] = set()
        self._due: dict[int, bool] = {}  # nodes with a changed vector, and whether they had one before

    def of(self, key: int) -> Neighbours:
        self._work_in()
        return tuple((other, -negative) for negative, other in self._lists[key])

    def nearest(self, key: int, without: Sequence[int] = (), *, alone: float = 0.0) -> float:
        """The similarity of the nearest other node that is not in `without`; `alone` if there is none."""
        self._work_in()
        for negative, other in self._lists[key]:
            if other not in without:
                return -negative
        return alone

    def taken_changes(self) -> set[int]:
        """Return and reset the nodes whose neighbours have changed since the last call, without removed nodes."""
        self._work_in()
        changed, self._changed = self._changed, set()
        return {one for one in changed if one in self.rows}

    def load(self, keys: list[int], vectors: Array, lists: list[Neighbours]) -> None:
        """Load these nodes. A list of neighbours that names unknown nodes or has another length is rebuilt."""
        self.rows.load(keys, vectors)
        self._least = np.full(len(keys), NOBODY)
        full = min(self._most, len(keys) - 1)
        for key, given in zip(keys, lists, strict=True):
            if len(given) == full and all(other in self.rows for other, _ in given):
                self._set(key, [(-similarity, other) for other, similarity in given])
            else:
                self._find(key)

    def put(self, key: int, vector: Array) -> None:
        """Add a node, or replace its vector."""
        new = self.rows.put(key, vector)
        if new:
            self._lists[key] = []
            self._grow_least()
        self._due[key] = not new

    def drop(self, key: int) -> None:
        """Remove a node."""
        self._due.pop(key, None)
        place = self.rows.drop(key)
        self._least[place] = self._least[len(self.rows)]
        del self._lists[key]
        for other in self._listing(key):
            self._find(other)

    def _listing(self, key: int) -> list[int]:
        """The nodes that have the key in their list."""
        return [one for one, found in self._lists.items() if any(other == key for _, other in found)]

    def _grow_least(self) -> None:
        size = len(self.rows)
        if size > len(self._least):
            self._least = np.concatenate((self._least, np.full(size, NOBODY)))
        self._least[size - 1] = NOBODY

    def _work_in(self) -> None:
        """Update all lists for the changed vectors."""
        while self._due:
            key, moved = next(iter(self._due.items()))
            similarities = self._to_others(key)
            listing = self._listing(key) if moved else []
            for place in np.flatnonzero(similarities > self._least[: len(self.rows)]).tolist():
                other = self.rows.key_at(place)
                if other != key and all(one != key for _, one in self._lists[other]):
                    self._enter(other, key, float(similarities[place]))
            self._set(key, self._best(similarities))
            for other in listing:  # other nodes may now be nearer
                self._find(other)
            del self._due[key]

    def _enter(self, other: int, key: int, value: float) -> None:
        """Insert the key into the other node's list; if the list was full, its last entry is removed."""
        found = self._lists[other]
        insort(found, (-value, key))
        if len(found) > self._most:
            found.pop()
        self._set(other, found)

    def _find(self, key: int) -> None:
        self._set(key, self._best(self._to_others(key)))

    def _to_others(self, key: int) -> Array:
        """The cosine of a node with each row; its own row gets a value below any cosine."""
        similarities = self.rows.similarities(self.rows.of(key))
        similarities[self.rows.place(key)] = NOBODY
        return similarities

    def _best(self, similarities: Array) -> list[_Near]:
        count = min(self._most, len(self.rows) - 1)
        if count <= 0:
            return []
        places = np.argpartition(-similarities, count - 1)[:count].tolist()
        return sorted((-float(similarities[one]), self.rows.key_at(one)) for one in places)

    def _set(self, key: int, found: list[_Near]) -> None:
        self._lists[key] = found
        self._least[self.rows.place(key)] = -found[-1][0] if len(found) >= self._most else NOBODY
        self._changed.add(key)
