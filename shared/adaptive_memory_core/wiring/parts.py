"""The parts of a memory: records, search, indexes and background work over one ledger; and the collection, once it can
be opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from adaptive_memory_core.cue.time.intent import Language
from adaptive_memory_core.cue.unrelated_questions import UNRELATED_IN
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import StoreError, StoreInUseError
from adaptive_memory_core.flow.calibrate import calibrate
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.languages import all_languages
from adaptive_memory_core.opened import Opened, Parts
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.sources.graph_and_hierarchy import time_in
from adaptive_memory_core.store import locations, process_locks
from adaptive_memory_core.store.background import Chore, Going
from adaptive_memory_core.store.background_chores import FloorKeeper, ScheduledPruning, checkpoints_of
from adaptive_memory_core.store.chroma.chroma_changes import listen
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.chroma_search import ChromaSearch
from adaptive_memory_core.store.chroma.exporter import CollectionWriteBack, Exporter, Takeover, Wishes
from adaptive_memory_core.store.chroma.importer import PAGE, Importer
from adaptive_memory_core.store.chroma.index_files import refuse_damaged_index
from adaptive_memory_core.store.chroma.open_collection import CollectionAccess, OpenCollection, replaceable
from adaptive_memory_core.store.embedder_check import CheckedEmbedder, EmbedderVersion, recorded
from adaptive_memory_core.store.graph.graph_building import ComparedNames, LinkedUsers
from adaptive_memory_core.store.graph.graph_index import GraphIndex
from adaptive_memory_core.store.graph.graph_lookup import SentenceTexts, SentenceVectorBuilder
from adaptive_memory_core.store.held_elsewhere import HeldElsewhere
from adaptive_memory_core.store.hierarchy.growth_steps import GrowthContext
from adaptive_memory_core.store.hierarchy.hierarchy_index import HierarchyIndex
from adaptive_memory_core.store.ledger.sql_ledger import SQLiteLedger
from adaptive_memory_core.store.ledger_records import LedgerRecords
from adaptive_memory_core.store.memory_check import (
    check_whole_memory,
    compare_on_opening,
    forget_gone_collections,
    may_be_lost,
)
from adaptive_memory_core.store.mirror.record_search import MirrorSearch, RecordSearch
from adaptive_memory_core.store.reembedding import remove_from_successor
from adaptive_memory_core.store.words.word_index import WordIndex
from adaptive_memory_core.store.write_back import WriteBack
from adaptive_memory_core.verbs.inspection import request_to_calibrate
from adaptive_memory_core.wiring.common import Common, Reembedding

if TYPE_CHECKING:
    from chromadb import Collection

    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

MEGABYTE = 1_000_000


def parts_over_collection(common: Common, collection: Collection) -> Parts:
    """The parts in a process that may open the collection."""
    ledger, edition = common.ledger, EmbedderVersion(common.ledger)
    opened = _opened(common, replaceable(collection, edition))
    if ledger.due_records.waiting() <= PAGE:
        with suppress(StoreError):  # then the background does it
            opened.exporter.settle()
    compare_on_opening(common.directory, opened.store, ledger, now=common.asked.in_force.now())
    known = recorded(opened.store.collection, ledger)
    embedder = CheckedEmbedder(common.embedder, collection.name, ledger, known)
    if common.is_shared:
        database = locations.database_of(collection)
        ledger.sharing.describe(opened.store.space, database, embedder=known[0], dimension=known[1])
    access = CollectionAccess()
    parts = _parts(common, access, opened.store.space, embedder, _chores_of(common, opened))
    _begin(opened, parts)
    access.open = opened
    edition.check()
    return parts


def parts_over_ledger(common: Common, space: str, place: HeldElsewhere) -> tuple[Parts, TakingOver]:
    """The parts in a process that may not open the collection until the process that holds it has ended."""
    embedder = CheckedEmbedder(common.embedder, common.name, common.ledger, common.ledger.notes.embedder())
    taking_over = TakingOver(common, place)
    chores: tuple[Chore, ...] = () if place.read_only or place.brief else (taking_over.chore,)
    taking_over.parts = _parts(common, taking_over.access, space, embedder, chores, taking_over.finish)
    return taking_over.parts, taking_over


class TakingOver:
    """Open the collection later: in the background, or when the memory is closed and no other process holds it."""

    opened: Opened
    parts: Parts

    def __init__(self, common: Common, place: HeldElsewhere) -> None:
        self._common, self._place, self.access = common, place, CollectionAccess()
        self.chore = Takeover(
            partial(process_locks.claimed, place.directory),
            self._take_over,
            partial(process_locks.release, place.directory),
            prepare=locations.import_chroma,
        )

    def finish(self) -> None:
        """Write pending changes when the memory is closed. The process that has the collection open writes them. If
        there is none, this process does, unless it was opened briefly; otherwise the next process that opens the memory
        does."""
        ledger = self._common.ledger
        stays_out = self._place.read_only or self._place.brief
        is_due = not stays_out and (ledger.due_records.waiting() or ledger.outbox.waiting())
        if is_due and locations.can_open_chroma() and self.chore.try_once():
            self.access.finish()

    def _take_over(self) -> None:
        """Open Chroma and use it from now on. This process already holds the lock on the directory."""
        place, handles = self._place, self.opened.handles
        refuse_damaged_index(place.directory, place.uuid, place.name)
        with place.opened() as (collection, close):
            opened = _opened(self._common, replaceable(collection, EmbedderVersion(self._common.ledger)))
            handles.callback(process_locks.release, place.directory)
            handles.callback(close)
        _begin(opened, self.parts)
        self.access.open = opened
        self._common.background.change((*self.parts.chores, *_chores_of(self._common, opened)))


def _opened(common: Common, collection: Collection) -> OpenCollection:
    ledger, keeping, fields = common.ledger, common.asked.keeping, common.asked.fields
    only: Scope | None = getattr(ledger, "only_scope", None)
    store = ChromaRecords(collection, fields, only, common.directory)
    in_ram = locations.is_in_ram(collection)
    on_server = common.directory is None and not in_ram
    exporter = Exporter(ledger, collection, keeping, fields if on_server else None)
    exporter.removed = partial(remove_from_successor, ledger, collection)
    importer = Importer(
        store,
        ledger,
        common.directory if only is None else None,  # a ledger of one scope notes nothing about all
        seen_seconds=keeping.others_seen_seconds,
        copies=common.keeps_copies,
        copy_limit=keeping.copy_limit,
        in_ram=in_ram,
        settle=exporter.settle,
    )
    trim = _Trim(common, str(collection.id))
    write_back = WriteBack(ledger, store, keeping, trim, common.background.wake)
    exporter.exported = write_back.wake
    return OpenCollection(store, ChromaSearch(collection, fields), exporter, importer, write_back)


def _begin(opened: OpenCollection, parts: Parts) -> None:
    """Follow changes that other programs make to the collection."""

    def imported(gone: Sequence[str]) -> None:
        parts.words.others_changed()
        if gone:
            parts.hierarchy.gone(gone)

    opened.importer.imported = imported
    opened.importer.open()
    listen(str(opened.store.collection.id), opened.importer)


def _chores_of(common: Common, opened: OpenCollection) -> tuple[Chore, ...]:
    wishes = (Wishes(common.ledger, opened),) if common.is_shared else ()
    purge = _purges(common.ledger, common.background.wake)
    return (opened.write_back, opened.exporter, opened.importer, *wishes, *purge)


def _purges(ledger: Ledger, wake: Callable[[], object]) -> tuple[Chore, ...]:
    """For a ledger in a file, the work that rewrites the file after a deletion."""
    if not isinstance(ledger, SQLiteLedger) or not ledger.outlives_process:
        return ()
    ledger.retention.purge.wake = wake
    return (ledger.retention.purge,)


def _parts(
    common: Common,
    access: CollectionAccess,
    space: str,
    embedder: CheckedEmbedder,
    chores: tuple[Chore, ...],
    finish: Callable[[], object] | None = None,
) -> Parts:
    """All objects that a memory calls."""
    ledger, asked, keeping = common.ledger, common.asked, common.asked.keeping
    wake, fields, in_force = common.background.wake, asked.fields, asked.in_force
    ledger.user_files.sweep()
    records = LedgerRecords(ledger, fields, space, access)
    most_bytes = int(keeping.mirror_megabytes * MEGABYTE)
    inside = MirrorSearch(ledger, fields, space, most_bytes, common.copies_in_files("vectors"))
    search = RecordSearch(inside, records, access, most_records=keeping.mirror_records)
    write_back = CollectionWriteBack(ledger, access, keeping.wait_seconds)
    in_files = common.copies_in_files("words")
    words = WordIndex(ledger.words, fields, access, wake, in_files, read_only=ledger.read_only)
    linked = LinkedUsers(ledger.graph, records, fields, wake, read_only=ledger.read_only)
    compared = ComparedNames(ledger.graph.alike, embedder, common.embedder.name, read_only=ledger.read_only)
    spoken = _spoken(common, records, embedder, compared)
    after = partial(ledger.afterwards, wake)  # a transaction's rows are readable once it is committed
    graph = GraphIndex(
        ledger.graph, records, search, fields, after, linked, compared, spoken, words.count, asked.entities
    )
    hierarchy = _hierarchy(common, records, search, embedder)
    made: list[Ports] = []  # measuring floors needs the ports, which contain the floors

    def measured(scope: Scope, policy: Policy, language: str, going: Going) -> object:
        request = request_to_calibrate(in_force, scope, policy)
        return calibrate(made[0], request, UNRELATED_IN[language], going=going)

    floors = FloorKeeper(embedder, common.embedder.name, records, measured, wake)
    pruning = ScheduledPruning(keeping, lambda: in_force.regime, in_force.now, lambda: made[0])
    made.append(
        Ports(
            search=search,
            records=records,
            ledger=ledger if asked.telemetry is None else asked.telemetry.ledger(ledger),
            embedder=embedder,
            write_back=write_back,
            words=words,
            graph=graph,
            hierarchy=hierarchy,
            indexes=(words, graph, hierarchy),
            floors=floors,
            background=common.background,
            write_through=asked.options["write"] == "through",
            log=keeping.log,
            count_seconds=keeping.count_seconds,
            fields=fields,
            languages=_languages(common),
            channels=asked.channels,
            sources=asked.sources,
            unanswered=asked.unanswered,
        )
    )
    always: tuple[Chore, ...] = (words, graph, hierarchy, floors, pruning, common.files, *checkpoints_of(ledger, wake))
    return Parts(
        ports=made[0],
        words=words,
        graph=graph,
        hierarchy=hierarchy,
        chores=(*chores, *always),
        whole=partial(_whole, common, access, embedder),
        sync=partial(_sync, access, write_back),
        finish=access.finish if finish is None else finish,
        reembed=partial(_reembed, common, access),
    )


def _spoken(
    common: Common, records: LedgerRecords, embedder: CheckedEmbedder, compared: ComparedNames
) -> SentenceVectorBuilder:
    judge, languages = common.asked.judge, _languages(common)
    return SentenceVectorBuilder(
        common.ledger.graph.alike,
        compared,
        SentenceTexts(records, common.asked.fields),
        embedder,
        common.embedder.name,
        lambda text: time_in(text, judge, languages),
        slow=judge is not None and judge.time is not None,
        read_only=common.ledger.read_only,
    )


def _languages(common: Common) -> tuple[Language, ...]:
    given = common.asked.options.get("languages")
    return tuple(all_languages() if given is None else given)


def _hierarchy(
    common: Common, records: LedgerRecords, search: RecordSearch, embedder: CheckedEmbedder
) -> HierarchyIndex:
    asked, ledger = common.asked, common.ledger
    growing = GrowthContext(
        rows=ledger.hierarchy,
        mirror=ledger.mirror,
        records=records,
        search=search,
        embedder=embedder,
        fields=asked.fields,
        roles=asked.roles,
        settings=lambda: asked.in_force.policy.advanced.hierarchy,
        now=asked.in_force.now,
        transaction=ledger.transaction,
    )
    return HierarchyIndex(growing, ledger.notes.uuid, common.background.wake, read_only=ledger.read_only)


def _sync(access: CollectionAccess, write_back: CollectionWriteBack) -> None:
    """Import what other programs wrote into the collection, in the process that has it open."""
    if access.open is None:
        write_back.flush()
    else:
        access.open.exporter.settle()
        access.open.importer.sync()


def _whole(common: Common, access: CollectionAccess, embedder: CheckedEmbedder, *, repair: bool) -> list[Finding]:
    """Check the whole memory, and repair it if asked."""
    if access.open is None:
        _refuse(common, "look through Chroma's files", f"check({'repair=True' if repair else ''})")
    access.open.exporter.settle()
    parts = (common.directory, access.open.store, common.ledger, embedder.embed_documents)
    found = check_whole_memory(*parts, repair=repair, now=common.asked.in_force.now())
    if repair:
        with suppress(StoreError):  # then the background does it, or reports why it cannot
            access.open.importer.sync(everything=False)
    return found


def _reembed(common: Common, access: CollectionAccess, opened: Opened, given: Any, progress: Any) -> int:
    """Embed all records again."""
    if access.open is None:
        _refuse(common, "embed it again", "reembed")
    access.open.exporter.settle()
    return Reembedding(common, access.open, parts_over_collection)(opened, given, progress)


def _refuse(common: Common, what: str, call: str) -> NoReturn:
    if common.ledger.read_only:
        raise StoreError(
            f"The memory in {str(common.directory)!r} is open for reading only. Open it where its files may be "
            "written, without read_only=True."
        )
    raise StoreInUseError(
        f"Another process holds the collection {shown(common.name)}, and only that one can {what}. Call {call} there, "
        "or once it has ended."
    )


class _Trim:
    """Additional work of each write-back: remove old rows from the ledger and sample its statistics."""

    def __init__(self, common: Common, collection_id: str) -> None:
        self._common = common
        directory, ledger = common.directory, common.asked.options.get("ledger")
        self._look_for_gone = (
            directory is not None
            and locations.is_next_to_files(directory, ledger)
            and not may_be_lost(directory, collection_id)
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
