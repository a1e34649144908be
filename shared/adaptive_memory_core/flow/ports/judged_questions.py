"""What must a ledger keep of questions that were judged? Their vectors, and which records answered them or did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

from adaptive_memory_core.flow.ports.search import Vector
from adaptive_memory_core.learn.asked_before import RatedQuestions
from adaptive_memory_core.records import Scope, Verdict


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
