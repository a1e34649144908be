"""Values that flows and the ledger exchange: states with their timeline, a recall to be counted, and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from adaptive_memory_core.identity import LOOK_AGAIN
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.learn.logged_state import NO_BASIS, Basis
from adaptive_memory_core.policy.learning import DecayPace, Regime
from adaptive_memory_core.records import NEVER_READ, Dropped, Metadata, ReadState, Scope, Scored, Seen

DEMOTED = "demoted"  # in the audit trail; it closes the verdicts before it
REWRITTEN = "rewritten"  # in the audit trail; verdicts on recalls before it are of other words
LET_GO = -1  # instead of a removed row's number: this removal and earlier ones are no longer listed
Since = Callable[[Timeline], tuple[int, float] | None]
WordRow = tuple[
    Any, ...
]  # what `store/words/frozen_lists.py` makes of a record's text: its stored id first, then its mark


class Advance(Protocol):
    """A rule from a present state to the state after a change; the timeline ends before the change."""

    def __call__(self, seen: Seen, *, timeline: Timeline) -> ReadState: ...


AfterReads = Callable[[Sequence[Seen], Timeline], Sequence[ReadState]]  # what a recall makes of states as they stand
JoinStates = Callable[[ReadState, ReadState], ReadState]  # what two states of one memory are together


class RemovalRule(Protocol):
    """A rule that decides whether to remove a record, at the end of this timeline."""

    def __call__(self, seen: Seen, *, timeline: Timeline) -> bool: ...


class KnownStates(NamedTuple):
    """States in the ledger, and the timeline that is needed for their present strengths."""

    states: Mapping[str, ReadState]
    timeline: Timeline
    new: frozenset[str] = frozenset()  # not met, and not known to replace nobody
    balance: float = 0.0  # what usefulness has earned with the user
    text_digests: Mapping[str, bytes | None] = {}  # what they, and others, said when they were met; None: not kept


class Rewritten(NamedTuple):
    """A record whose text has changed: the digest of the former text, and the record now."""

    before: bytes | None
    now: Seen


def never_read(seen: Seen) -> Seen:
    """A record without reads of its present text. Whether it takes over another state is determined when it is
    found."""
    return Seen(NEVER_READ, seen.kind, None, seen.shared, LOOK_AGAIN)


class Moves(NamedTuple):
    """Changes of states after texts have moved: records whose state starts again (`rewritten`), rows whose text has
    moved to another id (`heirs`: old stored id to new), records without a stored digest (`undigested`), and records
    that need a row if they have none (`unmet`), because their metadata show reads of another text.

    The `settled` records replace no other record as long as they keep their text. Records whose text occurs elsewhere
    as well (`twins`) may do so later. `versions` are those of the mirror rows of the records in `rewritten`, from
    before they were looked up; None if the caller has just written them.
    """

    rewritten: Mapping[str, Rewritten] = {}
    heirs: Mapping[str, str] = {}
    undigested: Mapping[str, Seen] = {}
    unmet: Mapping[str, Seen] = {}
    settled: Mapping[str, bytes | None] = {}
    twins: Sequence[str] = ()
    versions: Mapping[str, int] | None = None

    @property
    def none(self) -> bool:
        """Whether no state changes."""
        return not (self.rewritten or self.heirs or self.undigested)


class Counted(NamedTuple):
    """The result of counting a recall: the user's step, and how many records changed."""

    step: int
    changed: int


class Extent(NamedTuple):
    """The number of records in a collection, and the id of the last one."""

    size: int
    last: str | None


class LedgerRow(NamedTuple):
    """A record as the ledger stores it; `row` orders them."""

    row: int
    stored_id: str
    seen: Seen


class RecallEntry(NamedTuple):
    """One recall to write to the ledger; `logged` is False if the log is off."""

    id: str
    at: float
    cue: str
    k: int
    policy_hash: str
    policy_json: str
    kept: Sequence[Scored]
    dropped: Sequence[Dropped]
    regime: Regime  # the memory's own
    pace: DecayPace  # of this recall's policy
    turn: str | None
    strangers: Mapping[str, Seen]  # candidates without a row in the ledger
    extent: Extent | None  # of the collection, if every record of the scope is a stranger or has a row
    logged: bool
    basis: Basis = NO_BASIS


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
    """The traces of one record that the ledger removed."""

    state: bool
    log_entries: int
    verdicts: int


@dataclass(frozen=True, slots=True)
class Due:
    """A state to write back to the collection; `version` is the version that it will have there."""

    record_key: int
    version: int
    stored_id: str
    scope: Scope
    state: ReadState


class MirrorPage(NamedTuple):
    """A page of records in the order of writing, and the row of the last one."""

    last: int
    rows: Sequence[tuple[str, str | None, Metadata | None]]


class KnownCollection(NamedTuple):
    """The id and the distance of a collection, as noted by the process that has it open."""

    uuid: str
    space: str


class LedgerCopy(NamedTuple):
    """A collection whose records are copied in the ledger."""

    key: int
    uuid: str
    embedder: str | None
    dimension: int | None
    records: int


class Target(NamedTuple):
    """The collection to which another embedder's vectors are written."""

    uuid: str
    embedder: str
    dimension: int | None


class Unfinished(NamedTuple):
    """A collection that has not yet taken over the name of another one, and the last known write of that one."""

    uuid: str
    replaces: str
    written: int | None


class DueRecord(NamedTuple):
    """A record to write to the collection (`row`, from the mirror), or to remove from it (`gone`).

    The row was read together with the number, so settling the number never hides a newer row.
    """

    number: int
    stored_id: str
    row: MirrorRow | None
    gone: bool


def some_let_go(removed: Iterable[tuple[int, int]]) -> bool:
    """Whether some of a user's removals are no longer listed: a reader that has not seen them reads all rows again.

    >>> some_let_go([(7, 3)]), some_let_go([(7, LET_GO), (9, 4)])
    (False, True)
    """
    return any(row == LET_GO for _, row in removed)


MOST_HELPFUL = 8  # records that are compared in addition to the nearest because they were helpful; bursts have fewer


class Learned(NamedTuple):
    """What a user's recalls and feedback have taught: the number of recalls, the records that were helpful last, newest
    first, each with its recall, and whether there are verdicts with their questions."""

    step: int = 0
    helpful: Sequence[tuple[str, int]] = ()
    judged: bool = False


class LedgerVersion(NamedTuple):
    """The version of the ledger at the beginning of a recall, with which its parts compare their copies in RAM.

    `change` changes when any process has written, except for reads of a recall and metadata of the mirror's rows.
    `of_rows` is the number of the last change of a mirror row (None in a transaction). `of_user` changes when a recall
    of the user was counted (None if `change` changes instead). `undone` changes when a transaction of this memory was
    rolled back. `learned` is only filled in for a recall.
    """

    change: tuple[int, int]  # numbers of writes by this memory and by others
    of_rows: int | None
    of_user: int | None
    undone: int
    learned: Learned = Learned()


class News(NamedTuple):
    """The changes of a user's rows of the mirror, or of words, since the last call.

    `owner` is the user's key, 0 for a user who is not in the ledger. If it has changed, copies from earlier calls are
    invalid. `removed` are pairs of the number of the removal and the number of the removed row. `written` are rows in
    the order of writing, each after its number: the record's stored id and vector, or its words.
    """

    owner: int
    removed: Sequence[tuple[int, int]]
    written: Sequence[tuple[Any, ...]]


class MirrorRow(NamedTuple):
    """A record as stored in the collection, with its vector as 32-bit numbers."""

    stored_id: str
    text: str | None
    metadata: Metadata | None
    vector: bytes


MirrorChange = tuple[int, int, str | None, Metadata | None]  # number of the change, row, text, metadata


class Versions(NamedTuple):
    """The versions of mirror rows: the number of removals so far, and the number of each row's last change."""

    drops: int
    rows: Mapping[str, int]


FileKind = Literal["vectors", "words"]


class UserFile(NamedTuple):
    """A file built from the rows of `owner`, up to the row numbered `written` and the removal numbered `removed`."""

    place: Path
    owner: int
    written: int
    removed: int
