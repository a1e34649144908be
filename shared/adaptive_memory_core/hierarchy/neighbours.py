"""Which nodes are nearest to which? A graph of the k nearest, exact, and kept up as nodes come, change and go."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence

import numpy as np

from adaptive_memory_core.hierarchy.nodes import Array, Neighbours

_Near = tuple[float, int]  # less the similarity, so that the nearest stands first, and the key
NOBODY = -2.0  # a similarity below any


class NearestGraph:
    """Nodes with unit vectors, and for each its nearest others with their cosine, best first.

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
        self._keys: list[int] = []
        self._places: dict[int, int] = {}
        self._vectors: Array = np.zeros((0, 0), dtype=np.float32)
        self._lists: dict[int, list[_Near]] = {}
        self._listed_by: dict[int, set[int]] = {}
        self._least: Array = np.zeros(0)  # by place: the similarity of the last in the list, where that is full
        self._changed: set[int] = set()

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: int) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[int]:
        return iter(self._keys)

    @property
    def vectors(self) -> Array:
        """Rows in the order of iteration."""
        return self._vectors[: len(self._keys)]

    def vector(self, key: int) -> Array:
        return self._vectors[self._places[key]]

    def key_at(self, place: int) -> int:
        return self._keys[place]

    def rows(self, keys: Sequence[int]) -> Array:
        """Their vectors, one row each."""
        return self._vectors[[self._places[one] for one in keys]]

    def place(self, key: int) -> int:
        """Which row is the node's; another once a node was dropped."""
        return self._places[key]

    def similarities(self, vector: Array) -> Array:
        """The cosine of each node with a vector, in the order of iteration."""
        return self.vectors @ np.asarray(vector, dtype=np.float32)

    def of(self, key: int) -> Neighbours:
        return tuple((other, -negative) for negative, other in self._lists[key])

    def nearest(self, key: int, without: Sequence[int] = (), *, alone: float = 0.0) -> float:
        """The similarity of the nearest other node that is not among `without`; `alone` where there is none."""
        for negative, other in self._lists[key]:
            if other not in without:
                return -negative
        return alone

    def taken_changes(self) -> set[int]:
        """The nodes whose neighbours have changed since this was asked last, those that are gone left out."""
        changed, self._changed = self._changed, set()
        return {one for one in changed if one in self._places}

    def load(self, keys: list[int], vectors: Array, lists: list[Neighbours]) -> None:
        """Begin with these nodes; a list that names unknown nodes, or is too short, is made anew."""
        self._keys, self._places = list(keys), {key: place for place, key in enumerate(keys)}
        self._vectors = np.array(vectors, dtype=np.float32)
        self._least = np.full(len(keys), NOBODY)
        full = min(self._most, len(keys) - 1)
        for key, given in zip(keys, lists, strict=True):
            if len(given) == full and all(other in self._places for other, _ in given):
                self._set(key, [(-similarity, other) for other, similarity in given])
            else:
                self._find(key)

    def put(self, key: int, vector: Array) -> None:
        """A new node, or another vector of one."""
        place = self._places.get(key)
        if place is None:
            place = self._append(key, vector)
        self._vectors[place] = vector
        similarities = self.similarities(self._vectors[place])
        similarities[place] = NOBODY
        again = self._told(key, similarities)
        self._offer(key, similarities)
        self._set(key, self._best(similarities))
        for other in again:
            self._find(other)

    def drop(self, key: int) -> None:
        """The node is gone; the last one takes its row."""
        place, last = self._places.pop(key), len(self._keys) - 1
        for _, other in self._lists.pop(key):
            self._listed_by[other].discard(key)
        if place != last:
            self._keys[place] = self._keys[last]
            self._places[self._keys[place]] = place
            self._vectors[place], self._least[place] = self._vectors[last], self._least[last]
        self._keys.pop()
        for other in sorted(self._listed_by.pop(key, ())):
            self._find(other)

    def _append(self, key: int, vector: Array) -> int:
        size = len(self._keys)
        if size == len(self._vectors):
            more = np.zeros((max(16, 2 * size), len(vector)), dtype=np.float32)
            more[:size] = self._vectors.reshape(size, len(vector))
            self._vectors = more
            self._least = np.concatenate((self._least[:size], np.full(len(more) - size, NOBODY)))
        self._keys.append(key)
        self._places[key] = size
        self._least[size] = NOBODY
        self._lists[key] = []
        return size

    def _told(self, key: int, similarities: Array) -> list[int]:
        """Those who have it in their list have its new similarity; gives those for whom others may be nearer now."""
        again = []
        for other in sorted(self._listed_by.get(key, ())):
            place = self._places[other]
            value = float(similarities[place])
            if value < self._least[place] and len(self._keys) - 1 > self._most:
                again.append(other)
                continue
            found = self._lists[other]
            del found[next(number for number, one in enumerate(found) if one[1] == key)]
            self._enter(other, key, value)
        return again

    def _offer(self, key: int, similarities: Array) -> None:
        """Those to whom it is nearer than their last one take it into their list."""
        listed = self._listed_by.setdefault(key, set())
        for place in np.flatnonzero(similarities > self._least[: len(self._keys)]).tolist():
            other = self._keys[place]
            if other != key and other not in listed:
                self._enter(other, key, float(similarities[place]))
                listed.add(other)

    def _enter(self, other: int, key: int, value: float) -> None:
        """Into its place in the other's list; the last one goes where that was full."""
        found = self._lists[other]
        insort(found, (-value, key))
        if len(found) > self._most:
            self._listed_by[found.pop()[1]].discard(other)
        self._least[self._places[other]] = -found[-1][0] if len(found) >= self._most else NOBODY
        self._changed.add(other)

    def _find(self, key: int) -> None:
        place = self._places[key]
        similarities = self.similarities(self._vectors[place])
        similarities[place] = NOBODY
        self._set(key, self._best(similarities))

    def _best(self, similarities: Array) -> list[_Near]:
        count = min(self._most, len(self._keys) - 1)
        if count <= 0:
            return []
        places = np.argpartition(-similarities, count - 1)[:count] if count < len(similarities) else None
        chosen = range(len(similarities)) if places is None else places.tolist()
        values = similarities.tolist() if places is None else similarities[places].tolist()
        found = zip(values, chosen, strict=True)
        return sorted((-value, self._keys[one]) for value, one in found if value > NOBODY)

    def _set(self, key: int, found: list[_Near]) -> None:
        before = {other for _, other in self._lists.get(key, ())}
        now = {other for _, other in found}
        for other in before - now:
            self._listed_by.get(other, set()).discard(key)
        for other in now - before:
            self._listed_by.setdefault(other, set()).add(key)
        self._lists[key] = found
        self._least[self._places[key]] = -found[-1][0] if len(found) >= self._most else NOBODY
        self._changed.add(key)
