"""The objects that a call of a verb uses: search, records, ledger, models, indexes and the background worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adaptive_memory_core.cue.time.intent import Language
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.foreign_calls import Theirs, Unanswered
from adaptive_memory_core.flow.ports.models import EmbedderPort
from adaptive_memory_core.flow.ports.records import Index
from adaptive_memory_core.flow.ports.source import Source

if TYPE_CHECKING:
    from adaptive_memory_core.store.background import Background
    from adaptive_memory_core.store.background_chores import FloorKeeper
    from adaptive_memory_core.store.chroma.exporter import CollectionWriteBack
    from adaptive_memory_core.store.graph.graph_index import GraphIndex
    from adaptive_memory_core.store.hierarchy.hierarchy_index import HierarchyIndex
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger
    from adaptive_memory_core.store.ledger_records import LedgerRecords
    from adaptive_memory_core.store.mirror.record_search import RecordSearch
    from adaptive_memory_core.store.words.word_index import WordIndex


@dataclass(frozen=True, slots=True)
class Ports:
    """The parts of an opened memory that verbs use."""

    search: RecordSearch
    records: LedgerRecords
    ledger: Ledger
    embedder: EmbedderPort
    write_back: CollectionWriteBack
    words: WordIndex
    graph: GraphIndex
    hierarchy: HierarchyIndex
    indexes: Sequence[Index]
    floors: FloorKeeper
    background: Background
    write_through: bool
    log: bool
    count_seconds: float  # that a recall waits to be counted
    fields: Fields
    languages: tuple[Language, ...]
    channels: Mapping[str, Theirs]  # the caller's own
    sources: Sequence[Source]  # where candidates come from, in the order in which they are asked
    unanswered: Mapping[str, Unanswered]  # of our own channels
