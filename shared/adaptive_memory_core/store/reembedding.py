"""All texts embedded again, batch by batch, and swapped in: the ledger in one transaction, then Chroma.

A process that is killed before the ledger's transaction leaves the old vectors, one that is killed after it the new
ones: the next process that opens the memory does the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from adaptive_memory_core.errors import EmbedderError, StoreInUseError
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.record_metadata import owner_of
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store import successor_collection
from adaptive_memory_core.store.chroma.chroma_calls import overwrite, write_chroma
from adaptive_memory_core.store.chroma.chroma_changes import WrittenSince, written_since
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.exporter import Exporter
from adaptive_memory_core.store.embedder_check import CheckedEmbedder
from adaptive_memory_core.store.write_back import WritePace

if TYPE_CHECKING:
    from chromadb import Collection

    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

BATCH = 100  # texts that are embedded at a time: what a process that is killed loses
MOST_UNKNOWN = 10  # texts at once of which a model may know no word, where it knows others; guess
PAGE = 1_000  # records whose copies are let go of at a time
Progress = Callable[[int, int], object]


@dataclass
class Filling:
    """The new vectors of a collection's records. `going` raises where the memory is closed meanwhile."""

    ledger: Ledger
    collection: Collection
    embedder: Embedder
    new: Collection
    pace: WritePace
    going: Callable[[], object]

    def fill(self, progress: Progress | None) -> int:
        """Give every record that the mirror has a vector, and place it in the new collection; gives how many had none.

        What is written meanwhile is for the next call.
        """
        made, (before, total) = 0, self.ledger.new_vectors.progress()
        for rows in self._missing():
            self.going()
            self._keep(rows)
            self.place()
            made += len(rows)
            if progress is not None:
                progress(*self.ledger.new_vectors.progress())
            if made >= total - before:  # whoever writes all the time would be waited for without end
                break
        self.place()
        return made

    def embed_the_rest(self) -> None:
        """What was written since the last `fill`."""
        for rows in self._missing():
            self._keep(rows)

    def is_whole(self) -> bool:
        """Whether all that the mirror has is embedded again."""
        return not self.ledger.new_vectors.missing(0, 1)

    def place(self) -> None:
        """Have the new collection hold what has a new vector, as the mirror has it by now."""
        vectors, last = self.ledger.new_vectors, 0
        while found := vectors.unplaced(last, self.pace.records):
            self.going()
            began = time.monotonic()
            overwrite(self.new, [one.record for one in found], ())
            self.pace.took(len(found), time.monotonic() - began, late=False)
            vectors.place(self.uuid, found)
            last = found[-1].row
        while gone := vectors.displaced(PAGE):
            write_chroma(self.new, lambda ids=gone: self.new.delete(ids=ids))  # type: ignore[misc]
            vectors.remove(gone)

    @property
    def uuid(self) -> str:
        return str(self.new.id)

    def _missing(self) -> Iterator[Sequence[tuple[int, str | None]]]:
        last = 0
        while rows := self.ledger.new_vectors.missing(last, BATCH):
            yield rows
            last = rows[-1][0]

    def _keep(self, rows: Sequence[tuple[int, str | None]]) -> None:
        vectors = vectors_of([text for _, text in rows], self.embedder)
        self._check_not_zero(rows, vectors)
        if not self.ledger.new_vectors.keep(self.uuid, {row: one for (row, _), one in zip(rows, vectors, strict=True)}):
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


SWAP_PAGE = 500
MOST_TRIES = 100  # until others write nothing while what they wrote is embedded; guess
EmbeddedRow = tuple[str, str | None, Metadata | None]


@dataclass(frozen=True)
class Swap:
    """What is needed to end what was begun. `directory` is that of an embedded Chroma."""

    ledger: Ledger
    embedder: Embedder
    directory: Path | None
    keeps_mirror: bool

    def done(self, filling: Filling, old: ChromaRecords, compare: Callable[[], object]) -> tuple[int, Collection]:
        """How many records there are, and the new collection under the old one's name. Nobody of ours writes."""
        compare()
        filling.fill(None)
        there, known = self._written(filling.new, -1), self.ledger.mirror.complete_at()
        complete_at = None if there is None else str(there.last)
        written = int(known) if known is not None and known.isdecimal() else None
        total = self._swapped(filling, written=written, complete_at=complete_at)
        self._take_in_late(old, written)
        return total, self._ended(filling.new, old.collection)

    def _swapped(self, filling: Filling, *, written: int | None, complete_at: str | None) -> int:
        """How many records there are, which all have new vectors in one moment. The ledger waits for no model: what
        others of ours wrote until then is embedded before it is looked at again."""
        for _ in range(MOST_TRIES):
            filling.embed_the_rest()
            with self.ledger.transaction():
                if filling.is_whole():
                    total = self.ledger.new_vectors.progress()[1]
                    self.ledger.new_vectors.swap(filling.uuid, written=written, complete_at=complete_at)
                    self.ledger.graph.clear()  # it holds vectors, and is made anew
                    return total
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
        new, is_old = successor_collection.find_successor(collection, left.uuid), str(collection.id) == left.replaces
        if new is None or not (is_old or collection.count() == 0):
            return collection
        self.ledger.attach(left.uuid, name)
        CheckedEmbedder(self.embedder, name, self.ledger, self.ledger.notes.embedder())
        if is_old:
            self._take_in_late(fields(collection), left.written)
        return self._ended(new, collection)

    def _ended(self, new: Collection, old: Collection) -> Collection:
        Exporter(self.ledger, new, Keeping(batch=SWAP_PAGE)).settle()
        with_lists = self.ledger.new_vectors.with_lists()
        if not self.keeps_mirror:
            self.ledger.mirror.drop(list(self.ledger.mirror.stored_ids()))
            self.ledger.mirror.keep_complete_at(None)
        named = successor_collection.replace_original(new, old, old.name, with_lists)
        self.ledger.new_vectors.finish()
        return named

    def _take_in_late(self, old: ChromaRecords, number: int | None) -> None:
        """What other programs wrote into the old collection after it was last compared."""
        found = self._written(old.collection, -1 if number is None else number)
        if found is not None and number is not None and found.last == number:
            return
        there, mirrored = set(old.ids()), self.ledger.mirror.stored_ids()
        told = found is not None and number is not None
        late = sorted(set(found.ids) if found is not None and told else there - mirrored)
        gone = mirrored - there - set(self.ledger.new_vectors.with_lists())  # which `replace_original` deletes first
        for start in range(0, len(late), SWAP_PAGE):
            self._take_in(old, late[start : start + SWAP_PAGE])
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
