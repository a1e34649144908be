"""What do we tell about a memory afterwards? The log, receipts and statistics: frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class LoggedCandidate:
    """One line of the log: a candidate of a past recall. `reason` is None for the ones that were returned."""

    id: str
    score: float | None
    parts: Mapping[str, float]
    signals: Mapping[str, float]
    reason: str | None


@dataclass(frozen=True, slots=True)
class LoggedRecall:
    """A past recall as the ledger keeps it: enough to explain it and to rank it again under another policy."""

    id: str
    step: int
    at: float
    cue: str
    k: int
    policy_hash: str
    candidates: tuple[LoggedCandidate, ...]

    @property
    def kept(self) -> tuple[LoggedCandidate, ...]:
        return tuple(candidate for candidate in self.candidates if candidate.reason is None)


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the audit trail: what happened to a record's standing, at which of the user's recalls, by whom.

    `what` is "remembered", "pinned", "unpinned", "demoted", "helpful", "unhelpful" or "pruned"; `by` is "recall <id>"
    or the name that the caller gave.
    """

    id: str
    at: float
    step: int
    what: str
    by: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What `forget` removed, and what it cannot reach."""

    id: str
    collection: bool
    ledger: bool
    log_entries: int
    verdicts: int
    note: str = (
        "Chroma keeps the text of a deleted record in its own files until it purges its queue; "
        "`chroma vacuum --path DIR` does that at once. Words of a cue that asked for it stay in the log until its "
        "retention ends. Copies and backups are out of reach."
    )


@dataclass(frozen=True, slots=True)
class ProjectionStats:
    """How far the write-back is. `pending` counts this scope's records, the rest is the whole memory's."""

    pending: int = 0
    written: int = 0
    vanished: int = 0
    conflicts: int = 0
    failures: int = 0
    last_error: str | None = None

    def pending_for(self, pending: int) -> ProjectionStats:
        return replace(self, pending=pending)


@dataclass(frozen=True, slots=True)
class Stats:
    """The memory of one scope in numbers."""

    records: int
    recalls: int
    reads: int
    read_records: int
    remembered: int
    pinned: int
    verdicts: int
    logged_recalls: int
    projection: ProjectionStats
