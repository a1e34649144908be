"""How does a filled collection take the place of the old one? The ledger swaps all at once; Chroma follows.

A process that is killed before the ledger's transaction leaves the old vectors, one that is killed after it the new
ones: whoever opens the memory next does what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adaptive_memory_core.errors import StoreInUseError
from adaptive_memory_core.flow.ports import Ledger, MirrorRow
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.chroma.changed_since import Written, written_since
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.due_records import DueRecordsOfOthers
from adaptive_memory_core.store.embedder_check import CheckedEmbedder
from adaptive_memory_core.store.reembed import successor
from adaptive_memory_core.store.reembed.fill import Filling, vectors_of
from adaptive_memory_core.stored_owner import owner_of

if TYPE_CHECKING:
    from chromadb import Collection

PAGE = 500
MOST_TRIES = 100  # until others write nothing while what they wrote is embedded; guess
Row = tuple[str, str | None, Metadata | None]


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
        new, is_old = successor.found(collection, left.uuid), str(collection.id) == left.replaces
        if new is None or not (is_old or collection.count() == 0):
            return collection
        self.ledger.attach(left.uuid, name)
        CheckedEmbedder(self.embedder, name, self.ledger, self.ledger.notes.embedder())
        if is_old:
            self._take_in_late(fields(collection), left.written)
        return self._ended(new, collection)

    def _ended(self, new: Collection, old: Collection) -> Collection:
        DueRecordsOfOthers(self.ledger, new, lag_seconds=0.0, batch=PAGE).settle()
        with_lists = self.ledger.new_vectors.with_lists()
        if not self.keeps_mirror:
            self.ledger.mirror.drop(list(self.ledger.mirror.stored_ids()))
            self.ledger.mirror.keep_complete_at(None)
        named = successor.take_place(new, old, old.name, with_lists)
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
        gone = mirrored - there - set(self.ledger.new_vectors.with_lists())  # which `take_place` deletes first
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

    def _vectors(self, rows: Iterable[Row], known: dict[str, Row]) -> dict[str, bytes]:
        """The known ones of texts that are the same, new ones of the others."""
        texts = {one: text for one, text, _ in rows}
        same = [one for one, text in texts.items() if one in known and known[one][1] == text]
        other = [one for one in texts if one not in set(same)]
        made = vectors_of([texts[one] for one in other], self.embedder) if other else []
        return self.ledger.mirror.vectors(same) | dict(zip(other, made, strict=True))

    def _written(self, collection: Collection, number: int) -> Written | None:
        return None if self.directory is None else written_since(self.directory, str(collection.id), number)


def _differs(row: Row, known: Row | None) -> bool:
    return known is None or row[1] != known[1] or (row[2] or None) != (known[2] or None)
