"""What does the memory of judged questions hear? Verdicts with the question they answer, and what was removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.flow.ports import Found, JudgedQuestion, Stored, Vector
from adaptive_memory_core.flow.ports.judged_questions import JudgedQuestions
from adaptive_memory_core.records import Scope, Verdict


class QuestionIndex:
    """The questions that records were judged for, as an index over the ledger's rows of them."""

    def __init__(self, rows: JudgedQuestions) -> None:
        self._rows = rows

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """What was learned follows the words of a record, as its read state does: the ledger sees to it."""

    def revising(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """They are judged for what they say once they say it."""

    def judged(self, scope: Scope, verdicts: Mapping[str, Verdict], question: JudgedQuestion | None = None) -> None:
        """Keep the question with those that it found helpful and unhelpful."""
        if question is not None:
            self._rows.keep(scope, question, verdicts)

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """They go with the record's row; this is for one that had none any more."""
        self._rows.drop(scope, stored_ids)

    def came_upon(self, scope: Scope, found: Sequence[Found], missing: Sequence[str]) -> None:
        """Others' writing moves the ledger's rows, and these with them."""

    def catch_up(self, scope: Scope) -> None:
        """Looking teaches nothing here."""

    def stored_ids(self) -> set[str]:
        return self._rows.stored_ids()
