"""Is what an embedder returned one finite vector for each text? As float32, or an error that says why not."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from adaptive_memory_core.errors import EmbedderError
from adaptive_memory_core.shown_in_errors import shown

Vectors = npt.NDArray[np.float32]


def as_vectors(given: Any, *, count: int, name: str) -> Vectors:
    """What was given for `count` texts, as float32 of shape (count, dimension).

    >>> as_vectors([[1, 0], (0.5, 2)], count=2, name="mine").tolist()
    [[1.0, 0.0], [0.5, 2.0]]
    >>> as_vectors([[1.0, 0.0]], count=2, name="mine")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    adaptive_memory_core.errors.EmbedderError: The embedder 'mine' returned shape (1, 2) for 2 texts. Allowed: ...
    """
    vectors = _as_float32(given, name)
    if vectors.ndim != 2 or len(vectors) != count or vectors.shape[1] == 0:
        raise refused(name, f"returned shape {vectors.shape} for {count} texts")
    _check_finite(vectors, name)
    return vectors


def as_vector(given: Any, *, name: str) -> Vectors:
    """What was given for one query, as float32 of shape (dimension,).

    >>> as_vector((1, 2), name="mine").tolist()
    [1.0, 2.0]
    >>> as_vector([1.0, float("nan")], name="mine")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    adaptive_memory_core.errors.EmbedderError: The embedder 'mine' returned NaN or infinity in 1 of 1 vectors ...
    """
    vector = _as_float32(given, name)
    if vector.ndim != 1 or len(vector) == 0:
        raise refused(name, f"returned shape {vector.shape} for a query")
    _check_finite(vector, name)
    return vector


def refused(name: str, what_happened: str) -> EmbedderError:
    """The error for an embedder that broke its promise: what it gave, what is allowed, what to do."""
    return EmbedderError(
        f"The embedder {shown(name)} {what_happened}. Allowed: one finite vector for each text, all of one length. "
        "Mend the embedder, or pass another one as embedder=."
    )


def _as_float32(given: Any, name: str) -> Vectors:
    if type(given) is np.ndarray and given.dtype == np.float32:
        return given
    try:
        with np.errstate(over="ignore"):  # beyond float32 becomes infinity, which is refused by name below
            return np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        what = f"returned a {type(given).__name__} that is no array of numbers ({error})"
        raise refused(name, what) from error


def _check_finite(vectors: Vectors, name: str) -> None:
    if not np.isfinite(vectors).all():
        rows = np.atleast_2d(vectors)
        broken = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        what = f"returned NaN or infinity in {len(broken)} of {len(rows)} vectors (the first is number {broken[0]})"
        raise refused(name, what)
