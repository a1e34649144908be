"""What must a ledger be able to do? Small parts over one store; each call is kept whole or not at all.

`tests/store/ledger/contract/` is what every implementation has to pass. Calls may come from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from adaptive_memory_core.flow.ports.graph import GraphRows
from adaptive_memory_core.flow.ports.hierarchy import HierarchyRows
from adaptive_memory_core.flow.ports.judged_questions import JudgedQuestions
from adaptive_memory_core.flow.ports.ledger_values import (
    Advance,
    Counted,
    Doomed,
    Due,
    DueRecord,
    Entry,
    Erased,
    Extent,
    JoinStates,
    Judge,
    KnownCollection,
    KnownStates,
    MirrorNews,
    MirrorPage,
    MirrorRow,
    Moves,
    Row,
    Since,
    Tally,
    Target,
    Unfinished,
    Unplaced,
    Versions,
    WordNews,
    WordRow,
)
from adaptive_memory_core.flow.ports.user_files import UserFiles
from adaptive_memory_core.learn.lead_weights import LeadWeights
from adaptive_memory_core.policy.decay import Regime
from adaptive_memory_core.records import Metadata, ReadState, Scope, Seen, Verdict
from adaptive_memory_core.reports import Change, LoggedRecall, Sample, Strengths
from adaptive_memory_core.score.nothing_found import Floor


class States(Protocol):
    """What reads and verdicts made of each record."""

    def enrol(self, scope: Scope, new: Mapping[str, Seen], *, now: float) -> list[bool]: ...
    def withdraw(self, scope: Scope, stored_ids: Sequence[str]) -> None: ...
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
    """States that follow their texts: to records that were written anew, and away from those that say another."""

    def ancestors(self, scope: Scope, origins: Sequence[bytes]) -> dict[str, bytes]: ...
    def states_of(self, scope: Scope, ancestors: Sequence[str]) -> dict[str, ReadState]: ...
    def settle(self, scope: Scope, moves: Moves, *, by: str, now: float) -> None: ...


class Recalls(Protocol):
    """Recalls that count as readings."""

    def count(self, scope: Scope, entry: Entry, seen: Mapping[str, Seen], advance: Advance) -> Counted: ...


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
        self, scope: Scope, recall_id: str, verdicts: Mapping[str, tuple[Verdict, Seen]], judge: Judge, *, now: float
    ) -> int: ...
    def set_balance(self, scope: Scope, balance: float) -> None: ...
    def set_lead_weights(self, scope: Scope, learned: LeadWeights) -> None: ...


class Removal(Protocol):
    """Records that leave: their states, verdicts, words and lines of the log, in one transaction."""

    def erase(self, scope: Scope, record_id: str, stored_id: str, *, existed: bool, now: float) -> Erased: ...
    def forget_learned(self, scope: Scope, stored_ids: Sequence[str] | None) -> int: ...
    def unkept(self, scope: Scope, after: int, *, limit: int) -> list[Row]: ...
    def scopes(self) -> list[Scope]:
        """Those that the ledger has met: users, and everyone's records."""

    def doomed(self, scope: Scope, stored_ids: Sequence[str], doomed: Doomed) -> list[str]:
        """Those of the records that are doomed as they stand now."""

    def retire(self, scope: Scope, stored_ids: Sequence[str], *, by: str, now: float) -> None:
        """Let go of records that were pruned and that the collection has no longer."""


class IdLock(Protocol):
    """Lets one caller at a time write some ids. It may be released from another thread than the one that waits."""

    def acquire(self) -> None: ...
    def release(self) -> None: ...


class IdLocks(Protocol):
    """Who may write a record now, of all that share the ledger."""

    def of(self, scope: Scope, record_ids: Sequence[str]) -> IdLock: ...
    def confirm(self, scope: Scope, record_ids: Sequence[str]) -> None:
        """LedgerError where this process stood still for so long that another one took over a lock of these ids. Within
        a transaction: whoever has it by now waits for that, or was kept before."""


class Audit(Protocol):
    """Who changed what."""

    def changes(self, scope: Scope, stored_ids: Sequence[str], *, limit: int) -> list[Change]: ...


class Statistics(Protocol):
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


class WordRows(Protocol):
    """The words of each record as rows: a copy of the collection's texts. No rows are left of a removed record."""

    def put(self, rows: Mapping[Scope | None, Sequence[WordRow]], gone: Collection[str] = ()) -> None: ...
    def drop(self, stored_ids: Sequence[str]) -> None: ...
    def size(self, scope: Scope | None = None) -> int:
        """What is to be known of the scope is looked at with it."""

    def marks(self, stored_ids: Sequence[str]) -> dict[str, bytes]: ...
    def stored_ids(self) -> set[str]: ...
    def version(self) -> int: ...
    def keep_version(self, version: int) -> None: ...
    def last_change(self, scope: Scope) -> Hashable:
        """Equal as long as there can be no news for anybody; what is to be known of the scope is looked at with it."""

    def news(self, scope: Scope, written: int, removed: int) -> WordNews: ...


class MirrorRows(Protocol):
    """A copy of the collection's records, vectors included. No row is left of a removed record."""

    def put(self, rows: Mapping[Scope | None, Sequence[MirrorRow]], gone: Collection[str] = ()) -> None: ...
    def annotate(self, changes: Mapping[str, Metadata]) -> None:
        """Merge keys into the metadata of those of the records that have a row; None takes a key away."""

    def drop(self, stored_ids: Sequence[str]) -> None: ...
    def size(self) -> int: ...
    def stored_ids(self) -> set[str]: ...
    def rows(self, stored_ids: Sequence[str]) -> list[tuple[str, str | None, Metadata | None]]:
        """Those of the records that have a row, whoever they belong to: id, text, metadata."""

    def vectors(self, stored_ids: Sequence[str]) -> dict[str, bytes]: ...
    def last_change(self, scope: Scope) -> Hashable:
        """Equal as long as there can be no news for anybody; what is to be known of the scope is looked at with it."""

    def news(self, scope: Scope, written: int, removed: int) -> MirrorNews: ...
    def changes(self, scope: Scope, since: int) -> list[tuple[int, int, str | None, Metadata | None]]:
        """The user's rows that changed after the change numbered `since`: number of the change, row, text, metadata."""

    def versions(self, stored_ids: Sequence[str]) -> Versions: ...
    def renew(
        self, rows: Mapping[Scope | None, Sequence[MirrorRow]], gone: Collection[str], before: Versions
    ) -> list[str]:
        """`put` for what was read from the collection after `before` was: what was written here meanwhile is newer and
        stays. Gives what was left out for that."""

    def complete_at(self) -> str | None:
        """The state of the collection, as `keep_complete_at` was told, in which all of it was last compared."""

    def keep_complete_at(self, state: str | None) -> None: ...


class MirrorPages(Protocol):
    """What is asked of the mirror besides records by their ids."""

    def page(self, scope: Scope, after: int, limit: int) -> MirrorPage: ...
    def count(self, scope: Scope) -> int: ...
    def mentioning(self, scope: Scope, fragments: Sequence[str]) -> list[tuple[str, str | None, Metadata | None]]:
        """Those of the scope's records in whose metadata, as JSON, one of these stands somewhere."""

    def latest(self, most: int) -> list[str]: ...


class NewVectors(Protocol):
    """Another embedder's vectors for the records in the mirror, until they take the place of the old ones at once."""

    def begin(self, target: Target) -> None:
        """They go into this collection; what was begun before is let go of."""

    def target(self) -> Target | None: ...
    def progress(self) -> tuple[int, int]:
        """How many records have a new vector, and how many there are."""

    def missing(self, after: int, limit: int) -> list[tuple[int, str | None]]:
        """Row and text of records without one, behind that row."""

    def sample(self, limit: int) -> list[tuple[str, bytes]]:
        """Texts and the new vectors that they have, the first ones, without vectors that are all zero."""

    def keep(self, uuid: str, vectors: Mapping[int, bytes]) -> bool:
        """Keep the vectors of these rows; False, and nothing is kept, where they go into another collection by now."""

    def unplaced(self, after: int, limit: int) -> list[Unplaced]:
        """Records with a new vector that the new collection does not hold as they are, behind that row."""

    def place(self, uuid: str, placed: Sequence[Unplaced]) -> None:
        """The new collection holds these."""

    def displaced(self, limit: int) -> list[str]:
        """What it holds, and is gone."""

    def remove(self, stored_ids: Sequence[str]) -> None:
        """It holds these no more."""

    def swap(self, uuid: str, *, written: int | None, complete_at: str | None) -> bool:
        """All at once: the ledger speaks for the new collection, the mirror has the new vectors, and what differs
        between the two is due. False, and nothing is changed, where a record has no new vector yet.

        `written` is the last write of the old collection that the mirror knows, `complete_at` the state of the new one.
        """

    def with_lists(self) -> list[str]:
        """The records in whose metadata there are lists."""

    def unfinished(self, name: str) -> Unfinished | None:
        """The collection that has yet to take over this name."""

    def finish(self) -> None:
        """The collection that the ledger speaks for has its name."""


class DueRecords(Protocol):
    """Records that were written, changed or removed in the mirror first, and have yet to be in the collection.

    One process alone touches an embedded collection; the others leave here what it is to do, in the transaction that
    changes the mirror. A later change of such a record in the mirror is due as well.
    """

    def mark(self, stored_ids: Sequence[str], *, gone: bool) -> None: ...
    def first(self, limit: int) -> list[DueRecord]: ...
    def settle(self, done: Sequence[DueRecord]) -> None:
        """The collection shows these; those that changed since stay. Their read states are due from here on."""

    def among(self, stored_ids: Collection[str]) -> set[str]: ...
    def waiting(self) -> int: ...


class Sharing(Protocol):
    """What the process that holds a collection and those that do not, its guests, tell each other."""

    def describe(self, space: str, database: str, *, embedder: str | None, dimension: int | None) -> None:
        """The attached collection is open; guests need to know this much of it. None leaves what is known."""

    def described(self) -> KnownCollection | None: ...
    def find(self, name: str, database: str) -> KnownCollection | None:
        """The collection of that name that was described last, attached or not."""

    def visit(self) -> None: ...
    def last_visit(self) -> float | None:
        """How many seconds ago a guest was there."""

    def ask(self) -> int:
        """A guest wants everything in the collection now; gives the number of its wish."""

    def asked(self) -> int | None:
        """The latest wish that is not done; None where there is none."""

    def is_done(self, number: int) -> bool: ...
    def done(self, number: int) -> None: ...


class Retention(Protocol):
    """What the ledger lets go of by itself."""

    def trim(self, *, now: float, log_days: float, log_recalls: int) -> int: ...
    def collections(self) -> set[str]: ...
    def forget_collections(self, uuids: Collection[str]) -> None: ...


class Comparison(Protocol):
    """What can be held against the collection, to find what it or the ledger has lost."""

    def records_known(self, name: str) -> tuple[int, int]:
        """How many records of this collection were met, and of others, earlier ones, of that name."""

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
    def id_locks(self) -> IdLocks: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def statistics(self) -> Statistics: ...
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
    def words(self) -> WordRows: ...
    @property
    def graph(self) -> GraphRows: ...
    @property
    def hierarchy(self) -> HierarchyRows: ...
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
    def sharing(self) -> Sharing: ...
    @property
    def retention(self) -> Retention: ...
    @property
    def comparison(self) -> Comparison: ...
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
        """Call this once the thread's transaction is kept, without its locks; at once where there is none. What is held
        in RAM beside the ledger changes here, so that it is never ahead of it."""

    def close(self) -> None: ...
