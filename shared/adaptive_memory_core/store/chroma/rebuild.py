"""How is Chroma's index rebuilt? From its own records, with vectors that can still be read or embedded again.

The damaged files are moved aside, so that Chroma begins an index without any, and takes in what its log holds. Then
every record is written once more with its vector alone: text, metadata and what the ledger knows stay as they are. A
rebuild that is interrupted leaves an index that lacks records, which the next check sees: call it again.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.shown_in_errors import reason
from adaptive_memory_core.store.chroma.calls import client_of, space_of, told
from adaptive_memory_core.store.chroma.own_database import Contents, Row
from adaptive_memory_core.store.chroma.salvage import salvage
from adaptive_memory_core.store.chroma.write_gate import told_alone

if TYPE_CHECKING:
    from chromadb import Collection

ASIDE = "adaptive_memory_damaged"
UNFINISHED = "unfinished"  # marks files that a rebuild takes vectors from
BATCH = 1_000  # records of one write: each costs as many fsyncs whatever its size
SAMPLE = 32  # records whose vectors are compared with what the embedder makes of their texts
SAME_TEXT_COSINE = 0.99  # cosine from which two vectors are of one text
Progress = Callable[[int, int], object]
Embed = Callable[[Sequence[str]], Any]
Copies = Callable[[Mapping[str, str | None]], Mapping[str, Row]]  # of vectors, for records that say this
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What came of it: vectors kept and made again, records that had neither, where the old files are."""

    kept: int  # or copied from the ledger
    embedded: int
    without_vector: tuple[str, ...]
    aside: tuple[Path, ...]


def move_aside(held: Contents) -> list[Path]:
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


def finish(held: Contents) -> None:
    """The index is whole: no vector is to be taken from files aside any more."""
    for mark in held.folder.parent.glob(f"{ASIDE}/{held.folder.name}-*/{UNFINISHED}"):
        mark.unlink()


def rebuild(
    collection: Collection,
    held: Contents,
    aside: Sequence[Path],
    embed: Embed,
    progress: Progress | None,
    copies: Copies,
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
    collection: Collection, held: Contents, aside: Sequence[Path], embed: Embed, copies: Copies
) -> dict[str, Row]:
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


def _copied(collection: Collection, held: Contents, ids: Sequence[str], copies: Copies) -> dict[str, Row]:
    """The ledger's copies of vectors, where they are of the collection's length."""
    found: dict[str, Row] = {}
    for start in range(0, len(ids), BATCH):
        page = list(ids[start : start + BATCH])
        texts: dict[str, str | None] = {**dict.fromkeys(page), **_texts(collection, page)}
        found |= {one: row for one, row in copies(texts).items() if len(row) == held.dimension}
    return found


def _compared(collection: Collection, likely: Mapping[str, Row], embed: Embed) -> bool:
    """Whether the vectors of some of the records are what the embedder makes of their texts."""
    ids = list(likely)
    made = _embedded(_texts(collection, ids[:: max(1, len(ids) // SAMPLE)]), embed)
    return bool(made) and all(_same(likely[one], vector) for one, vector in made.items())


def _same(one: Row, other: Row) -> bool:
    norm = float(np.linalg.norm(one) * np.linalg.norm(other))
    return len(one) == len(other) and norm > 0 and float(one @ other) / norm >= SAME_TEXT_COSINE


def _texts(collection: Collection, ids: Sequence[str]) -> dict[str, str]:
    """The texts of those of the records that have any."""
    if not ids:
        return {}
    answer = told(lambda: collection.get(ids=list(ids), include=["documents"]))
    return {one: text for one, text in zip(answer["ids"], answer["documents"] or [], strict=True) if text}


def _embedded(texts: Mapping[str, str], embed: Embed) -> dict[str, Row]:
    return dict(zip(texts, embed(list(texts.values())), strict=True)) if texts else {}


def _write(collection: Collection, vectors: Mapping[str, Any]) -> None:
    """`upsert` alone brings a vector back that the index lacks; it leaves text and metadata as they are."""
    rows: Any = [np.asarray(vector, dtype=np.float32) for vector in vectors.values()]
    told_alone(collection, lambda: collection.upsert(ids=list(vectors), embeddings=rows))


def _report(progress: Progress | None, done: int, total: int) -> None:
    _log.info("The index is being made anew: %d of %d records.", done, total)
    if progress is not None:
        progress(done, total)
