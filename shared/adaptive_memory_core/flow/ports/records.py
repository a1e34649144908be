"""The ports of the records: their store, their search, and the indexes that follow them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.flow.ports.ledger_values import Extent
from adaptive_memory_core.flow.ports.source import Found, NearestAndNamed
from adaptive_memory_core.identity import origin, text_digest
from adaptive_memory_core.learn.asked_before import RatedQuestions
from adaptive_memory_core.policy.advanced import SearchBy
from adaptive_memory_core.records import Metadata, Record, Scope, Seen, Verdict
from adaptive_memory_core.score.surprise import Baseline

Where = Mapping[str, Any]
Vector = Any


class SearchPort(Protocol):
    """Finding, within one scope. `by` says in what: the mirror ("exact"), Chroma's index ("ann"), or as it suits."""

    def nearest(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, *, by: SearchBy = "auto"
    ) -> list[Found]: ...
    def nearest_and_named(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        named: Sequence[str],
        *,
        by: SearchBy = "auto",
    ) -> NearestAndNamed: ...
    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]: ...
    def during(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, windows: Sequence[Window]
    ) -> list[Found]: ...
    def passing(self, scope: Scope, where: Where) -> set[str]: ...
    def stored(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]: ...
    def vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]: ...
    def baseline(self, scope: Scope, vector: Vector) -> Baseline:
        """What records of the scope score that are unrelated to this query, by a sample of them."""


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


class JudgedQuestions(Protocol):
    """The questions that records were judged for, by user. They go with the record, and a verdict that is taken back
    takes its question back; beyond the `most`, the two that are nearest to each other become one."""

    def keep(self, scope: Scope, question: JudgedQuestion, verdicts: Mapping[str, Verdict]) -> None: ...
    def of(self, scope: Scope) -> RatedQuestions | None:
        """All that is kept for this user, as vectors; None where nothing is. What has not changed is not read again."""

    def words(self, keys: Sequence[int]) -> dict[int, str]:
        """What was asked, by the questions' keys, as far as the log still has it."""

    def export(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, list[Imported]]: ...
    def restore(self, scope: Scope, stored_id: str, questions: Sequence[Imported], *, most: int) -> None:
        """Keep these of a record that nothing is kept of yet."""

    def drop(self, scope: Scope, stored_ids: Sequence[str]) -> None: ...
    def stored_ids(self) -> set[str]: ...


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
    words = text_digest(record.text)
    return Seen(record.read, record.kind, origin(record.text, record.stored or record.metadata), shared, words)


class Records(Protocol):
    """Keeping: text, vector, metadata."""

    @property
    def batch_size(self) -> int: ...
    @property
    def space(self) -> str:
        """What the distance between two vectors is: "cosine", "ip" or "l2"."""

    def extent(self) -> Extent: ...
    def flagged(self, scope: Scope, flag: str) -> list[str]: ...
    def fetch(self, scope: Scope, ids: Sequence[str]) -> dict[str, Found]: ...
    def said_in(self, scope: Scope, sessions: Sequence[Any], limit: int) -> list[Found]: ...
    def pages(self, scope: Scope) -> Iterator[list[Found]]: ...
    def taken(self, ids: Sequence[str]) -> set[str]: ...
    def add(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None: ...
    def revise(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None: ...
    def annotate(self, scope: Scope, stored_id: str, changes: Metadata) -> None: ...
    def remove(self, scope: Scope, stored_ids: Sequence[str]) -> None: ...
    def unlink(self, scope: Scope, record_id: str, began: float | None) -> None: ...
    def count(self, scope: Scope) -> int: ...
    def size(self) -> int: ...
    def names_users(self) -> bool | None:
        """Whether any record names a user, as of now; None if that is not known, or if there are no records."""

    def latest(self, most: int) -> list[str]: ...
    def ids(self) -> list[str]: ...
    def rows(self, stored_ids: Sequence[str]) -> list[tuple[str, str | None, Metadata | None]]: ...
    def metadata(self, stored_ids: Sequence[str]) -> dict[str, Metadata]: ...
    def update_metadata(self, changes: Mapping[str, Metadata]) -> None: ...
