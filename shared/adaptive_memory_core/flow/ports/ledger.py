"""What must a ledger be able to do? Small parts over one store; each call is kept whole or not at all.

`tests/store/ledger/contract/` is what every implementation has to pass. Calls may come from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from adaptive_memory_core.flow.ports.graph import GraphRows
from adaptive_memory_core.flow.ports.hierarchy import HierarchyRowsPort
from adaptive_memory_core.flow.ports.ledger_copies import (
    DueRecords,
    Exports,
    MirrorPages,
    MirrorRows,
    NewVectors,
    UserFiles,
    WordRows,
)
from adaptive_memory_core.flow.ports.ledger_values import (
    Advance,
    Counted,
    Due,
    Erased,
    Extent,
    JoinStates,
    KnownCollection,
    KnownStates,
    LedgerRow,
    Moves,
    RecallEntry,
    RemovalRule,
    Since,
    Tally,
    VerdictEffectsPort,
)
from adaptive_memory_core.flow.ports.records import JudgedQuestions
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.records import ReadState, Scope, Seen, Verdict
from adaptive_memory_core.reports import Change, LoggedRecall, Sample, Strengths
from adaptive_memory_core.score.nothing_found import Floor


class States(Protocol):
    """What reads and verdicts made of each record."""

    def enrol(self, scope: Scope, new: Mapping[str, Seen], *, now: float) -> list[bool]: ...
    def known(self, scope: Scope, stored_ids: Sequence[str], turn: str | None = None) -> KnownStates: ...
    def all(self, scope: Scope) -> KnownStates: ...
    def meet(self, scope: Scope, strangers: Mapping[str, Seen], *, now: float) -> None: ...
    def change(
        self, scope: Scope, stored_id: str, seen: Seen, change: Advance, *, what: str, by: str, now: float
    ) -> ReadState: ...
    def strong(
        self, scope: Scope, least: float, since: Since, *, extent: Extent, limit: int, turn: str | None
    ) -> list[str] | None: ...
    def recently_helpful(self, scope: Scope, *, recalls: int, limit: int) -> list[str]: ...
    def flagged(self, scope: Scope, flag: str) -> list[str]: ...


class Inheritance(Protocol):
    """States that follow their texts: to records that were written again, and away from those that now say something
    else."""

    def ancestors(self, scope: Scope, origins: Sequence[bytes]) -> dict[str, bytes]: ...
    def states_of(self, scope: Scope, ancestors: Sequence[str]) -> dict[str, ReadState]: ...
    def settle(self, scope: Scope, moves: Moves, *, by: str, now: float) -> None: ...


class Recalls(Protocol):
    """Recalls that count as readings."""

    def count(self, scope: Scope, entry: RecallEntry, seen: Mapping[str, Seen], advance: Advance) -> Counted: ...


class Log(Protocol):
    """Past recalls with every candidate."""

    def recall(self, scope: Scope, recall_id: str) -> LoggedRecall | None: ...
    def recalls(
        self,
        scope: Scope,
        *,
        since: float | None,
        until: float | None,
        limit: int,
        containing: str | None,
        turn: str | None = None,
    ) -> list[LoggedRecall]: ...
    def policy(self, policy_hash: str) -> str | None: ...
    def scopes(self) -> list[Scope]:
        """Whose recalls there are."""


class Verdicts(Protocol):
    """What was learned of the worth of what recalls returned."""

    def judge(
        self,
        scope: Scope,
        recall_id: str,
        verdicts: Mapping[str, tuple[Verdict, Seen]],
        judge: VerdictEffectsPort,
        *,
        now: float,
    ) -> int: ...
    def set_balance(self, scope: Scope, balance: float) -> None: ...


class Removal(Protocol):
    """Records that leave: their states, verdicts, words and lines of the log, in one transaction."""

    def reckoned(self, scope: Scope, record_id: str) -> Any:
        """What `erase` would have to reckon while others wait."""

    def erase(
        self, scope: Scope, record_id: str, stored_id: str, *, existed: bool, now: float, reckoned: Any = None
    ) -> Erased: ...
    def forget_learned(self, scope: Scope, stored_ids: Sequence[str] | None) -> int: ...
    def forget_user(self, scope: Scope) -> bool:
        """Remove every trace of a user whose records are gone; whether there was any."""

    def unkept(self, scope: Scope, after: int, *, limit: int) -> list[LedgerRow]: ...
    def scopes(self) -> list[Scope]:
        """Those that the ledger has met: users, and everyone's records."""

    def doomed(self, scope: Scope, stored_ids: Sequence[str], doomed: RemovalRule) -> list[str]:
        """Those of the records that are doomed as they stand now."""

    def retire(self, scope: Scope, stored_ids: Sequence[str], *, by: str, now: float) -> None:
        """Let go of records that were pruned and that the collection has no longer."""


class Audit(Protocol):
    """Who changed what."""

    def changes(self, scope: Scope, stored_ids: Sequence[str], *, limit: int) -> list[Change]: ...


class StatisticsPort(Protocol):
    """A scope in numbers, now and over time."""

    def tally(self, scope: Scope) -> Tally: ...
    def strengths(
        self, scope: Scope, regime: Regime, *, at_least: float, unmet: Sequence[ReadState], now: float
    ) -> Strengths: ...
    def samples(self, scope: Scope) -> list[Sample]: ...
    def sample(self, regime: Regime, *, every: int, now: float) -> None: ...


class MeasuredFloors(Protocol):
    """What unrelated questions find in a scope, by the manner of looking."""

    def get(self, scope: Scope, manner: str) -> Floor | None: ...
    def keep(self, scope: Scope, manner: str, floor: Floor, *, now: float) -> None: ...


class OwnPolicies(Protocol):
    """The policies that users were given, as JSON."""

    def get(self, scope: Scope) -> str | None: ...
    def keep(self, scope: Scope, policy: str | None) -> None: ...


class Notes(Protocol):
    """What is known of the collection itself: the name and the dimension of its embedder."""

    def embedder(self) -> tuple[str | None, int | None]: ...
    def keep_embedder(self, name: str, dimension: int) -> None: ...
    def uuid(self) -> str | None:
        """The collection's own id, which another embedder's vectors change."""


class Outbox(Protocol):
    """The states that the collection does not show yet."""

    def due(self, limit: int, after: int = 0) -> list[Due]:
        """In the order of `record_key`, from the first one beyond `after`."""

    def settle(self, written: Sequence[Due]) -> bool:
        """These were written back. Whether some are due again: others have written newer states back meanwhile."""

    def waiting(self) -> int: ...
    def alone(self, patience_seconds: float) -> AbstractContextManager[None]:
        """Of all that share the ledger, one at a time is in here; StoreError where another stays for too long."""


class SharingPort(Protocol):
    """What the process that may open a collection in a directory and those that may not tell each other."""

    def describe(self, space: str, database: str, *, embedder: str | None, dimension: int | None) -> None:
        """The attached collection is open; others need to know this much of it. None leaves what is known."""

    def described(self) -> KnownCollection | None: ...
    def find(self, name: str, database: str) -> KnownCollection | None:
        """The collection of that name that was described last, attached or not."""

    def ask(self) -> int:
        """A process wants everything in the collection now; gives the number of its wish."""

    def asked(self) -> int | None:
        """The latest wish that is not done; None where there is none."""

    def is_done(self, number: int) -> bool: ...
    def done(self, number: int) -> None: ...


class Retention(Protocol):
    """What the ledger deletes by itself."""

    def trim(self, *, now: float, log_days: float, log_recalls: int, at_once: bool = True) -> int: ...
    def collections(self) -> set[str]: ...
    def forget_collections(self, uuids: Collection[str]) -> None: ...


class LedgerCheckPort(Protocol):
    """What can be held against the collection, to find what it or the ledger has lost."""

    def records_known(self, name: str) -> tuple[int, int]:
        """How many records of this collection were met, and of others, earlier ones, of that name. Not those that were
        on their way to a collection which never had any."""

    def latest_read(self) -> float | None: ...
    def met(self, stored_ids: Sequence[str]) -> list[str]: ...
    def merge(self, scope: Scope, kept: str, gone: str, join: JoinStates | None) -> None: ...


@runtime_checkable
class Ledger(Protocol):
    """The reads of one collection, which `attach` names; other collections may share the same store."""

    @property
    def states(self) -> States: ...
    @property
    def inheritance(self) -> Inheritance: ...
    @property
    def recalls(self) -> Recalls: ...
    @property
    def log(self) -> Log: ...
    @property
    def verdicts(self) -> Verdicts: ...
    @property
    def removal(self) -> Removal: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def statistics(self) -> StatisticsPort: ...
    @property
    def floors(self) -> MeasuredFloors: ...
    @property
    def own_policies(self) -> OwnPolicies: ...
    @property
    def judged_questions(self) -> JudgedQuestions: ...
    @property
    def notes(self) -> Notes: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def exports(self) -> Exports: ...
    @property
    def words(self) -> WordRows: ...
    @property
    def graph(self) -> GraphRows: ...
    @property
    def hierarchy(self) -> HierarchyRowsPort: ...
    @property
    def mirror(self) -> MirrorRows: ...
    @property
    def user_files(self) -> UserFiles: ...
    @property
    def mirror_pages(self) -> MirrorPages: ...
    @property
    def new_vectors(self) -> NewVectors: ...
    @property
    def due_records(self) -> DueRecords: ...
    @property
    def sharing(self) -> SharingPort: ...
    @property
    def retention(self) -> Retention: ...
    @property
    def comparison(self) -> LedgerCheckPort: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def outlives_process(self) -> bool:
        """Whether what it holds is there for the next process; if not, closing it would lose that."""

    def faults(self) -> list[str]:
        """What is wrong with what it is kept in, one line each; this may read all of it."""

    def attach(self, uuid: str, name: str) -> None:
        """Speak for this collection from now on."""

    def transaction(self) -> AbstractContextManager[None]:
        """All that this thread asks of the ledger within it is kept together, or none of it."""

    def afterwards(self, call: Callable[[], object]) -> None:
        """Call this once the thread's transaction is committed, without its locks; immediately if there is none. Copies
        of the ledger in RAM change here, so that they are never ahead of it."""

    def close(self) -> None: ...
