"""What does a flow ask for? The store that holds records and the ledger that holds reads, in our words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from adaptive_memory_core.cue.time.intent import Language
from adaptive_memory_core.flow.calls.foreign_calls import Theirs, Unanswered
from adaptive_memory_core.flow.ports.index import Index
from adaptive_memory_core.flow.ports.models import Embedder
from adaptive_memory_core.flow.ports.records import Extent, Records, Stored, seen
from adaptive_memory_core.flow.ports.search import Search, Vector, Where
from adaptive_memory_core.flow.ports.source import Found, Source
from adaptive_memory_core.flow.ports.words import Words
from adaptive_memory_core.learn.decay.strength import Timeline
from adaptive_memory_core.learn.verdicts import Earlier, Occasion
from adaptive_memory_core.policy.decay import Pace, Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Dropped, Fields, ReadState, Scope, Scored, Seen, Verdict
from adaptive_memory_core.reports import BackgroundStats, Change, LoggedRecall, ProjectionStats, Sample, Strengths
from adaptive_memory_core.score.nothing_found import Floor

DEMOTED = "demoted"  # in the audit trail; it closes the verdicts before it
Since = Callable[[Timeline], tuple[int, float] | None]


class Advance(Protocol):
    """From a state as it stands to the state after a read or a change; the timeline ends before it."""

    def __call__(self, seen: Seen, *, timeline: Timeline) -> ReadState: ...


class Judge(Protocol):
    """What verdicts on one recall do: to a record's boost and state, and to its user's balance."""

    @property
    def read(self) -> Occasion: ...
    def boost(self, state: ReadState, verdict: Verdict, earlier: Earlier | None) -> tuple[float, float]: ...
    def state(self, state: ReadState, verdict: Verdict, earlier: Earlier | None) -> ReadState: ...
    def balance(
        self, stored_id: str, verdict: Verdict, balance: float, earlier: Earlier | None
    ) -> tuple[float, float]: ...


class Standing(NamedTuple):
    """States as the ledger keeps them, and the timeline that says what is left of their strength."""

    states: Mapping[str, ReadState]
    timeline: Timeline
    new: frozenset[str] = frozenset()  # not met, and not known to replace nobody
    balance: float = 0.0  # how far usefulness has led or misled the user, in octaves


class Counted(NamedTuple):
    """What came of a recall in the ledger: the user's step, and how many records changed."""

    step: int
    changed: int


class Row(NamedTuple):
    """A record as the ledger knows it; `row` orders them."""

    row: int
    stored_id: str
    seen: Seen


class Doomed(Protocol):
    """Whether a record is to go, at the end of this timeline."""

    def __call__(self, seen: Seen, *, timeline: Timeline) -> bool: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One recall as it goes into the ledger; `logged` is False where the log is switched off."""

    id: str
    at: float
    cue: str
    k: int
    policy_hash: str
    policy_json: str
    kept: Sequence[Scored]
    dropped: Sequence[Dropped]
    regime: Regime  # the memory's own
    pace: Pace  # of this recall's policy
    turn: str | None
    strangers: Mapping[str, Seen]  # candidates that the ledger has not met
    extent: Extent | None  # of the collection, where every record of the scope is among those or known
    logged: bool


@dataclass(frozen=True, slots=True)
class Tally:
    """The ledger's counts for one scope."""

    recalls: int
    met: int
    reads: int
    read_records: int
    remembered: int
    pinned: int
    verdicts: int
    logged_recalls: int
    pending: int
    balance: float
    update_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Erased:
    """What the ledger removed of one record."""

    state: bool
    log_entries: int
    verdicts: int


class IdLock(Protocol):
    """Lets one caller at a time write some ids. It may be released from another thread than the one that waits."""

    def acquire(self) -> None: ...
    def release(self) -> None: ...


class Ledger(Protocol):
    """The reads: state per record, the recall counter per user, the log, the verdicts."""

    def lock_ids(self, scope: Scope, record_ids: Sequence[str]) -> IdLock: ...
    def enrol(self, scope: Scope, new: Mapping[str, str | None], *, now: float) -> list[bool]: ...
    def withdraw(self, scope: Scope, stored_ids: Sequence[str]) -> None: ...
    def standing(self, scope: Scope, stored_ids: Sequence[str], turn: str | None = None) -> Standing: ...
    def strong(
        self, scope: Scope, least: float, since: Since, *, extent: Extent, limit: int, turn: str | None
    ) -> list[str] | None: ...
    def lately(self, scope: Scope, *, recalls: int, limit: int) -> list[str]: ...
    def meet(self, scope: Scope, strangers: Mapping[str, Seen], *, now: float) -> None: ...
    def ancestors(self, scope: Scope, origins: Sequence[bytes]) -> dict[str, bytes]: ...
    def move(self, scope: Scope, heirs: Mapping[str, str], *, settled: Sequence[str]) -> None: ...
    def learned(self, scope: Scope) -> Standing: ...
    def record_recall(self, scope: Scope, entry: Entry, seen: Mapping[str, Seen], advance: Advance) -> Counted: ...
    def change(
        self, scope: Scope, stored_id: str, seen: Seen, change: Advance, *, what: str, by: str, now: float
    ) -> ReadState: ...
    def judge(
        self,
        scope: Scope,
        recall_id: str,
        verdicts: Mapping[str, tuple[Verdict, Seen]],
        judge: Judge,
        *,
        now: float,
    ) -> int: ...
    def rebalance(self, scope: Scope, balance: float) -> None: ...
    def logged(self, scope: Scope, recall_id: str) -> LoggedRecall | None: ...
    def log(
        self,
        scope: Scope,
        *,
        since: float | None,
        until: float | None,
        limit: int,
        containing: str | None,
        turn: str | None = None,
    ) -> list[LoggedRecall]: ...
    def erase(self, scope: Scope, record_id: str, stored_id: str, *, existed: bool, now: float) -> Erased: ...
    def tally(self, scope: Scope) -> Tally: ...
    def strengths(
        self, scope: Scope, regime: Regime, *, at_least: float, unmet: Sequence[ReadState], now: float
    ) -> Strengths: ...
    def floor(self, scope: Scope, manner: str) -> Floor | None: ...
    def keep_floor(self, scope: Scope, manner: str, floor: Floor, *, now: float) -> None: ...
    def samples(self, scope: Scope) -> list[Sample]: ...
    def flagged(self, scope: Scope, flag: str) -> list[str]: ...
    def changes(self, scope: Scope, stored_ids: Sequence[str], *, limit: int) -> list[Change]: ...
    def unkept(self, scope: Scope, after: int, *, limit: int) -> list[Row]: ...
    def retire(
        self,
        scope: Scope,
        stored_ids: Sequence[str],
        doomed: Doomed,
        remove: Callable[[Sequence[str]], None],
        *,
        by: str,
        now: float,
    ) -> set[str]: ...


class Floors(Protocol):
    """The measuring of what unrelated questions find, beside the recalls. Nothing waits for it."""

    def want(self, scope: Scope, policy: Policy, known: Floor | None) -> None: ...
    def wrote(self, scope: Scope) -> None: ...
    @property
    def embedder(self) -> Embedder:
        """The memory's, which remembers the vectors of our own questions: all scopes are asked the same."""

    def manner(self, policy: Policy) -> str: ...


class WriteBack(Protocol):
    """The write-back of what the ledger learned into the collection."""

    def wake(self) -> None: ...
    def tidy(self) -> None: ...
    def flush(self) -> None: ...
    def stats(self) -> ProjectionStats: ...


class Background(Protocol):
    """The thread that does the chores."""

    def stats(self) -> BackgroundStats: ...


@dataclass(frozen=True, slots=True)
class Ports:
    """All that a flow may ask."""

    search: Search
    records: Records
    ledger: Ledger
    embedder: Embedder
    write_back: WriteBack
    words: Words
    indexes: Sequence[Index]
    floors: Floors
    background: Background
    write_through: bool
    log: bool
    fields: Fields
    languages: tuple[Language, ...]
    channels: Mapping[str, Theirs]  # the caller's own
    sources: Sequence[Sequence[Source]]  # where candidates come from, in stages
    unanswered: Mapping[str, Unanswered]  # of our own channels


__all__ = [
    "Advance",
    "Counted",
    "DEMOTED",
    "Doomed",
    "Embedder",
    "Entry",
    "Erased",
    "Extent",
    "Floors",
    "Found",
    "Index",
    "Judge",
    "Ledger",
    "Ports",
    "Records",
    "Row",
    "Search",
    "Since",
    "Source",
    "Standing",
    "Stored",
    "Tally",
    "Vector",
    "Where",
    "Words",
    "WriteBack",
    "seen",
]
