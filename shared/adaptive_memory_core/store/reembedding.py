"""Embed all texts again in batches, then swap the vectors: the ledger in one transaction, then Chroma.

The new vectors are stored in the ledger next to the old ones, so the next call continues an interrupted one. Once all
exist, they are written into a new collection. Then the ledger switches to them in one transaction and marks records
changed since then for export. Last, the new collection takes the old one's name. A process killed before the ledger's
transaction leaves the old vectors; one killed after it leaves the new ones. The next process that opens the memory
finishes the work.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from adaptive_memory_core.errors import EmbedderError, StoreError, StoreInUseError
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow, Target
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.record_metadata import owner_of
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.chroma.chroma_calls import CollectionsOfClient, ids_where, overwrite, write_chroma
from adaptive_memory_core.store.chroma.chroma_changes import WrittenSince, written_since
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.collection_repair import refill
from adaptive_memory_core.store.embedder_check import DIMENSION_KEY, NAME_KEY, CheckedEmbedder, notes_on
from adaptive_memory_core.store.write_back import WritePace

if TYPE_CHECKING:
    from chromadb import Collection

    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

SUFFIX = "-being-reembedded"
INDEXES = ("hnsw", "spann")  # their settings are kept
PROBES = 5  # texts that are embedded again to compare their vectors
MOST_DIFFERENCE = 0.045  # of a vector's length; of vectors of one length, a cosine of 0.999
BATCH = 100  # texts per batch: a killed process loses at most one batch
MOST_UNKNOWN = 10  # texts in a batch without a word that the model knows, if it knows others; guess
PAGE = 500  # records that are read or deleted at a time
MOST_TRIES = 100  # to find a moment in which others write nothing; guess
EmbeddedRow = tuple[str, str | None, Metadata | None]
Progress = Callable[[int, int], object]
_log = logging.getLogger(__name__)


def begin_or_continue(ledger: Ledger, collection: Collection, embedder: Embedder, function: Any) -> Collection:
    """Create a new collection to fill. The vectors of an interrupted call are reused if this embedder gives the same
    ones."""
    before, left = ledger.new_vectors.target(), ledger.new_vectors.progress()[0]
    goes_on = before is not None and _gives_what_is_there(embedder, before, ledger)
    if left and not goes_on:
        _log.warning(
            "%d vectors of an interrupted reembed() with %r are not what %r gives: all records are embedded from the "
            "beginning.",
            left,
            None if before is None else before.embedder,
            embedder.name,
        )
    made = make_successor(collection, embedder, function)
    dimension = before.dimension if before is not None and goes_on else embedder.dimension
    ledger.new_vectors.begin(Target(str(made.id), embedder.name, dimension), from_start=not goes_on)
    return made


def _gives_what_is_there(embedder: Embedder, target: Target, ledger: Ledger) -> bool:
    """Whether name and vectors are the same: all lambdas have the same name, and a model may have been changed.

    If there is nothing to compare, nothing is lost by starting again.
    """
    if target.embedder != embedder.name or embedder.dimension not in (None, target.dimension):
        return False
    there = ledger.new_vectors.sample(PROBES)
    made = embedder.embed_documents([text for text, _ in there])
    return bool(there) and all(
        _same(np.frombuffer(vector, dtype="<f4"), one) for (_, vector), one in zip(there, made, strict=True)
    )


def _same(one: Any, other: Any) -> bool:
    """Whether two vectors differ by no more than a model's rounding in batches of other sizes.

    >>> _same(np.ones(4), np.ones(4) * 1.001), _same(np.ones(4), -np.ones(4)), _same(np.ones(4), np.ones(5))
    (True, False, False)
    """
    return len(one) == len(other) and bool(np.linalg.norm(one - other) <= MOST_DIFFERENCE * np.linalg.norm(one))


def make_successor(collection: Collection, embedder: Embedder, function: object) -> Collection:
    """Create a new collection with the old one's distance, settings and metadata. `function` is the embedder's function
    if it is one of Chroma's."""
    collections, name = CollectionsOfClient(collection), collection.name + SUFFIX
    collections.delete(name)
    metadata = {
        key: value
        for key, value in (collection.metadata or {}).items()
        if not key.startswith("hnsw:") and key not in (NAME_KEY, DIMENSION_KEY)
    }
    settings = {
        name: value for name, value in (collection.configuration_json or {}).items() if name in INDEXES and value
    }
    return collections.create(
        name, configuration=settings, metadata={**metadata, **notes_on(embedder)}, function=function
    )


def find_successor(collection: Collection, uuid: str) -> Collection | None:
    """The successor with that id; None if there is none."""
    one = CollectionsOfClient(collection).get(collection.name + SUFFIX)
    return one if one is not None and str(one.id) == uuid else None


def remove_from_successor(ledger: Ledger, collection: Collection, stored_ids: Sequence[str]) -> None:
    """Remove forgotten records also from a collection that is being filled, or was left half filled."""
    target = ledger.new_vectors.target() if stored_ids else None
    new = None if target is None else find_successor(collection, target.uuid)
    if new is not None:
        with suppress(StoreError):  # if Chroma refuses, they are removed later
            write_chroma(new, lambda: new.delete(ids=list(stored_ids)))


@dataclass
class Filling:
    """The new vectors of a collection's records. `going` raises if the memory is closed meanwhile."""

    ledger: Ledger
    embedder: Embedder
    new: Collection
    going: Callable[[], object]

    def embed(self, progress: Progress | None) -> int:
        """Embed every record without a new vector; return how many were embedded. Records written meanwhile are left
        for the next call."""
        made, (before, total) = 0, self.ledger.new_vectors.progress()
        for rows in self._missing():
            self.going()
            self._keep(rows)
            made += len(rows)
            if progress is not None:
                progress(*self.ledger.new_vectors.progress())
            if made >= total - before:  # others may keep writing without end
                break
        return made

    def embed_the_rest(self) -> None:
        """Embed the records that were written since the last `embed`."""
        for rows in self._missing():
            self._keep(rows)

    def place(self, pace: WritePace) -> int:
        """Write all new vectors into the new collection; return the number of the last change before that."""
        since, last = self.ledger.new_vectors.last_change(), 0
        while found := self.ledger.new_vectors.made(last, pace.records):
            self.going()
            began = time.monotonic()
            overwrite(self.new, [row for _, row in found], ())
            pace.took(len(found), time.monotonic() - began, late=False)
            last = found[-1][0]
        return since

    def _missing(self) -> Iterator[Sequence[tuple[int, str | None]]]:
        last = 0
        while rows := self.ledger.new_vectors.missing(last, BATCH):
            yield rows
            last = rows[-1][0]

    def _keep(self, rows: Sequence[tuple[int, str | None]]) -> None:
        vectors = vectors_of([text for _, text in rows], self.embedder)
        self._check_not_zero(rows, vectors)
        made = {row: one for (row, _), one in zip(rows, vectors, strict=True)}
        if not self.ledger.new_vectors.keep(str(self.new.id), made):
            raise StoreInUseError(
                "Another call is re-embedding the same records, or has already done so. Wait for it, and check "
                "memory.embedder_name before you call again."
            )

    def _check_not_zero(self, rows: Sequence[tuple[int, str | None]], vectors: Sequence[bytes]) -> None:
        """Raise if all vectors are zeros: they find nothing, and would replace vectors that do."""
        full = sum(has_words(text) for _, text in rows)
        if full == 0 or any(np.frombuffer(one, dtype="<f4").any() for one in vectors):
            return
        if full > MOST_UNKNOWN or not self.ledger.new_vectors.sample(1):
            raise EmbedderError(
                f"The embedder {self.embedder.name!r} gave vectors of nothing but zeros for {full} text(s) in a row. "
                "Different texts need different vectors. The records keep their old vectors. Fix the embedder, or "
                "pass another one to reembed()."
            )


def has_words(text: str | None) -> TypeGuard[str]:
    """Whether the text contains anything to embed."""
    return text is not None and text.strip() != ""


def vectors_of(texts: Sequence[str | None], embedder: Embedder) -> list[bytes]:
    """The vectors of the texts, as bytes. A record without a text gets zeros, which are similar to nothing."""
    full = [text for text in texts if has_words(text)]
    made = iter(embedder.embed_documents(full or ["text"]))
    zeros = np.zeros(embedder.dimension or 1, dtype="<f4")
    vectors = [next(made) if has_words(text) else zeros for text in texts]
    return [np.asarray(one, dtype="<f4").tobytes() for one in vectors]


@dataclass(frozen=True)
class Swap:
    """Finishes a re-embedding. `directory` is given for embedded Chroma."""

    ledger: Ledger
    embedder: Embedder
    directory: Path | None
    keeps_mirror: bool

    def done(
        self, filling: Filling, since: int, old: ChromaRecords, compare: Callable[[], object]
    ) -> tuple[int, Collection]:
        """Swap the vectors while no memory writes; return the number of records, and the new collection under the old
        one's name. `since` is the last change before the new collection was filled."""
        compare()
        there, known = self._written(filling.new, -1), self.ledger.mirror.complete_at()
        written = int(known) if known is not None and known.isdecimal() else None
        total = self._swapped(filling, since, written=written, complete_at=None if there is None else str(there.last))
        self._take_in_late(old, written)
        return total, self._ended(filling.new, old.collection)

    def _swapped(self, filling: Filling, since: int, *, written: int | None, complete_at: str | None) -> int:
        """Switch all records to the new vectors in one transaction; return their number. No transaction waits for the
        model: records that others wrote meanwhile are embedded before the next try."""
        vectors, due = self.ledger.new_vectors, self.ledger.due_records
        placed = set(ids_where(filling.new, None))
        for _ in range(MOST_TRIES):
            filling.embed_the_rest()
            with self.ledger.transaction():
                there, changed = self.ledger.mirror.stored_ids(), vectors.changed_since(since)
                if vectors.swap(str(filling.new.id), written=written, complete_at=complete_at):
                    due.mark([*changed, *(there - placed)], gone=False)
                    due.mark(list(placed - there), gone=True)
                    self.ledger.graph.clear()  # it contains vectors, and is rebuilt
                    return self.ledger.mirror.size()
        raise StoreInUseError(
            "Other processes write records faster than the new embedder embeds them. The records keep their old "
            "vectors. Call reembed again when less is written: it continues where it stopped."
        )

    def left(self, collection: Collection, fields: Callable[[Collection], ChromaRecords]) -> Collection:
        """Finish the work of a process that was killed; return the collection to use, which is the given one if nothing
        was left."""
        left, name = self.ledger.new_vectors.unfinished(collection.name), collection.name
        if left is None:
            return collection
        if str(collection.id) == left.uuid:
            self.ledger.attach(left.uuid, name)
            self.ledger.new_vectors.finish()
            return collection
        new, is_old = find_successor(collection, left.uuid), str(collection.id) == left.replaces
        if new is None or not (is_old or collection.count() == 0):
            return collection
        self.ledger.attach(left.uuid, name)
        CheckedEmbedder(self.embedder, name, self.ledger, self.ledger.notes.embedder())
        if is_old:
            self._take_in_late(fields(collection), left.written)
        return self._ended(new, collection)

    def _ended(self, new: Collection, old: Collection) -> Collection:
        """Export all pending changes to the new collection and give it the old one's name. Chroma leaves the lists in a
        deleted collection's metadata to the next collection, so records with lists are deleted first."""
        refill(self.ledger, new)
        with_lists, name = self.ledger.new_vectors.with_lists(), old.name
        if not self.keeps_mirror:
            self.ledger.mirror.drop(list(self.ledger.mirror.stored_ids()))
            self.ledger.mirror.keep_complete_at(None)
        for start in range(0, len(with_lists), PAGE):
            write_chroma(old, lambda page=with_lists[start : start + PAGE]: old.delete(ids=list(page)))  # type: ignore[misc]
        write_chroma(old, lambda: CollectionsOfClient(new).delete(name))
        write_chroma(new, lambda: new.modify(name=name))
        self.ledger.new_vectors.finish()
        return new

    def _take_in_late(self, old: ChromaRecords, number: int | None) -> None:
        """Import what other programs wrote into the old collection after it was last compared."""
        found = self._written(old.collection, -1 if number is None else number)
        if found is not None and number is not None and found.last == number:
            return
        there, mirrored = set(old.ids()), self.ledger.mirror.stored_ids()
        is_known = found is not None and number is not None
        late = sorted(set(found.ids) if found is not None and is_known else there - mirrored)
        gone = mirrored - there - set(self.ledger.new_vectors.with_lists())  # `_ended` deletes these first
        for start in range(0, len(late), PAGE):
            self._take_in(old, late[start : start + PAGE])
        with self.ledger.transaction():
            gone -= self.ledger.due_records.among(gone)
            self.ledger.mirror.drop(list(gone))
            self.ledger.due_records.mark(list(gone), gone=True)

    def _take_in(self, old: ChromaRecords, ids: Sequence[str]) -> None:
        rows = old.rows(ids)
        known = {row[0]: row for row in self.ledger.mirror.rows([row[0] for row in rows])}
        changed = [row for row in rows if _differs(row, known.get(row[0]))]
        made = self._vectors(changed, known)
        owners: dict[Scope | None, list[MirrorRow]] = {}
        for one, text, metadata in changed:
            owners.setdefault(owner_of(metadata, old.fields), []).append(MirrorRow(one, text, metadata, made[one]))
        with self.ledger.transaction():
            self.ledger.mirror.put(owners)
            self.ledger.due_records.mark([row[0] for row in changed], gone=False)

    def _vectors(self, rows: Iterable[EmbeddedRow], known: dict[str, EmbeddedRow]) -> dict[str, bytes]:
        """The known vectors of unchanged texts, and new vectors of the others."""
        texts = {one: text for one, text, _ in rows}
        same = [one for one, text in texts.items() if one in known and known[one][1] == text]
        other = [one for one in texts if one not in set(same)]
        made = vectors_of([texts[one] for one in other], self.embedder) if other else []
        return self.ledger.mirror.vectors(same) | dict(zip(other, made, strict=True))

    def _written(self, collection: Collection, number: int) -> WrittenSince | None:
        return None if self.directory is None else written_since(self.directory, str(collection.id), number)


def _differs(row: EmbeddedRow, known: EmbeddedRow | None) -> bool:
    return known is None or row[1] != known[1] or (row[2] or None) != (known[2] or None)
