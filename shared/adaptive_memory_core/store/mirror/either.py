"""Where is a search made? In the mirror, where that is as the collection is and not too large; else in Chroma."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.ports import Found, NearestAndNamed, Vector, Where
from adaptive_memory_core.policy.policy import SearchBy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.chroma.search import ChromaSearch
from adaptive_memory_core.store.mirror.keeper import MirrorKeeper
from adaptive_memory_core.store.mirror.resident import TornMirrorError
from adaptive_memory_core.store.mirror.search import MirrorSearch, UnansweredByMirrorError

T = TypeVar("T")


class MirroredSearch:
    """The `Search` port over a collection and its mirror."""

    def __init__(self, chroma: ChromaSearch, mirror: MirrorSearch, keeper: MirrorKeeper, *, most_records: int) -> None:
        self._chroma, self._mirror, self._keeper = chroma, mirror, keeper
        self._most_records = most_records

    def nearest(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, *, by: SearchBy = "auto"
    ) -> list[Found]:
        return self._either(
            scope,
            by,
            lambda: self._mirror.nearest(scope, vector, limit, where),
            lambda: self._nearest_in_chroma(scope, vector, limit, where, by),
        )

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
        """In one look, where the mirror answers."""
        return self._either(
            scope,
            by,
            lambda: self._mirror.nearest_and_named(scope, vector, limit, where, named),
            lambda: NearestAndNamed(self._nearest_in_chroma(scope, vector, limit, where, by), None),
        )

    def during(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, windows: Sequence[Window]
    ) -> list[Found]:
        return self._either(
            scope,
            "auto",
            lambda: self._mirror.during(scope, vector, limit, where, windows),
            lambda: self._chroma.during(scope, vector, limit, where, windows),
        )

    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]:
        return self._either(
            scope,
            "auto",
            lambda: self._mirror.among(scope, vector, stored_ids, where),
            lambda: self._chroma.among(scope, vector, stored_ids, where),
        )

    def passing(self, scope: Scope, where: Where) -> set[str]:
        return self._either(
            scope, "auto", lambda: self._mirror.passing(scope, where), lambda: self._chroma.passing(scope, where)
        )

    def stored(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]:
        """What the mirror does not have is asked of the collection: an id that was named is worth a look."""

        def mirrored() -> list[Found]:
            found = self._mirror.stored(scope, stored_ids)
            here = {one.stored_id for one in found}
            missing = [one for one in stored_ids if one not in here]
            return found + self._chroma.stored(scope, missing) if missing else found

        return self._either(scope, "exact", mirrored, lambda: self._chroma.stored(scope, stored_ids))

    def vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:
        return self._either(
            scope,
            "auto",
            lambda: self._mirror.vectors(scope, stored_ids),
            lambda: self._chroma.vectors(scope, stored_ids),
        )

    def unit_vectors_at_hand(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:
        return self._either(
            scope,
            "auto",
            lambda: self._mirror.unit_vectors_at_hand(scope, stored_ids),
            lambda: self._chroma.unit_vectors_at_hand(scope, stored_ids),
        )

    def _nearest_in_chroma(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, by: SearchBy
    ) -> list[Found]:
        return self._chroma.nearest(scope, vector, limit, where, by=by if self._fits(scope, by) else "ann")

    def _either(self, scope: Scope, by: SearchBy, mirrored: Callable[[], T], unmirrored: Callable[[], T]) -> T:
        if by == "ann" or not self._fits(scope, by):
            return unmirrored()
        if not self._keeper.ready():
            return unmirrored()
        try:
            return mirrored()
        except TornMirrorError:
            self._keeper.distrust()
        except (UnansweredByMirrorError, LedgerError):
            pass
        return unmirrored()

    def _fits(self, scope: Scope, by: SearchBy) -> bool:
        return self._most_records > 0 and (by == "exact" or self._mirror.size(scope) <= self._most_records)
