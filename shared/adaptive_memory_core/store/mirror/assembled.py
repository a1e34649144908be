"""How are the mirror's parts put together? Search, index and chore over one collection; or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adaptive_memory_core.flow.ports import Index, Ledger, Search
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.store.background import Chore
from adaptive_memory_core.store.chroma.changes import unknown
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.chroma.search import ChromaSearch
from adaptive_memory_core.store.locations import is_in_ram
from adaptive_memory_core.store.mirror.asked_ahead import AskedAhead
from adaptive_memory_core.store.mirror.collection_state import FileTimes, SizeAndLast
from adaptive_memory_core.store.mirror.compare import Comparison
from adaptive_memory_core.store.mirror.either import MirroredSearch
from adaptive_memory_core.store.mirror.in_step import InStep
from adaptive_memory_core.store.mirror.index import MirrorIndex
from adaptive_memory_core.store.mirror.keeper import MirrorKeeper
from adaptive_memory_core.store.mirror.search import MirrorSearch
from adaptive_memory_core.store.user_files.kept_copies import KeptCopies

if TYPE_CHECKING:
    from chromadb import Collection

MEGABYTE = 1_000_000
AGAIN_SECONDS = 30.0  # between two comparisons with a server, which does not tell what was changed in place


@dataclass(frozen=True, slots=True)
class Mirrored:
    """What searches, what compares the copies, what hears of changes, what is done in the background, and since which
    comparison nobody but us has written; where no copies are kept there is nothing of the last four."""

    search: Search
    comparison: Comparison
    indexes: tuple[Index, ...] = ()
    chores: tuple[Chore, ...] = ()
    keeper: MirrorKeeper | None = None
    only_ours_since: Callable[[], int | None] = unknown


def mirrored(
    records: ChromaRecords,
    search: ChromaSearch,
    ledger: Ledger,
    keeping: Keeping,
    directory: Path | None,
    wake: Callable[[], object],
    kept: KeptCopies,
) -> Mirrored:
    """The collection's search, through a mirror where it and the ledger outlive the process."""
    seen_seconds, fields = keeping.others_seen_seconds, records.fields
    state = FileTimes(directory) if directory is not None else SizeAndLast(records, seen_seconds)
    in_step = InStep(state, seen_seconds)
    whole = records.only is None  # else what is known of the whole collection is not ours to note
    comparison = Comparison(records, ledger, in_step, directory if whole else None)
    if not keeps_copies(records.collection, ledger, keeping):
        return Mirrored(search, comparison)
    again = AGAIN_SECONDS if directory is None else None
    ahead = AskedAhead(state, wake, seen_seconds=seen_seconds) if isinstance(state, SizeAndLast) else None
    recalled, asking = (int, ()) if ahead is None else (ahead.recalled, (ahead,))
    keeper = MirrorKeeper(comparison, in_step, wake, seen_seconds=seen_seconds, again_seconds=again, recalled=recalled)
    index = MirrorIndex(ledger, fields, in_step, keeper)
    records.heard = index
    inside = MirrorSearch(ledger, fields, search.space, int(keeping.mirror_megabytes * MEGABYTE), kept)
    either = MirroredSearch(search, inside, keeper, most_records=keeping.mirror_records)
    return Mirrored(either, comparison, (index,), (*asking, keeper), keeper, in_step.only_ours_since)


def keeps_copies(collection: Collection, ledger: Ledger, keeping: Keeping) -> bool:
    """Whether the ledger holds copies of the records, to be searched."""
    lasts = ledger.outlives_process and not ledger.read_only
    return lasts and keeping.mirror_records > 0 and not is_in_ram(collection)
