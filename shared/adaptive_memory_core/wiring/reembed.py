"""How does a memory in use get another embedder? All is embedded anew beside it; then its parts are exchanged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.errors import ClosedError, StoreInUseError
from adaptive_memory_core.flow.calls.workers import CLOSED
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.models.chroma_function import stored_by_chroma
from adaptive_memory_core.models.embedder import Embedder, as_embedder
from adaptive_memory_core.opened import Opened, Parts
from adaptive_memory_core.store import locations
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.chroma_writes import only_writer
from adaptive_memory_core.store.chroma.open_collection import OpenCollection
from adaptive_memory_core.store.reembedding import BATCH, Filling, Progress, Swap
from adaptive_memory_core.store.successor_collection import begin_or_continue
from adaptive_memory_core.store.write_back import WritePace
from adaptive_memory_core.wiring.common import Asked, Common

if TYPE_CHECKING:
    from chromadb import Collection

_turn = threading.Lock()  # one at a time in a process: two would each undo what the other has made


@dataclass(frozen=True)
class Reembedding:
    """A memory's way to other vectors. `old` is the old collection, whose texts the ledger has, or is filled with; and
    `parts` makes the parts of a memory over the new one."""

    common: Common
    old: OpenCollection
    parts: Callable[[Common, Collection], Parts]

    def __call__(self, opened: Opened, given: Any, progress: Progress | None) -> int:
        """Embed all records anew; gives how many there are. Where it is interrupted the next call goes on."""
        if not _turn.acquire(blocking=False):
            raise StoreInUseError(
                "Another call of this process embeds a collection anew. Wait for it, then call again."
            )
        try:
            filling = self._begun(opened, given)
            self.old.importer.sync()
            while filling.fill(progress) > BATCH:  # what was written meanwhile
                self.old.importer.sync()
            with self._nobody_writes(opened):
                return self._exchange(opened, filling)
        finally:
            _turn.release()

    def _begun(self, opened: Opened, given: Any) -> Filling:
        collection, keeping = self.old.store.collection, self.common.asked.keeping
        embedder = replace(as_embedder(given))
        new = begin_or_continue(self.common.ledger, collection, embedder, stored_by_chroma(given))
        pace = WritePace(stall_ms=keeping.stall_ms, most=keeping.batch)

        def going() -> None:
            if not opened.usable:
                raise ClosedError(f"{CLOSED} Call reembed again: it goes on where it stopped.")

        return Filling(self.common.ledger, collection, embedder, new, pace, going)

    @contextmanager
    def _nobody_writes(self, opened: Opened) -> Generator[None, None, None]:
        """No verb is under way, nothing is written back, and no other process of ours writes into Chroma."""
        directory = self.common.directory
        with (
            opened.exchange.alone(),
            self.old.write_back.paused(),
            nullcontext() if directory is None else only_writer(directory),
        ):
            yield

    def _exchange(self, opened: Opened, filling: Filling) -> int:
        common = replace(self.common, embedder=filling.embedder)
        swap = Swap(common.ledger, filling.embedder, common.directory, self.common.keeps_copies)
        total, named = swap.done(filling, self.old.store, self.old.importer.sync)
        locations.keep_in_ram(common.ledger, str(named.id))
        opened.change_parts(self.parts(common, named), filling.embedder.name)
        return total


def ended(
    asked: Asked, collection: Collection, embedder: Embedder, ledger: Ledger, directory: Path | None
) -> Collection:
    """The collection; where a process was killed while another was taking its place, that one, once it has."""
    return Swap(ledger, embedder, directory, asked.keeping.copy_limit > 0).left(
        collection, partial(ChromaRecords, fields=asked.fields)
    )
