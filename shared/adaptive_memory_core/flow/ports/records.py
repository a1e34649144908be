"""The ports of the records: their store, their search, and the indexes that follow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from adaptive_memory_core.identity import words_and_origins
from adaptive_memory_core.records import Record, Scope, Seen, Verdict
from adaptive_memory_core.score.ranking import CandidateColumns

Where = Mapping[str, Any]
Vector = Any


class Activated(NamedTuple):
    """A record's sentences that the graph activated in a recall, and those of them that support the answer: a bit for
    each place."""

    sentences: int = 0
    supports: int = 0


NOT_ACTIVATED = Activated()


class JudgedQuestion(NamedTuple):
    """What was asked when something was found that is judged now: the recall, the question's vector, and that of the
    time that it asks about, if there is one. `most` are the questions that may be kept of one record, and `ahead` how
    far each stood before all others in similarity then, or below 0 behind, as far as that is known."""

    recall_id: str
    vector: Vector
    most: int
    ahead: Mapping[str, float] = MappingProxyType({})
    activated: Mapping[str, Activated] = MappingProxyType({})
    time: Vector | None = None


class Imported(NamedTuple):
    """A question from elsewhere: its vector as bytes, how often a record was helpful and unhelpful for it, how far it
    stood before all others in it (None: nobody knows), and what GAM-RAG's memories are made of."""

    vector: bytes
    helpful: int
    unhelpful: int
    ahead: float | None = None
    activated: int = 0
    supports: int = 0
    time: bytes | None = None


class Index(Protocol):
    """It hears of all that is written, judged and removed, within the ledger's transaction. What is removed leaves
    nothing behind in it. A scope over everyone's records judges for its own user alone; it writes and removes nothing
    of everyone's."""

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """These are in the collection now, each with its vector. For one that was overwritten, `record.stored` is the
        earlier metadata."""

    def judged(self, scope: Scope, verdicts: Mapping[str, Verdict], question: JudgedQuestion | None = None) -> None:
        """These verdicts were given, on what that question found, where that is known."""

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None: ...
    def stored_ids(self) -> set[str]:
        """The ids of all records that it has something of."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A record as stored in the collection; `stored_id` is its id there. `shared` says that it is everyone's, and is
    seen by a user."""

    record: Record
    stored_id: str
    shared: bool = False

    @property
    def seen(self) -> Seen:
        return seen_of(self.record, shared=self.shared)


def seen_of(record: Record, *, shared: bool = False) -> Seen:
    """A record's state with what else the ledger keeps of it."""
    ((words, mark),) = words_and_origins([record.text], [record.stored or record.metadata])
    return Seen(record.read, record.kind, mark, shared, words)


def seen_in(columns: CandidateColumns, numbers: Sequence[int], kind: str) -> dict[str, Seen]:
    """The same of the candidates with these numbers, by their ids in the collection; `kind` is the metadata's key."""
    metadata = list(map(columns.stored.__getitem__, numbers))
    marks = words_and_origins(map(columns.texts.__getitem__, numbers), metadata)
    seen: dict[str, Seen] = {}
    for number, own, (words, mark) in zip(numbers, metadata, marks, strict=True):
        named = own.get(kind)
        is_shared = columns.shared[number]
        found = Seen(columns.reads[number], named if type(named) is str else None, mark, is_shared, words)
        seen[columns.stored_ids[number]] = found
    return seen
