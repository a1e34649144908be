"""How does a memory in use get another embedder? All is embedded anew beside it; then its parts are exchanged."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.errors import ClosedError, StoreInUseError
from adaptive_memory_core.flow.calls.under_way import CLOSED
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.models.chroma_function import stored_by_chroma
from adaptive_memory_core.models.embedder import Embedder, as_embedder
from adaptive_memory_core.opened import Opened, Parts
from adaptive_memory_core.store import locations
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.chroma.write_gate import alone
from adaptive_memory_core.store.mirror.assembled import Mirrored, keeps_copies
from adaptive_memory_core.store.reembed.begin_or_continue import begun
from adaptive_memory_core.store.reembed.fill import BATCH, Filling, Progress
from adaptive_memory_core.store.reembed.removed import RemovedMeanwhile
from adaptive_memory_core.store.reembed.swap import Swap
from adaptive_memory_core.store.write_back import WriteBack
from adaptive_memory_core.store.write_back_pace import Pace
from adaptive_memory_core.wiring.common import Asked, Common

if TYPE_CHECKING:
    from chromadb import Collection

_turn = threading.Lock()  # one at a time in a process: two would each undo what the other has made


@dataclass(frozen=True)
class Reembedding:
    """A memory's way to other vectors. `itself` is the old collection, `mirror` has its texts, or is filled with them,
    and `parts` makes the parts of a memory over the new one."""

    common: Common
    itself: ChromaRecords
    mirror: Mirrored
    write_back: WriteBack
    parts: Callable[[Common, Collection], Parts]

    def __call__(self, opened: Opened, given: Any, progress: Progress | None) -> int:
        """Embed all records anew; gives how many there are. Where it is interrupted the next call goes on."""
        if not _turn.acquire(blocking=False):
            raise StoreInUseError(
                "Another call of this process embeds a collection anew. Wait for it, then call again."
            )
        try:
            filling = self._begun(opened, given)
            self._compare()
            while filling.fill(progress) > BATCH:  # what was written meanwhile
                self._compare()
            with self._nobody_writes(opened):
                return self._exchange(opened, filling)
        finally:
            _turn.release()

    def _compare(self) -> None:
        """Have the mirror hold what the collection does."""
        if self.mirror.keeper is not None:
            self.mirror.keeper.sync()
        else:
            deque(self.mirror.comparison.run(), maxlen=0)

    def _begun(self, opened: Opened, given: Any) -> Filling:
        collection, keeping = self.itself.collection, self.common.asked.keeping
        embedder = replace(as_embedder(given))
        new = begun(self.common.ledger, collection, embedder, stored_by_chroma(given))
        self._let_hear(opened)
        pace = Pace(stall_ms=keeping.stall_ms, most=keeping.batch)

        def going() -> None:
            if not opened.usable:
                raise ClosedError(f"{CLOSED} Call reembed again: it goes on where it stopped.")

        return Filling(self.common.ledger, collection, embedder, new, pace, going)

    def _let_hear(self, opened: Opened) -> None:
        """What is forgotten from now on leaves the new collection, too, until it is an old one."""
        ports, ledger = opened.parts.ports, self.common.ledger
        if not any(isinstance(one, RemovedMeanwhile) for one in ports.indexes):
            keeps_mirror = self.mirror.keeper is not None
            new = RemovedMeanwhile(ledger, self.itself.collection, keeps_mirror=keeps_mirror)
            opened.change_parts(replace(opened.parts, ports=replace(ports, indexes=(*ports.indexes, new))))

    @interruptible
    def _nobody_writes(self, opened: Opened) -> Generator[None, None, None]:
        """No verb is under way, nothing is written back, and no other process of ours writes into Chroma."""
        directory = self.common.directory
        with (
            opened.exchange.alone(),
            self.write_back.paused(),
            nullcontext() if directory is None else alone(directory),
        ):
            yield

    def _exchange(self, opened: Opened, filling: Filling) -> int:
        common = replace(self.common, embedder=filling.embedder)
        swap = Swap(common.ledger, filling.embedder, common.directory, keeps_mirror=self.mirror.keeper is not None)
        total, named = swap.done(filling, self.itself, self._compare)
        locations.keep_in_ram(common.ledger, str(named.id))
        opened.change_parts(self.parts(common, named), filling.embedder.name)
        return total


def ended(
    asked: Asked, collection: Collection, embedder: Embedder, ledger: Ledger, directory: Path | None
) -> Collection:
    """The collection; where a process was killed while another was taking its place, that one, once it has."""
    keeps_mirror = keeps_copies(collection, ledger, asked.keeping)
    return Swap(ledger, embedder, directory, keeps_mirror=keeps_mirror).left(
        collection, partial(ChromaRecords, fields=asked.fields)
    )
