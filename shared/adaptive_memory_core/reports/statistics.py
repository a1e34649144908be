"""What do a scope's statistics report? Records, strengths, the write-back and the background thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Strengths:
    """How strong a memory is. `histogram` counts records by strength in ten equal bins from 0 to 1.

    `stale` records have lost some of their strength, and `stale_norm` is the l2 norm of what is left of theirs; `size`
    counts the records of at least the strength `at_least`: the paper's nonzero embeddings.
    """

    mean: float
    histogram: tuple[int, ...]
    stale: int
    stale_norm: float
    size: int
    at_least: float


@dataclass(frozen=True, slots=True)
class Sample:
    """A memory at one of its user's recalls, as the ledger keeps it over time."""

    step: int
    at: float
    records: int
    remembered: int
    pinned: int
    reads: int
    strengths: Strengths
    update_ms: float | None

    @property
    def remembered_fraction(self) -> float:
        return self.remembered / self.records if self.records else 0.0


@dataclass(frozen=True, slots=True)
class ProjectionStats:
    """How far the write-back of this scope's records is, since the memory was opened.

    `failures` and `last_error` are of the write-back as a whole, whoever's records it was at.
    """

    pending: int = 0
    written: int = 0
    vanished: int = 0
    conflicts: int = 0
    failures: int = 0
    last_error: str | None = None

    def pending_for(self, pending: int) -> ProjectionStats:
        return replace(self, pending=pending)


@dataclass(frozen=True, slots=True)
class WriteBackProgress:
    """How far the write-back of a whole memory is, for all scopes, since the memory was opened.

    `waiting` is how many records wait for it, and `waited_seconds` how long the first of them has waited for this
    process; 0 where nothing waits, or where another process holds the collection.
    """

    waiting: int
    waited_seconds: float = 0.0
    written: int = 0
    vanished: int = 0
    conflicts: int = 0


@dataclass(frozen=True, slots=True)
class BackgroundStats:
    """What the memory's background thread is at: the chore it is `doing` (None: waiting), and what failed last.

    The chores are "write-back", "word index", "mirror", "relevance floors", "pruning" and "checkpoint", and where
    processes share a directory "records of other processes", "guests", "visits" and "takeover"; `failures` counts by
    chore.
    """

    doing: str | None = None
    last_failed: str | None = None
    last_error: str | None = None
    failures: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stats:
    """The memory of one scope in numbers.

    `update_ms` is the median time that a recall of the scope spent on writing down what it changed, since the memory
    was opened; None before the first. `useful_gain` is what verdicts have made of the weight of usefulness: 1 is the
    policy's.
    """

    records: int
    recalls: int
    reads: int
    read_records: int
    remembered: int
    pinned: int
    verdicts: int
    logged_recalls: int
    strengths: Strengths
    update_ms: float | None
    projection: ProjectionStats
    useful_gain: float = 1.0
    background: BackgroundStats = BackgroundStats()

    @property
    def remembered_fraction(self) -> float:
        return self.remembered / self.records if self.records else 0.0

    @property
    def reads_per_recall(self) -> float:
        return self.reads / self.recalls if self.recalls else 0.0
