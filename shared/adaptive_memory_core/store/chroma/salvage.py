"""Which vectors can still be read from a damaged index? Those in Chroma's log, and those with a known label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from adaptive_memory_core.store.chroma.index_layout import (
    LENGTHS,
    VECTORS,
    Header,
    content,
    header,
    labels_in,
    names,
)
from adaptive_memory_core.store.chroma.own_database import DELETE, Contents, Row, logged_vectors

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]
_DELETED = 2  # the byte of an element that marks it as deleted


def salvage(held: Contents, folder: Path | None, *, space: str, by_order: bool = False) -> dict[str, Row]:
    """The vectors that can be read, by record id; `folder` is where the damaged files are.

    Where the list of whose they are is lost, there are none but the log's; with `by_order` whose they are is concluded
    from the order of writing, which holds for a collection that Chroma alone has written: compare some of them.
    """
    found = _from_files(held, folder, space, by_order) if held.dimension and folder is not None else {}
    later = logged_vectors(held.folder.parent, held.collection_id)
    found |= {one: vector for one, vector in later.items() if len(vector) == held.dimension}
    return {one: vector for one in held.ids if (vector := found.get(one)) is not None}


def _from_files(held: Contents, folder: Path, space: str, by_order: bool) -> dict[str, Row]:
    head = header(folder) or _guessed(held.dimension or 0, folder)
    if head is None or head.size != head.label_at + 8 or head.label_at != head.vector_at + 4 * (held.dimension or 0):
        return {}
    labels = labels_in(folder, head.count, head.size, head.label_at)
    if not len(labels):
        return {}
    rows = np.memmap(folder / VECTORS, dtype=np.uint8, mode="r", shape=(len(labels), head.size))
    alive = labels[(labels > 0) & (rows[:, head.offset + _DELETED] & 1 == 0)]
    owners = names(folder)
    if owners is None:
        owners = _in_order(held, alive.tolist()) if by_order else {}
    vectors = np.ascontiguousarray(rows[:, head.vector_at : head.label_at]).view("<f4")
    if space == "cosine":
        vectors = _lengthened(vectors, folder)
    place = {label: row for row, label in enumerate(labels.tolist()) if label}
    found = {one: vectors[place[label]] for one, label in owners.items() if label in place}
    return {one: vector for one, vector in found.items() if np.isfinite(vector).all() and vector.any()}


def _in_order(held: Contents, labels: Sequence[int]) -> dict[str, int]:
    """Chroma gives labels in the order of writing, as SQLite does its rows, and none twice. What was deleted since the
    files were written would shift the order."""
    deleted = any(entry.operation == DELETE for entry in held.logged_after(held.persisted))
    return {} if deleted or len(labels) > len(held.ids) else dict(zip(held.ids, sorted(labels), strict=False))


def _lengthened(vectors: Vectors, folder: Path) -> Vectors:
    """Vectors as they were given: for cosine they are kept at length 1, and their lengths apart. A length that is lost
    stays 1, which ranks the same."""
    lengths = np.ones(len(vectors), dtype=np.float32)
    known = content(folder / LENGTHS)
    whole = np.frombuffer(known[: len(known) // 4 * 4], dtype="<f4")[: len(vectors)]
    lengths[: len(whole)] = np.where(np.isfinite(whole) & (whole > 0), whole, 1.0)
    return vectors * lengths[:, None]


def _guessed(dimension: int, folder: Path) -> Header | None:
    """The layout where the header is lost: with Chroma's usual number of neighbours, if the file's size fits it."""
    neighbours = 16
    vector_at = 8 * neighbours + 4
    label_at = vector_at + 4 * dimension
    size, length = label_at + 8, len(content(folder / VECTORS))
    if length == 0 or length % size:
        return None
    count = length // size
    return Header(1, 0, count, count, size, label_at, vector_at, 0, 0, neighbours, 2 * neighbours, neighbours, 0.0, 0)
