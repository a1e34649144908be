"""The nearest of many vectors: all are compared exactly in one multiplication, or very many first as bytes.

Rows are stored in a buffer that doubles when it is full; the last row fills the place of a removed one. simsimd, which
compares bytes, is in the extra `fast`; without it, all vectors are compared in single precision.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float32]"
Positions: TypeAlias = "npt.NDArray[np.intp]"
FIRST_CAPACITY = 16
MARGIN = 4  # extra rows compared in double precision, because single precision may misrank the last ones
_VECDOT: Any = getattr(np, "vecdot", None)  # since numpy 2


class Asked:
    """A query in the form that a matrix compares: the vector as its rows, also in double precision, and its scores for
    all rows, which are calculated once: approximate ones if the matrix has rounded rows."""

    __slots__ = ("scores", "vector", "whole")

    def __init__(self, vector: Floats) -> None:
        self.vector, self.whole = vector, vector.astype(np.float64)
        self.scores: Floats | None = None


class Matrix:
    """Vectors by position. For the space "cosine" they are stored as unit vectors.

    >>> one = Matrix("cosine", 2)
    >>> one.extend(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]]))
    >>> one.nearest(one.asked([0.0, 1.0]), 2)[0]
    [1, 2]
    >>> one.remove(1), one.nearest(one.asked([0.0, 1.0]), 1)[0], one.size
    (2, [1], 2)
    """

    def __init__(self, space: str, dimension: int) -> None:
        self.space, self.dimension, self.size = space, dimension, 0
        self._rows: Floats = np.empty((0, dimension), dtype=np.float32)
        self._halves: Floats = np.empty(0, dtype=np.float32)  # of squared lengths, if the space is "l2"
        self._rounded: Rounded | None = None
        self._is_mapped = False  # whether the rows are in a file

    @classmethod
    def of(cls, space: str, arrays: Mapping[str, Any], size: int) -> Matrix:
        """A matrix over arrays as `arrays` returns them. They may have room for more rows, and are written to."""
        one = cls(space, arrays["rows"].shape[1])
        one._rows, one._halves, one.size, one._is_mapped = arrays["rows"], arrays["halves"], size, True
        if "bytes" in arrays and simsimd is not None:
            one._rounded = Rounded.of(arrays["bytes"], arrays["scales"])
        else:
            one._round(0)
        return one

    def arrays(self) -> dict[str, Any]:
        """The arrays that `of` takes."""
        size = self.size
        found = {"rows": self._rows[:size], "halves": self._halves[:size]}
        return found if self._rounded is None else {**found, **self._rounded.arrays(size)}

    @property
    def nbytes(self) -> int:
        """The bytes that have to be in RAM: for vectors in a file, those that each search reads."""
        rounded = 0 if self._rounded is None else self._rounded.nbytes
        rows = 0 if self._is_mapped and self._rounded is not None else self._rows.nbytes
        return rows + self._halves.nbytes + rounded

    def asked(self, vector: Any) -> Asked:
        """The vector in the form that `nearest` takes; ValueError unless it has the rows' length and finite numbers."""
        one = np.asarray(vector, dtype=np.float32)
        whole = one.astype(np.float64)
        length = math.sqrt(whole.dot(whole)) if one.shape == (self.dimension,) else math.nan
        if not math.isfinite(length):
            raise ValueError(f"not {self.dimension} finite numbers")
        if self.space == "cosine" and length > 0.0:
            one = (whole / length).astype(np.float32)
        return Asked(one)

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
        """Remove a row; the last row takes its place. Return the last row's old position."""
        last = self.size - 1
        self._rows[position] = self._rows[last]
        self._rows[last] = 0.0  # nothing is left of the removed row
        if self.space == "l2":
            self._halves[position] = self._halves[last]
        if self._rounded is not None:
            self._rounded.move(position, last)
        self.size = last
        return last

    def nearest(
        self, asked: Asked, most: int, allowed: npt.NDArray[np.bool_] | None = None, also: Sequence[int] = ()
    ) -> tuple[list[int], npt.NDArray[np.float64]]:
        """The positions of the nearest rows (only `allowed` ones, if given) and then of the others in `also`, each
        nearest first, and Chroma's distances of all of them."""
        places: list[int] = self._candidates(asked, most + MARGIN, allowed).tolist()
        if also:
            there = frozenset(places)
            places += [one for one in dict.fromkeys(also) if one not in there]
        distances = self.distances(asked, places)
        order: list[int] = distances.argsort(kind="stable").tolist()
        if len(order) > most:
            wanted = frozenset(also)
            order[most:] = [one for one in order[most:] if places[one] in wanted]
        return [places[one] for one in order], distances[order]

    def _candidates(self, asked: Asked, most: int, allowed: npt.NDArray[np.bool_] | None) -> Positions:
        """The positions of the nearest rows in single precision, in no order."""
        if self._rounded is None:
            if asked.scores is None:
                asked.scores = self._scores(asked.vector)
            return _best(asked.scores, most, allowed)
        found = self._by_rounded(self._rounded, asked, most, allowed)
        return _best(self._scores(asked.vector), most, allowed) if found is None else found

    def distances(self, asked: Asked, positions: Any) -> npt.NDArray[np.float64]:
        """Chroma's distances of the rows at these positions."""
        rows = self._rows.take(positions, axis=0).astype(np.float64)
        if self.space == "l2":
            return np.asarray(((rows - asked.whole) ** 2).sum(axis=1))
        products: npt.NDArray[np.float64] = rows.dot(asked.whole)
        return 1.0 - products

    def vectors(self, positions: Any) -> Floats:
        return np.asarray(self._rows[positions])

    def _by_rounded(
        self, rounded: Rounded, asked: Asked, most: int, allowed: npt.NDArray[np.bool_] | None
    ) -> Positions | None:
        """The nearest rows among those with the nearest rounded vectors; None if rounding may have hidden one of
        them."""
        about = asked.scores
        if about is None:
            about = asked.scores = rounded.products(asked.vector, self.size)
            if self.space == "l2":
                about -= self._halves[: self.size]
        places = _best(about, RESCORED * most, allowed)
        rows = self._rows.take(places, axis=0)
        scores = rows.dot(asked.vector)
        if self.space == "l2":
            scores -= self._halves[places]
        if len(places) <= most:
            return places
        best = scores.argpartition(len(places) - most)[len(places) - most :]  # the first is the least of them
        if len(places) == RESCORED * most:  # else all were compared
            longest = 1.0 if self.space == "cosine" else math.sqrt(float(np.einsum("ij,ij->i", rows, rows).max()))
            if scores[best[0]] < about[places].min() + rounded.error(asked.vector, self.size, longest):
                return None
        nearest: Positions = places[best]
        return nearest

    def _round(self, before: int) -> None:
        """Store rounded rows as well, once there are so many that it pays."""
        if simsimd is None or self.size < LEAST_ROWS:
            return
        first = before if self._rounded is not None else 0
        self._rounded = self._rounded or Rounded(self.dimension)
        self._rounded.put(self._rows[first : self.size], first, len(self._rows))

    def _scores(self, asked: Floats) -> Floats:
        """Scores that are higher for nearer rows. They avoid BLAS if possible, which splits the work among processors,
        so that all wait for the busiest. For rows that are in no processor's cache, it takes twice as long."""
        rows = self._rows[: self.size]
        products: Floats = rows.dot(asked) if _VECDOT is None else _VECDOT(rows, asked)
        return products - self._halves[: self.size] if self.space == "l2" else products


def _best(scores: Floats, most: int, allowed: npt.NDArray[np.bool_] | None) -> Positions:
    """The positions of the highest scores among the allowed ones, in no order."""
    among = None if allowed is None else np.flatnonzero(allowed)
    some = scores if among is None else scores[among]
    if len(some) <= most:
        return np.arange(len(some)) if among is None else among
    places = could_be_highest(some, most)
    found = some if len(places) == len(some) else some[places]
    best: Positions = found.argpartition(len(found) - most)[len(found) - most :]
    best = best if len(places) == len(some) else places[best]
    return best if among is None else among[best]


def _grown(rows: Floats, used: int, size: int) -> Floats:
    """A buffer with room for `size` rows, at least twice as large as before."""
    grown = np.zeros((max(size, 2 * len(rows), FIRST_CAPACITY) if used else size, *rows.shape[1:]), dtype=np.float32)
    grown[:used] = rows[:used]
    return grown


def _normalise(rows: Floats, into: Floats) -> None:
    """Write the rows as unit vectors; zero vectors stay unchanged."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    lengths[lengths == 0.0] = 1.0
    np.divide(rows, lengths[:, None], out=into, casting="unsafe")


simsimd: Any = None
with suppress(ImportError):
    simsimd = importlib.import_module("simsimd")

Bytes: TypeAlias = "npt.NDArray[np.int8]"
LEAST_ROWS = 3_000  # from which on it is faster if the rows are in no processor's cache; measured
RESCORED = 4  # rows compared again per wanted row; measured: 2 finds all on real embeddings
DEVIATIONS = 6.0  # standard deviations that a rounding error is assumed not to exceed; one in 500 million does
HIGHEST = 127.0
BYTE_ROWS = 4_096  # rows per rounding step


class Rounded:
    """Vectors rounded to bytes, with a scale for each row."""

    def __init__(self, dimension: int) -> None:
        self._bytes: Bytes = np.empty((0, dimension), dtype=np.int8)
        self._scales: Floats = np.empty(0, dtype=np.float32)

    @classmethod
    def of(cls, rows: Bytes, scales: Floats) -> Rounded:
        """Rounded vectors over existing arrays."""
        one = cls(rows.shape[1])
        one._bytes, one._scales = rows, scales
        return one

    def arrays(self, size: int) -> dict[str, Any]:
        """The arrays of the first rows, as `of` takes them."""
        return {"bytes": self._bytes[:size], "scales": self._scales[:size]}

    @property
    def nbytes(self) -> int:
        return self._bytes.nbytes + self._scales.nbytes

    def put(self, rows: Floats, start: int, capacity: int) -> None:
        """Round these rows and store them from `start` on, with room for `capacity` rows."""
        if capacity > len(self._bytes):
            self._bytes = _grown_bytes(self._bytes, capacity)
            self._scales = _grown_bytes(self._scales, capacity)
        for first in range(0, len(rows), BYTE_ROWS):
            page = rows[first : first + BYTE_ROWS]
            place = slice(start + first, start + first + len(page))
            self._bytes[place], self._scales[place] = rounded(page)

    def move(self, place: int, last: int) -> None:
        """Move the row at `last` to `place`."""
        self._bytes[place], self._scales[place] = self._bytes[last], self._scales[last]
        self._bytes[last] = 0

    def products(self, asked: Floats, size: int) -> Floats:
        """The approximate products of a vector with the first rows."""
        scale = np.abs(asked).max() / np.float32(HIGHEST)
        one = np.rint(asked / (scale or np.float32(1.0))).astype(np.int8)[None]
        dots: Any = np.asarray(simsimd.cdist(one, self._bytes[:size], "dot", out_dtype="f"))
        products: Floats = dots[0] * (self._scales[:size] * scale)
        return products

    def error(self, asked: Floats, size: int, longest: float) -> float:
        """The largest error of a product from rounding, for rows up to this length. Each number's rounding error is
        uniform over one unit, so their sum stays within `DEVIATIONS` standard deviations, except by a tiny chance."""
        of_rows = float(self._scales[:size].max(initial=0.0)) * math.sqrt(float(asked @ asked))
        of_asked = float(np.abs(asked).max()) / HIGHEST * longest
        return DEVIATIONS * math.hypot(of_rows, of_asked) / math.sqrt(12.0)


def rounded(rows: Floats) -> tuple[Bytes, Floats]:
    """Each row as bytes, and the value of one unit in each row.

    >>> found, scales = rounded(np.array([[0.5, -1.0, 0.0], [0.0, 0.0, 0.0]], dtype=np.float32))
    >>> found.tolist(), bool(np.allclose(found * scales[:, None], [[0.5, -1.0, 0.0], [0.0, 0.0, 0.0]], atol=0.01))
    ([[64, -127, 0], [0, 0, 0]], True)
    """
    scales = np.abs(rows).max(axis=1) / np.float32(HIGHEST)
    safe = np.where(scales > 0, scales, 1.0).astype(np.float32)
    return np.rint(rows / safe[:, None]).astype(np.int8), scales.astype(np.float32)


def _grown_bytes(rows: Any, capacity: int) -> Any:
    grown = np.zeros((capacity, *rows.shape[1:]), dtype=rows.dtype)
    grown[: len(rows)] = rows
    return grown


GROUP = 32  # numbers per group, of which only the best is compared first


def could_be_highest(numbers: npt.NDArray[Any], most: int) -> npt.NDArray[np.intp]:
    """The places of all numbers that could be among the `most` highest; for few numbers, all places.

    If the best of at least `most` groups is no less than some number, the `most` highest numbers are no less either.

    >>> could_be_highest(np.array([0.1, 0.9, 0.5, 0.7]), 2).tolist()
    [0, 1, 2, 3]
    >>> could_be_highest(np.arange(100.0), 1).tolist()
    [95, 96, 97, 98, 99]
    """
    groups = len(numbers) // GROUP
    if groups <= 2 * most:
        return np.arange(len(numbers))
    bests = numbers[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
    bests.partition(groups - most)
    return np.flatnonzero(~(numbers < bests[groups - most]))  # NaN counts as the highest, as in sorting
