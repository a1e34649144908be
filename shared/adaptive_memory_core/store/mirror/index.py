"""What does the mirror hear? A copy of every record that is written, in the ledger, as the collection has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress

import numpy as np

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Found, JudgedQuestion, Ledger, MirrorRow, Stored, Vector
from adaptive_memory_core.records import Metadata, Scope, Verdict
from adaptive_memory_core.store.edition import Edition
from adaptive_memory_core.store.mirror.in_step import InStep
from adaptive_memory_core.store.mirror.keeper import MirrorKeeper
from adaptive_memory_core.written_metadata import merged, revision


class MirrorIndex:
    """The mirror as an index: it hears of all that this memory writes, within the ledger's transaction."""

    def __init__(
        self,
        ledger: Ledger,
        fields: Fields,
        in_step: InStep,
        keeper: MirrorKeeper,
    ) -> None:
        self._rows, self._fields, self._in_step, self._afterwards = ledger.mirror, fields, in_step, ledger.afterwards
        self._keeper, self._edition = keeper, Edition(ledger)

    def changing(self, stored_ids: Sequence[str], grows: int | None = None) -> AbstractContextManager[None]:
        """Around each write of this memory into the collection."""
        self._keeper.begin()
        return self._in_step.changing(stored_ids, grows)

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """A copy of each, its metadata as Chroma has merged them."""
        self._edition.check()
        self._rows.put({scope: [self._row(scope, *pair) for pair in zip(records, vectors, strict=True)]})
        self._heard([one.stored_id for one in records])

    def annotated(self, changes: Mapping[str, Metadata]) -> None:
        """These keys were merged into the metadata of these records. What the ledger does not take is read again."""
        self._edition.check()
        with suppress(LedgerError):
            self._rows.annotate(changes)
            self._heard(list(changes))

    def as_mirrored(self, stored_ids: Sequence[str]) -> None:
        """These were written as the mirror has them."""
        self._in_step.heard(stored_ids)

    def revising(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """They are found as they were until they are written; what does not reach the mirror then is read again."""

    def judged(self, scope: Scope, verdicts: Mapping[str, Verdict], question: JudgedQuestion | None = None) -> None:
        """What verdicts change is written back into the metadata, and heard of then."""

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None:  # noqa: ARG002 - an id is of one scope
        self._edition.check()
        self._rows.drop(stored_ids)
        self._heard(stored_ids)

    def came_upon(self, scope: Scope, found: Sequence[Found], missing: Sequence[str]) -> None:
        """Others' writing is compared as a whole."""

    def catch_up(self, scope: Scope) -> None:  # noqa: ARG002 - all users' at once
        """Recalls that count have it kept up with what others write."""
        self._keeper.catch_up()

    def stored_ids(self) -> set[str]:
        return self._rows.stored_ids()

    def _heard(self, stored_ids: Sequence[str]) -> None:
        """The mirror has them once the ledger's transaction is kept."""
        self._afterwards(lambda: self._in_step.heard(stored_ids))

    def _row(self, scope: Scope, one: Stored, vector: Vector) -> MirrorRow:
        present = one.record.stored
        metadata = merged(present, revision(scope, one.record, present, self._fields))
        return MirrorRow(one.stored_id, one.record.text, metadata, np.asarray(vector, dtype="<f4").tobytes())
