"""Which of very many vectors may be nearest? Bytes are compared with simsimd, and the best by their full precision.

simsimd is the extra `fast`; without it all vectors are compared in single precision.
"""

from __future__ import annotations

import importlib
import math
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

simsimd: Any = None
with suppress(ImportError):
    simsimd = importlib.import_module("simsimd")

Bytes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32]
LEAST_ROWS = 3_000  # from which on it is faster where the rows are in no processor's cache; measured
RESCORED = 4  # times as many as are wanted are compared again; measured: 2 finds all on real embeddings
DEVIATIONS = 6.0  # beyond which rounding is taken to move no product; one in 500 million
HIGHEST = 127.0
AT_ONCE = 4_096  # rows that are rounded at a time


class Rounded:
    """Vectors rounded to bytes, each row by its own scale."""

    def __init__(self, dimension: int) -> None:
        self._bytes: Bytes = np.empty((0, dimension), dtype=np.int8)
        self._scales: Floats = np.empty(0, dtype=np.float32)

    @classmethod
    def of(cls, rows: Bytes, scales: Floats) -> Rounded:
        """Over rows that were rounded before."""
        one = cls(rows.shape[1])
        one._bytes, one._scales = rows, scales
        return one

    def arrays(self, size: int) -> dict[str, Any]:
        """What `of` takes, of the first rows."""
        return {"bytes": self._bytes[:size], "scales": self._scales[:size]}

    @property
    def nbytes(self) -> int:
        return self._bytes.nbytes + self._scales.nbytes

    def put(self, rows: Floats, start: int, capacity: int) -> None:
        """Round these rows into the places from `start` on, with room for as many as `capacity`."""
        if capacity > len(self._bytes):
            self._bytes = _grown(self._bytes, capacity)
            self._scales = _grown(self._scales, capacity)
        for first in range(0, len(rows), AT_ONCE):
            page = rows[first : first + AT_ONCE]
            place = slice(start + first, start + first + len(page))
            self._bytes[place], self._scales[place] = rounded(page)

    def move(self, place: int, last: int) -> None:
        """The row at `last` goes to `place`."""
        self._bytes[place], self._scales[place] = self._bytes[last], self._scales[last]
        self._bytes[last] = 0

    def products(self, asked: Floats, size: int) -> Floats:
        """The products of a vector with the first rows, about."""
        one, scale = rounded(asked[None])
        dots: Any = np.asarray(simsimd.cdist(one, self._bytes[:size], "dot", out_dtype="f"))
        products: Floats = dots[0] * (self._scales[:size] * scale)
        return products

    def error(self, asked: Floats, size: int, longest: float) -> float:
        """How far a product may be off for rounding, of rows no longer than that: what is lost of each number is spread
        evenly over one unit, so the sum over all of them is, but for chance, within so many deviations."""
        of_rows = float(self._scales[:size].max(initial=0.0)) * math.sqrt(float(asked @ asked))
        of_asked = float(np.abs(asked).max()) / HIGHEST * longest
        return DEVIATIONS * math.hypot(of_rows, of_asked) / math.sqrt(12.0)


def rounded(rows: Floats) -> tuple[Bytes, Floats]:
    """Each row as bytes, and what one unit of them is worth.

    >>> found, scales = rounded(np.array([[0.5, -1.0, 0.0], [0.0, 0.0, 0.0]], dtype=np.float32))
    >>> found.tolist(), bool(np.allclose(found * scales[:, None], [[0.5, -1.0, 0.0], [0.0, 0.0, 0.0]], atol=0.01))
    ([[64, -127, 0], [0, 0, 0]], True)
    """
    scales = np.abs(rows).max(axis=1) / np.float32(HIGHEST)
    safe = np.where(scales > 0, scales, 1.0).astype(np.float32)
    return np.rint(rows / safe[:, None]).astype(np.int8), scales.astype(np.float32)


def _grown(rows: Any, capacity: int) -> Any:
    grown = np.zeros((capacity, *rows.shape[1:]), dtype=rows.dtype)
    grown[: len(rows)] = rows
    return grown
