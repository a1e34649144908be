"""Which values do flows and the ledger exchange? States with their timeline, a recall to be counted, counts."""

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
LET_GO = -1  # in the place of a removed row's number: this removal and those before it are told no more
Since = Callable[[Timeline], tuple[int, float] | None]
WordRow = tuple[
    Any, ...
]  # what `store/words/frozen_lists.py` makes of a record's text: its stored id first, then its mark


class Advance(Protocol):
    """From a state as it stands to the state after a change; the timeline ends before it."""

    def __call__(self, seen: Seen, *, timeline: Timeline) -> ReadState: ...


AfterReads = Callable[[Sequence[Seen], Timeline], Sequence[ReadState]]  # what a recall makes of states as they stand
JoinStates = Callable[[ReadState, ReadState], ReadState]  # what two states of one memory are together


class RemovalRule(Protocol):
    """Whether a record is to go, at the end of this timeline."""

    def __call__(self, seen: Seen, *, timeline: Timeline) -> bool: ...


class KnownStates(NamedTuple):
    """States as the ledger keeps them, and the timeline that says what is left of their strength."""

    states: Mapping[str, ReadState]
    timeline: Timeline
    new: frozenset[str] = frozenset()  # not met, and not known to replace nobody
    balance: float = 0.0  # what usefulness has earned with the user
    said: Mapping[str, bytes | None] = {}  # what they, and others, said when they were met; None: not kept


class Rewritten(NamedTuple):
    """A record that says something else: what it said before, and what it is now."""

    before: bytes | None
    now: Seen


def never_read(seen: Seen) -> Seen:
    """A record that nobody has read as it is now. Whose words it took over is determined when somebody finds it."""
    return Seen(NEVER_READ, seen.kind, None, seen.shared, LOOK_AGAIN)


class Moves(NamedTuple):
    """Where states belong by now: records whose state starts again (`anew`), rows whose text has moved to another id
    (`heirs`: old stored id to new), records whose words were not kept yet (`unsaid`), and those that need a row if they
    have none (`unmet`): their metadata show reads of other words.

    The `settled` replace no other record and never will, as long as they keep their text; those whose text occurs
    elsewhere as well (`twins`) may, later. `versions` are those of the mirror rows of the records in `anew`, from
    before they were looked at; None if the caller has just written them.
    """

    anew: Mapping[str, Rewritten] = {}
    heirs: Mapping[str, str] = {}
    unsaid: Mapping[str, Seen] = {}
    unmet: Mapping[str, Seen] = {}
    settled: Mapping[str, bytes | None] = {}
    twins: Sequence[str] = ()
    versions: Mapping[str, int] | None = None

    @property
    def none(self) -> bool:
        """Whether all stays where it is."""
        return not (self.anew or self.heirs or self.unsaid)


class Counted(NamedTuple):
    """What came of a recall in the ledger: the user's step, and how many records changed."""

    step: int
    changed: int


class Extent(NamedTuple):
    """How many records a collection holds, and the one that came last."""

    size: int
    last: str | None


class LedgerRow(NamedTuple):
    """A record as the ledger stores it; `row` orders them."""

    row: int
    stored_id: str
    seen: Seen


@dataclass(frozen=True, slots=True)
class RecallEntry:
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
    pace: DecayPace  # of this recall's policy
    turn: str | None
    strangers: Mapping[str, Seen]  # candidates that the ledger has not met
    extent: Extent | None  # of the collection, where every record of the scope is among those or known
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
    """What the ledger removed of one record."""

    state: bool
    log_entries: int
    verdicts: int


@dataclass(frozen=True, slots=True)
class Due:
    """A state that the collection does not show yet; `version` is what it will show afterwards."""

    record_key: int
    version: int
    stored_id: str
    scope: Scope
    state: ReadState


class MirrorPage(NamedTuple):
    """Some records in the order of writing, and the number of the last one's row."""

    last: int
    rows: Sequence[tuple[str, str | None, Metadata | None]]


class KnownCollection(NamedTuple):
    """A collection as the process that has it open described it: its id, and what distance its vectors have."""

    uuid: str
    space: str


class LedgerCopy(NamedTuple):
    """A collection that the ledger has a copy of."""

    key: int
    uuid: str
    embedder: str | None
    dimension: int | None
    records: int


class Target(NamedTuple):
    """The collection that another embedder's vectors are written into."""

    uuid: str
    embedder: str
    dimension: int | None


class Unfinished(NamedTuple):
    """A collection that has yet to take over the name of another one, and the last write of that one that is known."""

    uuid: str
    replaces: str
    written: int | None


class DueRecord(NamedTuple):
    """A record that the collection does not show as the mirror has it, which is its `row`; `gone`: that it still shows.

    The row is of the moment of the number: who writes it and then settles the number has not written an older one.
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


class LedgerVersion(NamedTuple):
    """The ledger as a recall found it when it began: what all its parts compare with what they have in RAM.

    `change` is another one as soon as anybody, in any process, has written more than the reads of a recall, or into the
    metadata of the mirror's rows. `of_rows` is the number of the last change of a row of the mirror, None in a
    transaction; `of_user` is another one as soon as a recall of the user was counted, None where `change` tells of it.
    `undone`: another one as soon as a transaction of this memory was undone.
    """

    change: tuple[int, int]  # how often this memory has written, and how often others have
    of_rows: int | None
    of_user: int | None
    undone: int


class WordNews(NamedTuple):
    """What became of a user's word rows since they were last asked for.

    `owner` stands for the user, 0 for one whom the ledger has not met; where it is another than before, the lists that
    were made of earlier news are of no use. `written` are word rows, each behind its number in the order of writing;
    `removed` are pairs of a number in the order of removing and the number of the row that went.
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


class MirrorNews(NamedTuple):
    """What became of a user's mirror rows since they were last asked for.

    `owner` stands for the user, 0 for one whom the ledger has not met; where it is another than before, what was made
    of earlier news is of no use. `removed` are pairs of a number in the order of removing and the number of the row
    that went; `written` are numbers in the order of writing, each with the record's stored id and vector.
    """

    owner: int
    removed: Sequence[tuple[int, int]]
    written: Sequence[tuple[int, str, bytes]]


class Versions(NamedTuple):
    """How mirror rows stand: the number of removals so far, and the number of each row's last change."""

    drops: int
    rows: Mapping[str, int]


FileKind = Literal["vectors", "words"]


class UserFile(NamedTuple):
    """A file with what the rows of `owner` came to: up to the row numbered `written`, after the removal numbered
    `removed`."""

    place: Path
    owner: int
    written: int
    removed: int
