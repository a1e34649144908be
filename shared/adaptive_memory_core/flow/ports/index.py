"""What must an index be told? What was written, judged and removed; words are the first index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from adaptive_memory_core.flow.ports.judged_questions import JudgedQuestion
from adaptive_memory_core.flow.ports.records import Stored
from adaptive_memory_core.flow.ports.search import Vector
from adaptive_memory_core.records import Scope, Verdict


class Index(Protocol):
    """It hears of all that is written, judged and removed, within the ledger's transaction. What is removed leaves
    nothing behind in it. A scope over everyone's records judges for its own user alone; it writes and removes nothing
    of everyone's."""

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """These stand in the collection now, each with its vector. Of one that was written over, `record.stored` is the
        metadata that stood there before."""

    def judged(self, scope: Scope, verdicts: Mapping[str, Verdict], question: JudgedQuestion | None = None) -> None:
        """These verdicts were given, on what that question found, where that is known."""

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None: ...
    def stored_ids(self) -> set[str]:
        """The ids of all records that it has something of."""
