"""All texts embedded again, batch by batch, and swapped in: the ledger in one transaction, then Chroma.

The new vectors are kept in the ledger next to the old ones, so the next call goes on where one was interrupted. Once
all are there, they are put into a new collection. Then the ledger takes them over at once; what has changed since they
were put there is due to be exported like any other change, and the new collection takes the old one's name. A process
that is killed before the ledger's transaction leaves the old vectors, one that is killed after it the new ones: the
next process that opens the memory does the rest.
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
from adaptive_memory_core.store.chroma.chroma_calls import CollectionsOfClient, call_chroma, overwrite, write_chroma
from adaptive_memory_core.store.chroma.chroma_changes import WrittenSince, written_since
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.collection_repair import refill
from adaptive_memory_core.store.embedder_check import DIMENSION_KEY, NAME_KEY, CheckedEmbedder, notes_on
from adaptive_memory_core.store.write_back import WritePace

if TYPE_CHECKING:
    from chromadb import Collection

    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

SUFFIX = "-being-reembedded"
INDEXES = ("hnsw", "spann")  # whose settings are kept
PROBES = 5  # texts that are embedded again to compare their vectors
MOST_DIFFERENCE = 0.045  # of a vector's length; of vectors of one length, a cosine of .999
BATCH = 100  # texts that are embedded at a time: what a process that is killed loses
MOST_UNKNOWN = 10  # texts at once of which a model may know no word, where it knows others; guess
PAGE = 500  # records that are looked at, or deleted, at a time
MOST_TRIES = 100  # until others write nothing while what they wrote is embedded; guess
EmbeddedRow = tuple[str, str | None, Metadata | None]
Progress = Callable[[int, int], object]
_log = logging.getLogger(__name__)


def begin_or_continue(ledger: Ledger, collection: Collection, embedder: Embedder, function: Any) -> Collection:
    """A new collection to fill. The vectors of an interrupted call stay, if they are what this embedder gives."""
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
    ledger.new_vectors.begin(Target(str(made.id), embedder.name, dimension), anew=not goes_on)
    return made


def _gives_what_is_there(embedder: Embedder, target: Target, ledger: Ledger) -> bool:
    """Whether the name is the same, and the vectors: all lambdas have one name, and a model may have been changed.

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
    """A new one next to it, with its distance, settings and metadata. `function` is Chroma's, if the embedder is."""
    beside, name = CollectionsOfClient(collection), collection.name + SUFFIX
    beside.delete(name)
    metadata = {
        key: value
        for key, value in (collection.metadata or {}).items()
        if not key.startswith("hnsw:") and key not in (NAME_KEY, DIMENSION_KEY)
    }
    settings = {
        name: value for name, value in (collection.configuration_json or {}).items() if name in INDEXES and value
    }
    return beside.create(name, configuration=settings, metadata={**metadata, **notes_on(embedder)}, function=function)


def find_successor(collection: Collection, uuid: str) -> Collection | None:
    """The successor of that id."""
    one = CollectionsOfClient(collection).get(collection.name + SUFFIX)
    return one if one is not None and str(one.id) == uuid else None


def remove_from_successor(ledger: Ledger, collection: Collection, stored_ids: Sequence[str]) -> None:
    """What was forgotten leaves a collection that is being filled, or was left half filled, as well."""
    target = ledger.new_vectors.target() if stored_ids else None
    new = None if target is None else find_successor(collection, target.uuid)
    if new is not None:
        with suppress(StoreError):  # what Chroma refuses leaves it later
            write_chroma(new, lambda: new.delete(ids=list(stored_ids)))


@dataclass
class Filling:
    """The new vectors of a collection's records. `going` raises where the memory is closed meanwhile."""

    ledger: Ledger
    embedder: Embedder
    new: Collection
    going: Callable[[], object]

    def embed(self, progress: Progress | None) -> int:
        """Give every record that the mirror has a new vector; gives how many had none. What is written meanwhile is for
        the next call."""
        made, (before, total) = 0, self.ledger.new_vectors.progress()
        for rows in self._missing():
            self.going()
            self._keep(rows)
            made += len(rows)
            if progress is not None:
                progress(*self.ledger.new_vectors.progress())
            if made >= total - before:  # whoever writes all the time would be waited for without end
                break
        return made

    def embed_the_rest(self) -> None:
        """What was written since the last `embed`."""
        for rows in self._missing():
            self._keep(rows)

    def place(self, pace: WritePace) -> int:
        """Put all of them into the new collection; gives the number of the last change before that."""
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
                "Another call is re-embedding the same records, or has already done so. Wait for it, and look at "
                "memory.embedder_name before you call again."
            )

    def _check_not_zero(self, rows: Sequence[tuple[int, str | None]], vectors: Sequence[bytes]) -> None:
        """Vectors of nothing but zeros find nothing, and would take the place of those that do."""
        said = sum(has_words(text) for _, text in rows)
        if said == 0 or any(np.frombuffer(one, dtype="<f4").any() for one in vectors):
            return
        if said > MOST_UNKNOWN or not self.ledger.new_vectors.sample(1):
            raise EmbedderError(
                f"The embedder {self.embedder.name!r} gave vectors of nothing but zeros for {said} text(s) in a row. "
                "Allowed: vectors that tell texts apart. The records keep their old vectors; mend the embedder, or "
                "pass another one to reembed()."
            )


def has_words(text: str | None) -> TypeGuard[str]:
    """Whether there is anything to embed."""
    return text is not None and text.strip() != ""


def vectors_of(texts: Sequence[str | None], embedder: Embedder) -> list[bytes]:
    """As the ledger keeps them. A record without a text gets zeros: nothing is like it."""
    said = [text for text in texts if has_words(text)]
    made = iter(embedder.embed_documents(said or ["text"]))
    zeros = np.zeros(embedder.dimension or 1, dtype="<f4")
    vectors = [next(made) if has_words(text) else zeros for text in texts]
    return [np.asarray(one, dtype="<f4").tobytes() for one in vectors]


@dataclass(frozen=True)
class Swap:
    """What is needed to end what was begun. `directory` is that of an embedded Chroma."""

    ledger: Ledger
    embedder: Embedder
    directory: Path | None
    keeps_mirror: bool

    def done(
        self, filling: Filling, since: int, old: ChromaRecords, compare: Callable[[], object]
    ) -> tuple[int, Collection]:
        """How many records there are, and the new collection under the old one's name. Nobody of ours writes; `since`
        is the last change before the new collection was filled."""
        compare()
        there, known = self._written(filling.new, -1), self.ledger.mirror.complete_at()
        written = int(known) if known is not None and known.isdecimal() else None
        total = self._swapped(filling, since, written=written, complete_at=None if there is None else str(there.last))
        self._take_in_late(old, written)
        return total, self._ended(filling.new, old.collection)

    def _swapped(self, filling: Filling, since: int, *, written: int | None, complete_at: str | None) -> int:
        """How many records there are, which all have new vectors in one moment. The ledger waits for no model: what
        others of ours wrote until then is embedded before it is looked at again."""
        vectors, due = self.ledger.new_vectors, self.ledger.due_records
        placed = set(call_chroma(lambda: filling.new.get(include=[]))["ids"])
        for _ in range(MOST_TRIES):
            filling.embed_the_rest()
            with self.ledger.transaction():
                there, changed = self.ledger.mirror.stored_ids(), vectors.changed_since(since)
                if vectors.swap(str(filling.new.id), written=written, complete_at=complete_at):
                    due.mark([*changed, *(there - placed)], gone=False)
                    due.mark(list(placed - there), gone=True)
                    self.ledger.graph.clear()  # it holds vectors, and is made anew
                    return self.ledger.mirror.size()
        raise StoreInUseError(
            "Other processes write records faster than the new embedder embeds them. The records keep their old "
            "vectors; call reembed again when less is written: it goes on where it stopped."
        )

    def left(self, collection: Collection, fields: Callable[[Collection], ChromaRecords]) -> Collection:
        """What a process that was killed has left to be done; gives the collection itself where there is nothing."""
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
        """The new collection, with all that is due, under the old one's name. Chroma leaves the lists in a deleted
        collection's metadata to the next one, so records that have any go first."""
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
        """What other programs wrote into the old collection after it was last compared."""
        found = self._written(old.collection, -1 if number is None else number)
        if found is not None and number is not None and found.last == number:
            return
        there, mirrored = set(old.ids()), self.ledger.mirror.stored_ids()
        told = found is not None and number is not None
        late = sorted(set(found.ids) if found is not None and told else there - mirrored)
        gone = mirrored - there - set(self.ledger.new_vectors.with_lists())  # which `_ended` deletes first
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
        """The known ones of texts that are the same, new ones of the others."""
        texts = {one: text for one, text, _ in rows}
        same = [one for one, text in texts.items() if one in known and known[one][1] == text]
        other = [one for one in texts if one not in set(same)]
        made = vectors_of([texts[one] for one in other], self.embedder) if other else []
        return self.ledger.mirror.vectors(same) | dict(zip(other, made, strict=True))

    def _written(self, collection: Collection, number: int) -> WrittenSince | None:
        return None if self.directory is None else written_since(self.directory, str(collection.id), number)


def _differs(row: EmbeddedRow, known: EmbeddedRow | None) -> bool:
    return known is None or row[1] != known[1] or (row[2] or None) != (known[2] or None)
