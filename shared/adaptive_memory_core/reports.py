"""Reports about a memory: receipts, statistics, log, checks and calibration; all public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from adaptive_memory_core.records import Dropped, Hit, Neighbour

__all__ = [
    "BackgroundStats",
    "Calibration",
    "Change",
    "CheckReport",
    "Dropped",
    "Finding",
    "Hit",
    "LoggedCandidate",
    "LoggedRecall",
    "Neighbour",
    "ProjectionStats",
    "PruneReceipt",
    "Receipt",
    "Restored",
    "Sample",
    "Stats",
    "Strengths",
    "Unrelated",
    "WriteBackProgress",
]


@dataclass(frozen=True, slots=True)
class Strengths:
    """The strengths of a memory's records. `histogram` counts records in ten equal bins from 0 to 1.

    `stale` counts the records that have lost strength, and `stale_norm` is the l2 norm of their remaining strengths.
    `size` counts the records with a strength of at least `at_least`: the paper's nonzero embeddings.
    """

    mean: float
    histogram: tuple[int, ...]
    stale: int
    stale_norm: float
    size: int
    at_least: float


@dataclass(frozen=True, slots=True)
class Sample:
    """The state of a memory at one of its user's recalls, as sampled in the ledger."""

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
    """The progress of write-back for this scope's records since the memory was opened.

    `failures` and `last_error` are for the records of all users.
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
    """The progress of write-back for a whole memory, over all scopes, since the memory was opened.

    `waiting` is the number of pending records, and `waited_seconds` the time that the first of them has waited for this
    process; 0 if no record is pending, or if another process holds the collection.
    """

    waiting: int
    waited_seconds: float = 0.0
    written: int = 0
    vanished: int = 0
    conflicts: int = 0


@dataclass(frozen=True, slots=True)
class BackgroundStats:
    """The state of the memory's background thread: its current task (`doing`; None if waiting), and the last failure.

    The tasks are "write-back", "word index", "mirror", "relevance floors", "pruning" and "checkpoint", and if
    processes share a directory "records of other processes", "guests", "visits" and "takeover"; `failures` counts by
    task.
    """

    doing: str | None = None
    last_failed: str | None = None
    last_error: str | None = None
    failures: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stats:
    """The memory of one scope in numbers.

    `update_ms` is the median time that a recall of the scope spent on storing its changes, since the memory was opened;
    None before the first recall. `useful_gain` is the share of its full weight that usefulness has reached.
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
    useful_gain: float = 0.0
    background: BackgroundStats = BackgroundStats()

    @property
    def remembered_fraction(self) -> float:
        return self.remembered / self.records if self.records else 0.0

    @property
    def reads_per_recall(self) -> float:
        return self.reads / self.recalls if self.recalls else 0.0


PROPENSITY, PROPENSITY_UNIT = "propensity", 1_000_000  # a key of `then`, in millionths


@dataclass(frozen=True, slots=True)
class LoggedCandidate:
    """One line of the log: a candidate of a past recall. `reason` is None if it was returned.

    `then` contains the data that a replay also needs: the read state at that time, as whole numbers
    (`learn/logged_state.py`).
    """

    id: str
    score: float | None
    parts: Mapping[str, float]
    signals: Mapping[str, float]
    reason: str | None
    then: Mapping[str, int] = field(default_factory=dict, repr=False)

    @property
    def propensity(self) -> float:
        """The chance of being returned: 1 or 0, unless the policy draws places at random.

        >>> LoggedCandidate("a", 0.5, {}, {}, None).propensity, LoggedCandidate("a", 0.5, {}, {}, "beyond k").propensity
        (1.0, 0.0)
        """
        certain = float(self.reason is None)
        return self.then[PROPENSITY] / PROPENSITY_UNIT if PROPENSITY in self.then else certain


@dataclass(frozen=True, slots=True)
class LoggedRecall:
    """A past recall in the ledger: enough to explain it and to rank it again under another policy.

    `turn` is the caller's name for the question, if given. `over` is "everyone" if everyone's records were read in
    addition to the user's own.
    """

    id: str
    step: int
    at: float
    cue: str
    k: int
    policy_hash: str
    candidates: tuple[LoggedCandidate, ...]
    turn: str | None = None
    over: str | None = None

    @property
    def kept(self) -> tuple[LoggedCandidate, ...]:
        return tuple(candidate for candidate in self.candidates if candidate.reason is None)


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the audit trail: a change of a record's state, the number of the user's recall, and the author.

    `what` is "remembered", "pinned", "unpinned", "demoted", "helpful", "unhelpful", "pruned" or "judged by a reader".
    `by` is "recall <id>" or the name that the caller gave.
    """

    id: str
    at: float
    step: int
    what: str
    by: str


CheckedPart = Literal["database", "index", "ledger", "records", "graph", "hierarchy"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault, the part of the memory where it is, and the remedy.

    "database" is Chroma's SQLite file, "index" its files of vectors, "ledger" the file of reads, "records" their
    content, "graph" the ledger's graph of the names in them, "hierarchy" the episodes and themes of observed messages.
    If `mended`, nothing needs to be done.
    """

    part: CheckedPart
    what: str
    remedy: str = ""
    mended: bool = False

    def __str__(self) -> str:
        return f"{self.part}: {self.what}" + (" Mended." if self.mended else f" {self.remedy}".rstrip())


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The findings of `check`. Print it to get one line per finding.

    >>> report = CheckReport((Finding("index", "header.bin is torn.", "Call repair."),))
    >>> report.ok, len(report), str(report)
    (False, 1, 'index: header.bin is torn. Call repair.')
    >>> str(CheckReport()), CheckReport().ok
    ('Nothing is wrong.', True)
    """

    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there are no faults, or all are repaired."""
        return all(one.mended for one in self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or "Nothing is wrong."


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of `forget`, and the traces that it cannot reach. `derived` are the ids of records that were derived
    from the removed one: they still exist but are no longer returned."""

    id: str
    collection: bool
    ledger: bool
    log_entries: int
    verdicts: int
    note: str = (
        "Chroma keeps the text of a deleted record in its own files until it purges its queue; "
        "`chroma vacuum --path DIR` does that at once. Its index keeps the vector until it is rebuilt: "
        "`AdaptiveMemory.repair(DIR, rebuild=True)`. The ledger's write-ahead log keeps traces until the next "
        "`flush()`. Queries that asked for it stay in the log until its retention ends. Copies and backups are not "
        "changed."
    )
    derived: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of restoring a state: the number of records restored, and the ids that match no record."""

    records: int
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PruneReceipt:
    """The records that `prune` removed (or, in a dry run, would remove).

    `kept` counts checked records that are still strong enough, `vanished` records that other programs had already
    deleted. If `limit` ended the work, `complete` is False: call again.
    """

    ids: tuple[str, ...]
    below: float | None
    dry_run: bool
    kept: int
    vanished: int
    complete: bool

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Unrelated:
    """A question unrelated to the memory, the similarity of its best hit (0 is the score of unrelated texts), and the
    share of such questions that find something as good."""

    question: str
    similarity: float
    chance: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The best hits of unrelated questions in one scope: their similarities, and the questions that came nearest.

    `similarity` is the mean and `spread` the standard deviation. A question in `nearest` that the memory does answer
    is not unrelated: give your own questions to `calibrate`.

    >>> print(Calibration("user 'ann'", 40, 172, 0.0, 0.21, 0.05, (Unrelated("Is tin magnetic?", 0.4, 0.01),)))
    172 unrelated questions to the 40 records of user 'ann': the best hit of each has a similarity of 0.21 +- 0.05.
    The ones that came nearest (similarity, and the share of such questions that find as good):
      0.40    1 %  Is tin magnetic?
    """

    scope: str
    records: int
    questions: int
    at: float
    similarity: float
    spread: float
    nearest: tuple[Unrelated, ...]

    def __str__(self) -> str:
        reach = f"the best hit of each has a similarity of {self.similarity:.2f} +- {self.spread:.2f}"
        return "\n".join(
            [
                f"{self.questions} unrelated questions to the {self.records:,} records of {self.scope}: {reach}.",
                "The ones that came nearest (similarity, and the share of such questions that find as good):",
                *(f"  {one.similarity:.2f}  {100 * one.chance:3.0f} %  {one.question}" for one in self.nearest),
            ]
        )
