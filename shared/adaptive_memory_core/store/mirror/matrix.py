"""Which of many vectors are nearest? All of them are compared, exactly, in one multiplication.

Rows stand one after another in a buffer that doubles when it is full; the last one fills the place of one that goes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from adaptive_memory_core.store.could_be_highest import could_be_highest
from adaptive_memory_core.store.mirror import int8

Floats = npt.NDArray[np.float32]
Positions = npt.NDArray[np.intp]
FIRST_CAPACITY = 16
_VECDOT: Any = getattr(np, "vecdot", None)  # since numpy 2


class Matrix:
    """Vectors by position. Where the space is "cosine" they are kept as unit vectors.

    >>> one = Matrix("cosine", 2)
    >>> one.extend(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]]))
    >>> one.nearest(one.asked([0.0, 1.0]), 2).tolist()
    [1, 2]
    >>> one.remove(1), one.nearest(one.asked([0.0, 1.0]), 1).tolist(), one.size
    (2, [1], 2)
    """

    def __init__(self, space: str, dimension: int) -> None:
        self.space, self.dimension, self.size = space, dimension, 0
        self._rows: Floats = np.empty((0, dimension), dtype=np.float32)
        self._halves: Floats = np.empty(0, dtype=np.float32)  # of squared lengths, where the space is "l2"
        self._rounded: int8.Rounded | None = None
        self._is_mapped = False  # whether the rows stand in a file

    @classmethod
    def of(cls, space: str, arrays: Mapping[str, Any], size: int) -> Matrix:
        """A matrix over arrays as `arrays` gives them, which may have room for more rows, and are written into."""
        one = cls(space, arrays["rows"].shape[1])
        one._rows, one._halves, one.size, one._is_mapped = arrays["rows"], arrays["halves"], size, True
        if "bytes" in arrays and int8.simsimd is not None:
            one._rounded = int8.Rounded.of(arrays["bytes"], arrays["scales"])
        else:
            one._round(0)
        return one

    def arrays(self) -> dict[str, Any]:
        """What `of` takes."""
        size = self.size
        found = {"rows": self._rows[:size], "halves": self._halves[:size]}
        return found if self._rounded is None else {**found, **self._rounded.arrays(size)}

    @property
    def nbytes(self) -> int:
        """What has to be in RAM: of vectors that stand in a file, the bytes that each search reads."""
        rounded = 0 if self._rounded is None else self._rounded.nbytes
        rows = 0 if self._is_mapped and self._rounded is not None else self._rows.nbytes
        return rows + self._halves.nbytes + rounded

    def asked(self, vector: Any) -> Floats:
        """A vector as `nearest` takes it."""
        one = np.asarray(vector, dtype=np.float32)
        if self.space != "cosine":
            return one
        whole = one.astype(np.float64)
        length = math.sqrt(whole.dot(whole))
        return (whole / length).astype(np.float32) if length > 0 else np.zeros_like(one)

    def extend(self, vectors: Any) -> None:
        """Add rows at the end."""
        new = np.asarray(vectors, dtype=np.float32)
        size = self.size + len(new)
        if size > len(self._rows):
            self._rows, self._is_mapped = _grown(self._rows, self.size, size), False
            if self.space == "l2":
                self._halves = _grown(self._halves, self.size, size)
        if self.space == "cosine":
            _normalise(new, self._rows[self.size : size])
        else:
            self._rows[self.size : size] = new
        if self.space == "l2":
            self._halves[self.size : size] = np.einsum("ij,ij->i", new, new) / 2
        before, self.size = self.size, size
        self._round(before)

    def remove(self, position: int) -> int:
        """Let go of a row; the last one takes its place, and where that stood is given."""
        last = self.size - 1
        self._rows[position] = self._rows[last]
        self._rows[last] = 0.0  # nothing is left of what goes
        if self.space == "l2":
            self._halves[position] = self._halves[last]
        if self._rounded is not None:
            self._rounded.move(position, last)
        self.size = last
        return last

    def nearest(self, asked: Floats, most: int, allowed: npt.NDArray[np.bool_] | None = None) -> Positions:
        """The positions of the nearest rows, nearest first; of those that are allowed, where that is given."""
        found = None if self._rounded is None else self._by_rounded(self._rounded, asked, most, allowed)
        if found is not None:
            return found
        scores = self._scores(asked)
        best = _best(scores, most, allowed)
        return best[(-scores[best]).argsort(kind="stable")[:most]]

    def distances(self, asked: Floats, positions: Any) -> npt.NDArray[np.float64]:
        """Chroma's distances of the rows at these positions."""
        one, rows = asked.astype(np.float64), self._rows.take(positions, axis=0).astype(np.float64)
        if self.space == "l2":
            return np.asarray(((rows - one) ** 2).sum(axis=1))
        products: npt.NDArray[np.float64] = rows.dot(one)
        return 1.0 - products

    def vectors(self, positions: Any) -> Floats:
        return np.asarray(self._rows[positions])

    def _by_rounded(
        self, rounded: int8.Rounded, asked: Floats, most: int, allowed: npt.NDArray[np.bool_] | None
    ) -> Positions | None:
        """The nearest of those that are nearest as rounded; None where rounding may have hidden one of them."""
        about = rounded.products(asked, self.size)
        if self.space == "l2":
            about -= self._halves[: self.size]
        places = _best(about, int8.RESCORED * most, allowed)
        rows = self._rows[places]
        scores = rows @ asked
        if self.space == "l2":
            scores -= self._halves[places]
        order = (-scores).argsort(kind="stable")[:most]
        if len(places) == int8.RESCORED * most:  # else all were looked at
            longest = 1.0 if self.space == "cosine" else math.sqrt(float(np.einsum("ij,ij->i", rows, rows).max()))
            if scores[order[-1]] < about[places].min() + rounded.error(asked, self.size, longest):
                return None
        nearest: Positions = places[order]
        return nearest

    def _round(self, before: int) -> None:
        """Keep rounded rows as well, once there are so many that it pays."""
        if int8.simsimd is None or self.size < int8.LEAST_ROWS:
            return
        first = before if self._rounded is not None else 0
        self._rounded = self._rounded or int8.Rounded(self.dimension)
        self._rounded.put(self._rows[first : self.size], first, len(self._rows))

    def _scores(self, asked: Floats) -> Floats:
        """The larger, the nearer."""
        products = _products(self._rows[: self.size], asked)
        return products - self._halves[: self.size] if self.space == "l2" else products


def _best(scores: Floats, most: int, allowed: npt.NDArray[np.bool_] | None) -> Positions:
    if allowed is None:
        return _top(scores, most)
    places = np.flatnonzero(allowed)
    return places[_top(scores[places], most)]


def _top(scores: Floats, most: int) -> Positions:
    """The positions of the highest scores, in no order."""
    if len(scores) <= most:
        return np.arange(len(scores))
    places = could_be_highest(scores, most)
    found = scores[places]
    return np.asarray(places[found.argpartition(len(found) - most)[len(found) - most :]])


def _products(rows: Floats, asked: Floats) -> Floats:
    """Each row times the vector, not by BLAS where that can be: a part for each processor makes all wait for the one
    that has other work, and rows that are in no processor's cache take it twice as long."""
    products: Floats = rows.dot(asked) if _VECDOT is None else _VECDOT(rows, asked)
    return products


def _grown(rows: Floats, used: int, size: int) -> Floats:
    """A buffer with room for so many, twice as large as before at least."""
    grown = np.zeros((max(size, 2 * len(rows), FIRST_CAPACITY) if used else size, *rows.shape[1:]), dtype=np.float32)
    grown[:used] = rows[:used]
    return grown


def _normalise(rows: Floats, into: Floats) -> None:
    """Write the rows as unit vectors; those of no length as they are."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    lengths[lengths == 0.0] = 1.0
    np.divide(rows, lengths[:, None], out=into, casting="unsafe")
