"""What if a record is removed while it is being embedded anew? It leaves the new collection too, also where nobody goes
on with that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import Found, JudgedQuestion, Ledger, Stored, Vector
from adaptive_memory_core.records import Scope, Verdict
from adaptive_memory_core.store.chroma.calls import told
from adaptive_memory_core.store.chroma.write_gate import told_alone
from adaptive_memory_core.store.reembed import successor

if TYPE_CHECKING:
    from chromadb import Collection


class RemovedMeanwhile:
    """The new collection as an index. It learns of all else when it is filled."""

    def __init__(self, ledger: Ledger, collection: Collection, *, keeps_mirror: bool) -> None:
        self._ledger, self._collection, self._keeps_mirror = ledger, collection, keeps_mirror

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None:  # noqa: ARG002 - an id is of one scope
        self._ledger.afterwards(lambda: self.remove(stored_ids))

    def remove(self, stored_ids: Sequence[str]) -> None:
        """Now. What Chroma refuses leaves it when it is filled."""
        if not stored_ids or self._ledger.new_vectors.target() is None:
            return
        if not self._keeps_mirror:
            self._ledger.mirror.drop(stored_ids)
        with suppress(StoreError):
            if (new := self._new()) is not None:
                told_alone(new, lambda: new.delete(ids=list(stored_ids)))
                self._ledger.new_vectors.remove(stored_ids)

    def stored_ids(self) -> set[str]:
        """What the new collection holds."""
        new = self._new()
        return set() if new is None else set(told(lambda: new.get(include=[]))["ids"])

    def _new(self) -> Collection | None:
        target = self._ledger.new_vectors.target()
        return None if target is None else successor.found(self._collection, target.uuid)

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None: ...
    def revising(self, scope: Scope, stored_ids: Sequence[str]) -> None: ...
    def judged(self, scope: Scope, verdicts: Mapping[str, Verdict], question: JudgedQuestion | None = None) -> None: ...
    def came_upon(self, scope: Scope, found: Sequence[Found], missing: Sequence[str]) -> None: ...
    def catch_up(self, scope: Scope) -> None: ...
