"""How are all texts embedded anew? Batch by batch into the ledger and from there into a new collection, to be gone on
with by whoever calls next."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core.errors import StoreInUseError
from adaptive_memory_core.flow.ports import Ledger, Target
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.store.chroma.overwrite import overwrite
from adaptive_memory_core.store.chroma.write_gate import told_alone
from adaptive_memory_core.store.reembed import successor
from adaptive_memory_core.store.write_back_pace import Pace

if TYPE_CHECKING:
    from chromadb import Collection

BATCH = 100  # texts that are embedded at a time: what a process that is killed loses
PAGE = 1_000  # records whose copies are let go of at a time
Progress = Callable[[int, int], object]


@dataclass
class Filling:
    """The new vectors of a collection's records. `going` raises where the memory is closed meanwhile."""

    ledger: Ledger
    collection: Collection
    embedder: Embedder
    new: Collection
    pace: Pace
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
        """What was written since the last `fill`, within a transaction that lets nobody write more."""
        for rows in self._missing():
            self._keep(rows)

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
            told_alone(self.new, lambda ids=gone: self.new.delete(ids=ids))  # type: ignore[misc]
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
        if not self.ledger.new_vectors.keep(self.uuid, {row: one for (row, _), one in zip(rows, vectors, strict=True)}):
            raise StoreInUseError(
                "Another call embeds the same records anew by now, or has done so. Wait for it, and look at "
                "memory.embedder_name before you call again."
            )


def begun(ledger: Ledger, collection: Collection, embedder: Embedder, function: Any) -> Collection:
    """The collection to fill: the one that was begun with this embedder, else a new one."""
    target = ledger.new_vectors.target()
    if target is not None and target.embedder == embedder.name and target.dimension in (None, _dimension(embedder)):
        known = successor.found(collection, target.uuid)
        if known is not None:
            return known
    made = successor.make(collection, embedder, function)
    ledger.new_vectors.begin(Target(str(made.id), embedder.name, embedder.dimension))
    return made


def vectors_of(texts: Sequence[str | None], embedder: Embedder) -> list[bytes]:
    """As the ledger keeps them. A record without a text gets zeros: nothing is like it."""
    said = [text for text in texts if text is not None and text.strip()]
    made = iter(embedder.embed_documents(said or ["text"]))
    zeros = np.zeros(embedder.dimension or 1, dtype="<f4")
    vectors = [next(made) if text is not None and text.strip() else zeros for text in texts]
    return [np.asarray(one, dtype="<f4").tobytes() for one in vectors]


def _dimension(embedder: Embedder) -> int:
    """A model of the same name may be another one by now."""
    return len(embedder.embed_documents(["text"])[0]) if embedder.dimension is None else embedder.dimension
