"""What does a flow ask for? The store that holds records and the ledger that holds reads, in our words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from adaptive_memory_core.channels.conversation.session_similarity import company
from adaptive_memory_core.channels.conversation.sessions import Conversation
from adaptive_memory_core.cue.time.intent import Language, Window
from adaptive_memory_core.flow.calls.foreign_calls import Theirs, Unanswered
from adaptive_memory_core.flow.ports.ledger import IdLock, Ledger
from adaptive_memory_core.flow.ports.ledger_values import (
    DEMOTED,
    Advance,
    Counted,
    Doomed,
    Due,
    Entry,
    Erased,
    Extent,
    Judge,
    KnownStates,
    Row,
    Since,
    Tally,
    WordNews,
    WordRow,
)
from adaptive_memory_core.identity import origin
from adaptive_memory_core.policy.fusion import Fusion
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit, Metadata, ReadState, Record, Scope, Seen
from adaptive_memory_core.reports import BackgroundStats, ProjectionStats
from adaptive_memory_core.score.nothing_found import Floor

__all__ = [
    "Advance",
    "Background",
    "Channel",
    "Counted",
    "DEMOTED",
    "Doomed",
    "Due",
    "Embedder",
    "Entry",
    "Erased",
    "Extent",
    "Floors",
    "Found",
    "IdLock",
    "Judge",
    "KnownStates",
    "Leads",
    "Ledger",
    "Pair",
    "Ports",
    "Projector",
    "Row",
    "Since",
    "Store",
    "Stored",
    "Tally",
    "Vector",
    "Where",
    "WordNews",
    "WordRow",
    "seen",
]

Where = Mapping[str, Any]
Vector = Any
Pair = tuple[str | None, str | None]  # the ids in the collection of what was said right before and right after


@dataclass(frozen=True, slots=True)
class Stored:
    """A record as it stands in the collection; `stored_id` is its id there."""

    record: Record
    stored_id: str

    @property
    def seen(self) -> Seen:
        return seen(self.record)


def seen(record: Record) -> Seen:
    """A record's state with what else the ledger keeps of it."""
    return Seen(record.read, record.kind, origin(record.text, record.stored))


class Found(NamedTuple):
    """What a channel brought, before it is read: `similarity` is calibrated, `metadata` as the collection has it."""

    stored_id: str
    text: str | None
    metadata: Metadata | None
    similarity: float


@dataclass(frozen=True, slots=True)
class Leads:
    """What a channel says: its own best records, and of any record one number in [0, 1] for each thing it looks at.

    `covered` is how well its best one answers; `numbers` say where in the columns a record stands; `talk` is how the
    records stand to each other, where they are turns of a conversation.
    """

    best: Sequence[str]
    columns: Mapping[str, Any]
    covered: float
    numbers: Mapping[str, int]
    cue: str  # what the vectors are to look for: the cue, less what this channel takes care of
    talk: Conversation | None = None
    note: str | None = None

    def of(self, stored_id: str) -> dict[str, float]:
        """What it says of a record; nothing speaks for one it does not know."""
        number = self.numbers.get(stored_id, -1)
        return {
            **{
                name: float(values[number]) if 0 <= number < len(values) else 0.0
                for name, values in self.columns.items()
            },
            "covered": self.covered,
        }

    def company(self, hits: Sequence[Hit]) -> dict[str, dict[str, float]]:
        """In a conversation, what the candidates say of each other."""
        if self.talk is None:
            return {}
        last = len(self.talk.places)
        close = {hit.stored_id: min(1.0, max(0.0, hit.similarity)) for hit in hits}
        numbers = {one: number for one in close if (number := self.numbers.get(one, last)) < last}  # else met since
        found = company({number: close[one] for one, number in numbers.items()}, self.talk)
        beside = {one: found[numbers[one]] if one in numbers else (own, own) for one, own in close.items()}
        return {one: {"before": before, "company": best} for one, (before, best) in beside.items()}


class Channel(Protocol):
    """Another way to find records besides their vectors. It is told of what we write, and sees to the rest itself.

    `look`, `notice` and `miss` write nothing: what they learn stays in RAM, until `keep` writes it down.
    """

    def look(self, scope: Scope, cue: str, fusion: Fusion, limit: int, within: Set[str] | None) -> Leads: ...
    def notice(self, scope: Scope, found: Sequence[Found]) -> None: ...
    def miss(self, stored_ids: Sequence[str]) -> None: ...
    def keep(self, scope: Scope) -> None: ...
    def put(self, scope: Scope, records: Sequence[Stored]) -> None: ...
    def drop(self, stored_ids: Sequence[str]) -> None: ...
    def beside(self, scope: Scope, stored_ids: Sequence[str]) -> Mapping[str, Pair]: ...


class Embedder(Protocol):
    """Texts to vectors of one length. Where it `can_wait`, an event loop awaits `aembed_query`."""

    @property
    def can_wait(self) -> bool: ...
    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]: ...
    def embed_query(self, text: str) -> Vector: ...
    async def aembed_query(self, text: str) -> Vector: ...


class Store(Protocol):
    """The records: text, vector, metadata."""

    @property
    def batch_size(self) -> int: ...
    def nearest(self, scope: Scope, vector: Vector, limit: int, where: Where | None) -> list[Found]: ...
    def hits(self, scope: Scope, found: Iterable[Found], states: Mapping[str, ReadState]) -> list[Hit]: ...
    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]: ...
    def during(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, windows: Sequence[Window]
    ) -> list[Found]: ...
    def passing(self, scope: Scope, where: Where) -> set[str]: ...
    def extent(self) -> Extent: ...
    def flagged(self, scope: Scope, flag: str) -> list[str]: ...
    def fetch(self, scope: Scope, ids: Sequence[str]) -> dict[str, Found]: ...
    def stored(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]: ...
    def said_in(self, scope: Scope, sessions: Sequence[Any], limit: int) -> list[Found]: ...
    def vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]: ...
    def pages(self, scope: Scope) -> Iterator[list[Found]]: ...
    def taken(self, ids: Sequence[str]) -> set[str]: ...
    def add(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None: ...
    def revise(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None: ...
    def annotate(self, scope: Scope, stored_id: str, changes: Metadata) -> None: ...
    def remove(self, scope: Scope, stored_ids: Sequence[str]) -> None: ...
    def unlink(self, scope: Scope, record_id: str, began: float | None) -> None: ...
    def count(self, scope: Scope) -> int: ...


class Floors(Protocol):
    """The measuring of what unrelated questions find, beside the recalls. Nothing waits for it."""

    def want(self, scope: Scope, policy: Policy, known: Floor | None) -> None: ...
    def wrote(self, scope: Scope) -> None: ...
    def embed(self, text: str) -> Vector: ...
    def manner(self, policy: Policy) -> str: ...


class Projector(Protocol):
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

    store: Store
    ledger: Ledger
    embedder: Embedder
    projector: Projector
    lexical: Channel
    floors: Floors
    background: Background
    write_through: bool
    log: bool
    count_seconds: float  # that a recall waits to be counted
    languages: tuple[Language, ...]
    channels: Mapping[str, Theirs]  # the caller's own
    unanswered: Mapping[str, Unanswered]  # of our own channels
