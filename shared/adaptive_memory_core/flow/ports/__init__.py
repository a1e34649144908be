"""Which ports does a flow call? Search, records, ledger, models, indexes and the background worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from adaptive_memory_core.cue.time.intent import Language
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.foreign_calls import Theirs, Unanswered
from adaptive_memory_core.flow.ports.graph import GraphIndexPort
from adaptive_memory_core.flow.ports.hierarchy import HierarchyPort
from adaptive_memory_core.flow.ports.ledger import Ledger
from adaptive_memory_core.flow.ports.ledger_values import (
    DEMOTED,
    REWRITTEN,
    Advance,
    Counted,
    Due,
    DueRecord,
    Erased,
    Extent,
    KnownCollection,
    KnownStates,
    LedgerRow,
    MirrorNews,
    MirrorPage,
    MirrorRow,
    Moves,
    RecallEntry,
    RemovalRule,
    Rewritten,
    Since,
    Tally,
    Target,
    Unfinished,
    Unplaced,
    VerdictEffectsPort,
    Versions,
    WordNews,
    WordRow,
    never_read,
)
from adaptive_memory_core.flow.ports.models import EmbedderPort
from adaptive_memory_core.flow.ports.records import (
    Index,
    JudgedQuestion,
    Records,
    SearchPort,
    Stored,
    Vector,
    Where,
    seen_of,
)
from adaptive_memory_core.flow.ports.source import Found, NearestAndNamed, Source, WordsPort
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import BackgroundStats, ProjectionStats, WriteBackProgress
from adaptive_memory_core.score.nothing_found import Floor

__all__ = [
    "Advance",
    "BackgroundPort",
    "Counted",
    "DEMOTED",
    "RemovalRule",
    "Due",
    "DueRecord",
    "EmbedderPort",
    "RecallEntry",
    "Erased",
    "Extent",
    "Floors",
    "Found",
    "GraphIndexPort",
    "HierarchyPort",
    "Index",
    "VerdictEffectsPort",
    "JudgedQuestion",
    "KnownCollection",
    "KnownStates",
    "Ledger",
    "MirrorNews",
    "MirrorPage",
    "MirrorRow",
    "Moves",
    "NearestAndNamed",
    "Ports",
    "REWRITTEN",
    "Records",
    "Rewritten",
    "LedgerRow",
    "SearchPort",
    "Since",
    "Source",
    "Stored",
    "Tally",
    "Target",
    "Unfinished",
    "Unplaced",
    "Vector",
    "Versions",
    "Where",
    "WordNews",
    "WordRow",
    "WordsPort",
    "WriteBackPort",
    "never_read",
    "seen_of",
]


class Floors(Protocol):
    """Measures in the background what unrelated questions find. Nothing waits for it."""

    def want(self, scope: Scope, policy: Policy, known: Floor | None, language: str = "") -> None: ...
    def wrote(self, scope: Scope) -> None: ...
    @property
    def embedder(self) -> EmbedderPort:
        """The memory's, which caches the vectors of our questions: all scopes are asked the same ones."""

    def manner(self, policy: Policy, language: str = "") -> str: ...


class WriteBackPort(Protocol):
    """The write-back of what the ledger learned into the collection."""

    def wake(self) -> None: ...
    def tidy(self, *, at_once: bool = True) -> None: ...
    def flush(self) -> None: ...
    def stats(self, scope: Scope) -> ProjectionStats: ...
    def progress(self) -> WriteBackProgress:
        """How far it is for all scopes."""


class BackgroundPort(Protocol):
    """The thread that does the chores."""

    @property
    def chores(self) -> Sequence[str]: ...
    def stats(self) -> BackgroundStats: ...


@dataclass(frozen=True, slots=True)
class Ports:
    """All that a flow may ask."""

    search: SearchPort
    records: Records
    ledger: Ledger
    embedder: EmbedderPort
    write_back: WriteBackPort
    words: WordsPort
    graph: GraphIndexPort
    hierarchy: HierarchyPort
    indexes: Sequence[Index]
    floors: Floors
    background: BackgroundPort
    write_through: bool
    log: bool
    count_seconds: float  # that a recall waits to be counted
    fields: Fields
    languages: tuple[Language, ...]
    channels: Mapping[str, Theirs]  # the caller's own
    sources: Sequence[Sequence[Source]]  # where candidates come from, in stages
    unanswered: Mapping[str, Unanswered]  # of our own channels
