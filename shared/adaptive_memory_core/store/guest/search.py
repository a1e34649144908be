"""How does a process search that does not hold the collection? In the mirror, also where Chroma would be asked."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import Found, NearestAndNamed, Vector, Where
from adaptive_memory_core.policy.policy import SearchBy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.chroma.calls import both
from adaptive_memory_core.store.mirror.records import MirrorRecords
from adaptive_memory_core.store.mirror.search import MirrorSearch, UnansweredByMirrorError
from adaptive_memory_core.stored_metadata import within
from adaptive_memory_core.where.parse import predicate


class SearchInTheMirror:
    """The `Search` port of a guest: exact, however many records there are, and whatever a policy asks for."""

    def __init__(self, mirror: MirrorSearch, records: MirrorRecords) -> None:
        self._mirror, self._records = mirror, records
        self.stored = mirror.stored
        self.vectors = mirror.vectors

    def nearest(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        *,
        by: SearchBy = "auto",  # noqa: ARG002 - Chroma's index is another process's
    ) -> list[Found]:
        """The hits of this scope, nearest first: `limit` of them unless there are no more."""
        try:
            return self._mirror.nearest(scope, vector, limit, where)
        except UnansweredByMirrorError:
            return self.among(scope, vector, self._texts_passing(scope, vector, where), None)[:limit]

    def nearest_and_named(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        named: Sequence[str],
        *,
        by: SearchBy = "auto",
    ) -> NearestAndNamed:
        """Those, and of the named records the others that are of this scope."""
        try:
            return self._mirror.nearest_and_named(scope, vector, limit, where, named)
        except UnansweredByMirrorError:
            return NearestAndNamed(self.nearest(scope, vector, limit, where, by=by), None)

    def during(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, windows: Sequence[Window]
    ) -> list[Found]:
        """The nearest of those that happened, or began to hold, within one of the windows."""
        return self.nearest(scope, vector, limit, both(where, within(windows, self._records.fields)))

    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]:
        """Those of the records that are of this scope and pass the filter, nearest first."""
        try:
            return self._mirror.among(scope, vector, stored_ids, where)
        except UnansweredByMirrorError:
            passing = set(self._texts_passing(scope, vector, where))
            return self._mirror.among(scope, vector, [one for one in stored_ids if one in passing], None)

    def unit_vectors_at_hand(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:
        """As the mirror has them."""
        return self._mirror.unit_vectors_at_hand(scope, stored_ids)

    def passing(self, scope: Scope, where: Where) -> set[str]:
        """The ids of all records of the scope that pass the filter."""
        try:
            return self._mirror.passing(scope, where)
        except UnansweredByMirrorError:
            return self._passing(scope, where)

    def _texts_passing(self, scope: Scope, vector: Vector, where: Where | None) -> list[str]:
        """What passes a filter on texts; without one it is the vector that has another length."""
        if where is None:
            raise StoreError(
                f"The vector has {len(vector)} numbers, and those of the collection have another length. Give one of "
                "the embedder that the collection was written with, or the text alone."
            )
        return sorted(self._passing(scope, where))

    def _passing(self, scope: Scope, where: Where) -> set[str]:
        test = predicate(where)
        found = (one for page in self._records.pages(scope) for one in page)
        return {one.stored_id for one in found if test(one.metadata or {}, one.text)}
