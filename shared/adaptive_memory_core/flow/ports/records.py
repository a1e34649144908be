"""The ports of the records: their store, their search, and the indexes that follow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from adaptive_memory_core.identity import words_and_origins
from adaptive_memory_core.records import Record, Scope, Seen

Where = Mapping[str, Any]
Vector = Any


class Activated(NamedTuple):
    """A record's sentences that the graph activated in a recall, and the ones that support the answer, as bits."""

    sentences: int = 0
    supports: int = 0


NOT_ACTIVATED = Activated()


class JudgedQuestion(NamedTuple):
    """The question of a judged recall: the recall's id, the question's vector, and the vector of the time that it asks
    about, if any. `most` is the maximum number of stored questions per record. `ahead` contains how much more similar
    each record was than the best of the others, if known (negative: less similar)."""

    recall_id: str
    vector: Vector
    most: int
    ahead: Mapping[str, float] = MappingProxyType({})
    activated: Mapping[str, Activated] = MappingProxyType({})
    time: Vector | None = None


class Imported(NamedTuple):
    """An exported question: its vector as bytes, how often a record was helpful and unhelpful for it, how much more
    similar it was than all others (None: unknown), and the values for GAM-RAG's memories."""

    vector: bytes
    helpful: int
    unhelpful: int
    ahead: float | None = None
    activated: int = 0
    supports: int = 0
    time: bytes | None = None


class Index(Protocol):
    """An index that is notified of all records that are written and removed, in the ledger's transaction. A removed
    record leaves no trace in it. A scope over everyone's records does not write or remove everyone's records."""

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """Add records that were written to the collection. For an overwritten record, `record.stored` contains the
        earlier metadata."""

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None: ...
    def stored_ids(self) -> set[str]:
        """The ids of all records in the index."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A record as stored in the collection; `stored_id` is its id there. `shared` is True for everyone's record, if a
    user looks it up."""

    record: Record
    stored_id: str
    shared: bool = False

    @property
    def seen(self) -> Seen:
        return seen_of(self.record, shared=self.shared)


def seen_of(record: Record, *, shared: bool = False) -> Seen:
    """A record's state with the other values that the ledger stores of it."""
    ((words, mark),) = words_and_origins([record.text], [record.stored or record.metadata])
    return Seen(record.read, record.kind, mark, shared, words)
