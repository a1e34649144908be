"""How are the mirror's parts put together? Search, index and chore over one collection; or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adaptive_memory_core.flow.ports import Index, Ledger, Search
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.store.background import Chore
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.chroma.search import ChromaSearch
from adaptive_memory_core.store.locations import is_in_ram
from adaptive_memory_core.store.mirror.collection_state import CollectionState, FileTimes, SizeAndLast
from adaptive_memory_core.store.mirror.compare import Comparison
from adaptive_memory_core.store.mirror.either import MirroredSearch
from adaptive_memory_core.store.mirror.in_step import InStep
from adaptive_memory_core.store.mirror.index import MirrorIndex
from adaptive_memory_core.store.mirror.keeper import MirrorKeeper
from adaptive_memory_core.store.mirror.search import MirrorSearch

MEGABYTE = 1_000_000
AGAIN_SECONDS = 30.0  # between two comparisons with a server, which does not tell what was changed in place


@dataclass(frozen=True, slots=True)
class Mirrored:
    """What searches, what hears of changes, and what is done in the background."""

    search: Search
    indexes: tuple[Index, ...] = ()
    chores: tuple[Chore, ...] = ()
    keeper: MirrorKeeper | None = None


def mirrored(
    records: ChromaRecords,
    search: ChromaSearch,
    ledger: Ledger,
    keeping: Keeping,
    directory: Path | None,
    wake: Callable[[], object],
) -> Mirrored:
    """The collection's search, through a mirror where it and the ledger outlive the process."""
    if not ledger.outlives_process or ledger.read_only or keeping.mirror_records == 0 or is_in_ram(records.collection):
        return Mirrored(search)
    seen_seconds, rows, fields = keeping.others_seen_seconds, ledger.mirror, records.fields
    state: CollectionState = SizeAndLast(records, seen_seconds) if directory is None else FileTimes(directory)
    in_step = InStep(state, seen_seconds)
    again = AGAIN_SECONDS if directory is None else None
    comparison = Comparison(records, ledger, in_step, directory)
    keeper = MirrorKeeper(comparison, in_step, wake, seen_seconds=seen_seconds, again_seconds=again)
    index = MirrorIndex(rows, fields, in_step, ledger.afterwards, keeper)
    records.heard = index
    inside = MirrorSearch(ledger, fields, search.space, int(keeping.mirror_megabytes * MEGABYTE))
    either = MirroredSearch(search, inside, keeper, most_records=keeping.mirror_records)
    return Mirrored(either, (index,), (keeper,), keeper)
