"""How are all texts embedded anew? Batch by batch into the ledger and from there into a new collection, to be gone on
with by whoever calls next."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from adaptive_memory_core.errors import EmbedderError, StoreInUseError
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.store.chroma.overwrite import overwrite
from adaptive_memory_core.store.chroma.write_gate import told_alone
from adaptive_memory_core.store.write_back_pace import Pace

if TYPE_CHECKING:
    from chromadb import Collection

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
        """What was written since the last `fill`."""
        for rows in self._missing():
            self._keep(rows)

    def is_whole(self) -> bool:
        """Whether all that the mirror has is embedded anew."""
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
        self._check_not_zero(rows, vectors)
        if not self.ledger.new_vectors.keep(self.uuid, {row: one for (row, _), one in zip(rows, vectors, strict=True)}):
            raise StoreInUseError(
                "Another call embeds the same records anew by now, or has done so. Wait for it, and look at "
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
