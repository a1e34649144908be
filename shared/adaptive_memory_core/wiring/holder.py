"""Which parts has a memory whose process holds the collection? All are over Chroma, and it works for its guests too."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from adaptive_memory_core.errors import LedgerError, StoreError
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.opened import Parts
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store import locations
from adaptive_memory_core.store.background import Chore
from adaptive_memory_core.store.check_memory import compare_on_opening, whole_memory
from adaptive_memory_core.store.chroma.changes import ChangeWatch
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.chroma.replaced import replaceable
from adaptive_memory_core.store.chroma.search import ChromaSearch
from adaptive_memory_core.store.chroma.up_to_date import up_to_date
from adaptive_memory_core.store.due_records import DueRecordsOfOthers
from adaptive_memory_core.store.edition import Edition
from adaptive_memory_core.store.embedder_check import CheckedEmbedder, recorded
from adaptive_memory_core.store.gone_collections import forget_gone_collections, is_beside, may_be_lost
from adaptive_memory_core.store.guests import Guests
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.store.mirror.assembled import Mirrored, mirrored
from adaptive_memory_core.store.mirror.records import MirrorRecords
from adaptive_memory_core.store.reembed.removed import RemovedMeanwhile
from adaptive_memory_core.store.write_back import WriteBack
from adaptive_memory_core.wiring.common import Common, Store
from adaptive_memory_core.wiring.reembed import Reembedding

if TYPE_CHECKING:
    from chromadb import Collection


def holder_parts(common: Common, collection: Collection) -> Parts:
    """Over the collection itself. What guests wrote is in it before anybody asks it."""
    asked, ledger = common.asked, common.ledger
    edition = Edition(ledger)
    collection = replaceable(collection, edition)
    due = _due_records(common, collection)
    only: Scope | None = getattr(ledger, "only_scope", None)
    itself = records = ChromaRecords(collection, asked.fields, only)
    if due is not None:
        due.settle()
        records = ChromaRecords(up_to_date(collection, due.settle), asked.fields)
    compare_on_opening(common.directory, records, ledger, now=asked.in_force.now())
    known = recorded(records.collection, ledger)
    embedder = CheckedEmbedder(common.embedder, collection.name, ledger, known)
    if due is not None:
        ledger.sharing.describe(records.space, locations.database_of(collection), embedder=known[0], dimension=known[1])
    parts = common.parts(_store(common, itself, records, due, embedder), embedder)
    edition.check()
    return parts


def _store(
    common: Common,
    itself: ChromaRecords,
    records: ChromaRecords,
    due: DueRecordsOfOthers | None,
    embedder: CheckedEmbedder,
) -> Store:
    """`itself` is what the mirror compares itself with; `records` is what is asked, with all that guests wrote."""
    keeping, ledger, wake = common.asked.keeping, common.ledger, common.background.wake
    search = ChromaSearch(records.collection, records.fields)
    mirror = mirrored(itself, search, ledger, keeping, common.directory, wake, common.kept("vectors"))
    records.heard = itself.heard
    if (keeper := mirror.keeper) is not None:
        copies = MirrorRecords(ledger, records.fields, records.space)
        records.copies = lambda: copies if keeper.ready() else None
    write_back = WriteBack(ledger, records, keeping, _Trim(common, str(itself.collection.id)), wake)
    new = RemovedMeanwhile(ledger, itself.collection, keeps_mirror=mirror.keeper is not None)
    guests: tuple[Chore, ...] = ()
    if due is not None and mirror.keeper is not None:
        due.heard, due.removed = records.heard, new.remove
        guests = (due, Guests(ledger, due, write_back, mirror.keeper, keeping.others_seen_seconds))
    return Store(
        records=records,
        search=mirror.search,
        write_back=write_back,
        indexes=mirror.indexes if ledger.new_vectors.target() is None else (*mirror.indexes, new),
        chores=(write_back, *guests, *mirror.chores, *_purges(ledger, wake)),
        whole=partial(_whole, common, itself, due, embedder),
        sync=_nothing if mirror.keeper is None else mirror.keeper.sync,
        finish=partial(_finish, due, write_back, mirror),
        reembed=Reembedding(common, itself, mirror, write_back, holder_parts),
        changes=ChangeWatch(common.directory, mirror.only_ours_since),
        others_heard=mirror.comparison.tell,
        yet_to_come=int if due is None else ledger.due_records.waiting,
    )


def shareable(common: Common) -> bool:
    """Whether other processes can do without the collection: the ledger beside it has all that they need."""
    ledger, given = common.ledger, common.asked.options.get("ledger")
    beside = is_beside(common.directory, given)
    return beside and ledger.outlives_process and not ledger.read_only and common.asked.keeping.mirror_records > 0


def _due_records(common: Common, collection: Collection) -> DueRecordsOfOthers | None:
    if not shareable(common):
        return None
    keeping = common.asked.keeping
    return DueRecordsOfOthers(common.ledger, collection, lag_seconds=keeping.lag_seconds, batch=keeping.batch)


def _purges(ledger: Ledger, wake: Callable[[], object]) -> tuple[Chore, ...]:
    """Where the ledger is a file: it is written anew, once something was deleted."""
    if not isinstance(ledger, SQLiteLedger) or not ledger.outlives_process:
        return ()
    ledger.retention.purge.wake = wake
    return (ledger.retention.purge,)


def _nothing() -> None:
    """There is no mirror."""


def _finish(due: DueRecordsOfOthers | None, write_back: WriteBack, mirror: Mirrored) -> None:
    if due is not None:
        due.settle()
    write_back.flush()
    write_back.tidy()
    if mirror.keeper is not None:
        with suppress(StoreError, LedgerError):  # then the next opening compares more
            mirror.comparison.keep_last()


def _whole(
    common: Common,
    records: ChromaRecords,
    due: DueRecordsOfOthers | None,
    embedder: CheckedEmbedder,
    *,
    repair: bool,
) -> list[Finding]:
    if due is not None:
        due.settle()
    parts = (common.directory, records, common.ledger, embedder.embed_documents)
    return whole_memory(*parts, repair=repair, now=common.asked.in_force.now())


class _Trim:
    """What is done with each write-back besides: the ledger lets go of what is old."""

    def __init__(self, common: Common, collection_id: str) -> None:
        self._common = common
        directory, ledger = common.directory, common.asked.options.get("ledger")
        self._look_for_gone = (
            directory is not None and is_beside(directory, ledger) and not may_be_lost(directory, collection_id)
        )

    def __call__(self, *, at_once: bool) -> None:
        common, asked = self._common, self._common.asked
        keep, now = asked.keeping, asked.in_force.now()
        if common.directory is not None and self._look_for_gone:
            self._look_for_gone = False
            forget_gone_collections(common.directory, common.ledger)
        trim = common.ledger.retention.trim
        trim(now=now, log_days=keep.log_days, log_recalls=keep.log_recalls, at_once=at_once)
        common.ledger.statistics.sample(asked.in_force.regime, every=keep.sample_recalls, now=now)
