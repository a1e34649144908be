"""Chroma's index rebuilt from its own records, with vectors that can still be read or are embedded again.

The damaged files are moved aside, so that Chroma begins a new index, and takes in what its log holds. Then every record
is written once more with its vector alone: text, metadata and the ledger's content stay as they are. A rebuild that is
interrupted leaves an index that lacks records, which the next check sees: call it again.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.store.chroma.chroma_calls import call_chroma, client_of, space_of, write_chroma
from adaptive_memory_core.store.chroma.chroma_database import DELETE, DatabaseContents, DatabaseRow, logged_vectors
from adaptive_memory_core.store.chroma.index_files import (
    LENGTHS,
    VECTORS,
    Header,
    content,
    header,
    labels_in,
    record_labels,
)

if TYPE_CHECKING:
    from chromadb import Collection

ASIDE = "adaptive_memory_damaged"
UNFINISHED = "unfinished"  # marks files that a rebuild takes vectors from
BATCH = 1_000  # records of one write: each costs as many fsyncs whatever its size
SAMPLE = 32  # records whose vectors are compared with what the embedder makes of their texts
SAME_TEXT_COSINE = 0.99  # cosine from which two vectors are of one text
Progress = Callable[[int, int], object]
Embed = Callable[[Sequence[str]], Any]
CopiedVectors = Callable[[Mapping[str, str | None]], Mapping[str, DatabaseRow]]  # of vectors, for records that say this
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What came of it: vectors kept and made again, records that had neither, where the old files are."""

    kept: int  # or copied from the ledger
    embedded: int
    without_vector: tuple[str, ...]
    aside: tuple[Path, ...]


def move_aside(held: DatabaseContents) -> list[Path]:
    """Put the damaged files where nothing is lost and Chroma does not look; gives the place, and those of rebuilds that
    were not finished."""
    shelf = held.folder.parent / ASIDE
    earlier = sorted(shelf.glob(f"{held.folder.name}-*")) if shelf.exists() else []
    unfinished = [one for one in earlier if (one / UNFINISHED).exists()]
    if not held.folder.exists():
        return unfinished
    target = shelf / f"{held.folder.name}-{len(earlier) + 1}"
    try:
        shelf.mkdir(exist_ok=True)
        (held.folder / UNFINISHED).touch()
        shutil.move(held.folder, target)
    except OSError as error:
        raise StoreError(
            f"{str(held.folder)!r} cannot be moved aside: {reason(error)}. Make its directory writable."
        ) from error
    return [target, *unfinished]


def finish(held: DatabaseContents) -> None:
    """The index is whole: no vector is to be taken from files aside any more."""
    for mark in held.folder.parent.glob(f"{ASIDE}/{held.folder.name}-*/{UNFINISHED}"):
        mark.unlink()


def rebuild(
    collection: Collection,
    held: DatabaseContents,
    aside: Sequence[Path],
    embed: Embed,
    progress: Progress | None,
    copies: CopiedVectors,
) -> Rebuilt:
    """Give Chroma every record's vector again; `embed` is only called for those that cannot be read any more, and that
    there are no copies of."""
    vectors = _readable(collection, held, aside, embed, copies)
    embedded, without = 0, []
    size = min(BATCH, client_of(collection).get_max_batch_size())
    for start in range(0, len(held.ids), size):
        page = list(held.ids[start : start + size])
        texts = _texts(collection, [one for one in page if one not in vectors])
        made = _embedded(texts, embed)
        found = {one: vectors.get(one, made.get(one)) for one in page}
        without += [one for one, vector in found.items() if vector is None]
        _write(collection, {one: np.zeros(held.dimension or 1) if row is None else row for one, row in found.items()})
        embedded += len(made)
        _report(progress, start + len(page), len(held.ids))
    finish(held)
    return Rebuilt(len(held.ids) - embedded - len(without), embedded, tuple(without), tuple(aside))


def _readable(
    collection: Collection, held: DatabaseContents, aside: Sequence[Path], embed: Embed, copies: CopiedVectors
) -> dict[str, DatabaseRow]:
    """The old vectors, as far as they can be read and are their records' own for sure; the latest of each."""
    space = space_of(collection)
    found = salvage(held, None, space=space)
    for place in aside:
        found = salvage(held, place, space=space) | found
    found |= _copied(collection, held, [one for one in held.ids if one not in found], copies)
    for place in aside:
        likely = salvage(held, place, space=space, by_order=True) if len(found) < len(held.ids) else {}
        if len(likely) > len(found) and _compared(collection, likely, embed):
            found = likely | found
    return found


def _copied(
    collection: Collection, held: DatabaseContents, ids: Sequence[str], copies: CopiedVectors
) -> dict[str, DatabaseRow]:
    """The ledger's copies of vectors, where they are of the collection's length."""
    found: dict[str, DatabaseRow] = {}
    for start in range(0, len(ids), BATCH):
        page = list(ids[start : start + BATCH])
        texts: dict[str, str | None] = {**dict.fromkeys(page), **_texts(collection, page)}
        found |= {one: row for one, row in copies(texts).items() if len(row) == held.dimension}
    return found


def _compared(collection: Collection, likely: Mapping[str, DatabaseRow], embed: Embed) -> bool:
    """Whether the vectors of some of the records are what the embedder makes of their texts."""
    ids = list(likely)
    made = _embedded(_texts(collection, ids[:: max(1, len(ids) // SAMPLE)]), embed)
    return bool(made) and all(_same(likely[one], vector) for one, vector in made.items())


def _same(one: DatabaseRow, other: DatabaseRow) -> bool:
    norm = float(np.linalg.norm(one) * np.linalg.norm(other))
    return len(one) == len(other) and norm > 0 and float(one @ other) / norm >= SAME_TEXT_COSINE


def _texts(collection: Collection, ids: Sequence[str]) -> dict[str, str]:
    """The texts of those of the records that have any."""
    if not ids:
        return {}
    answer = call_chroma(lambda: collection.get(ids=list(ids), include=["documents"]))
    return {one: text for one, text in zip(answer["ids"], answer["documents"] or [], strict=True) if text}


def _embedded(texts: Mapping[str, str], embed: Embed) -> dict[str, DatabaseRow]:
    return dict(zip(texts, embed(list(texts.values())), strict=True)) if texts else {}


def _write(collection: Collection, vectors: Mapping[str, Any]) -> None:
    """`upsert` alone brings a vector back that the index lacks; it leaves text and metadata as they are."""
    rows: Any = [np.asarray(vector, dtype=np.float32) for vector in vectors.values()]
    write_chroma(collection, lambda: collection.upsert(ids=list(vectors), embeddings=rows))


def _report(progress: Progress | None, done: int, total: int) -> None:
    _log.info("The index is being rebuilt: %d of %d records.", done, total)
    if progress is not None:
        progress(done, total)


ReadableVectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]
_DELETED = 2  # the byte of an element that marks it as deleted


def salvage(
    held: DatabaseContents, folder: Path | None, *, space: str, by_order: bool = False
) -> dict[str, DatabaseRow]:
    """The vectors that can be read, by record id; `folder` is where the damaged files are.

    Where the list of whose they are is lost, there are none but the log's; with `by_order` whose they are is concluded
    from the order of writing, which holds for a collection that Chroma alone has written: compare some of them.
    """
    found = _from_files(held, folder, space, by_order) if held.dimension and folder is not None else {}
    later = logged_vectors(held.folder.parent, held.collection_id)
    found |= {one: vector for one, vector in later.items() if len(vector) == held.dimension}
    return {one: vector for one in held.ids if (vector := found.get(one)) is not None}


def _from_files(held: DatabaseContents, folder: Path, space: str, by_order: bool) -> dict[str, DatabaseRow]:
    head = header(folder) or _guessed(held.dimension or 0, folder)
    if head is None or head.size != head.label_at + 8 or head.label_at != head.vector_at + 4 * (held.dimension or 0):
        return {}
    labels = labels_in(folder, head.count, head.size, head.label_at)
    if not len(labels):
        return {}
    rows = np.memmap(folder / VECTORS, dtype=np.uint8, mode="r", shape=(len(labels), head.size))
    alive = labels[(labels > 0) & (rows[:, head.offset + _DELETED] & 1 == 0)]
    owners = record_labels(folder)
    if owners is None:
        owners = _in_order(held, alive.tolist()) if by_order else {}
    vectors = np.ascontiguousarray(rows[:, head.vector_at : head.label_at]).view("<f4")
    if space == "cosine":
        vectors = _lengthened(vectors, folder)
    place = {label: row for row, label in enumerate(labels.tolist()) if label}
    found = {one: vectors[place[label]] for one, label in owners.items() if label in place}
    return {one: vector for one, vector in found.items() if np.isfinite(vector).all() and vector.any()}


def _in_order(held: DatabaseContents, labels: Sequence[int]) -> dict[str, int]:
    """Chroma gives labels in the order of writing, as SQLite does its rows, and none twice. What was deleted since the
    files were written would shift the order."""
    deleted = any(entry.operation == DELETE for entry in held.logged_after(held.persisted))
    return {} if deleted or len(labels) > len(held.ids) else dict(zip(held.ids, sorted(labels), strict=False))


def _lengthened(vectors: ReadableVectors, folder: Path) -> ReadableVectors:
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
