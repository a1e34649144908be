"""Search in the ledger's records, exactly and in RAM; where they are incomplete or too many, Chroma is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.errors import LedgerError, StoreError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.ledger_values import LedgerVersion
from adaptive_memory_core.flow.ports.records import Vector, Where
from adaptive_memory_core.flow.ports.source import Found, NearestAndNamed
from adaptive_memory_core.policy.advanced import SearchBy
from adaptive_memory_core.record_metadata import belongs, rows_of, windows_filter
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score import signals
from adaptive_memory_core.score.surprise import Baseline, baseline_of_vectors, for_query, merged_baseline, sample_of
from adaptive_memory_core.store.chroma.chroma_calls import both_filters
from adaptive_memory_core.store.chroma.chroma_search import ChromaSearch
from adaptive_memory_core.store.chroma.open_collection import CollectionAccess
from adaptive_memory_core.store.embedder_check import EmbedderVersion
from adaptive_memory_core.store.ledger_records import LedgerRecords
from adaptive_memory_core.store.mirror.resident_records import Resident, Residents, TornMirrorError
from adaptive_memory_core.store.mirror.vector_matrix import Matrix
from adaptive_memory_core.store.user_copies import UserCopies

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

MARGIN = 4  # further rows that are compared in double precision, since single precision may mistake the last ones


class MirrorSearch:
    """Finding in the copies that the ledger has of a collection's records, seen through one scope at a time."""

    def __init__(
        self, ledger: Ledger, fields: Fields, space: str, most_bytes: int, kept: UserCopies | None = None
    ) -> None:
        self._rows, self._pages, self._fields, self._space = ledger.mirror, ledger.mirror_pages, fields, space
        self.residents = Residents(ledger.mirror, space, most_bytes, EmbedderVersion(ledger), kept)

    def nearest(self, scope: Scope, vector: Vector, limit: int, where: Where | None) -> list[Found]:
        """The hits of this scope, nearest first: `limit` of them unless there are no more."""
        return list(self.nearest_and_named(scope, vector, limit, where, ()).nearest)

    def nearest_and_named(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        named: Sequence[str],
        version: LedgerVersion | None = None,
    ) -> NearestAndNamed:
        """Those, and of the named records the others that are of this scope and pass the filter."""
        near = [one for part in scope.parts for one in self._nearest(part, vector, limit, where, named, version)]
        if scope.over is not None:
            near.sort(key=_distance)
        wanted = frozenset(named)
        found = self._found(scope, [*near[:limit], *[one for one in near[limit:] if one[0] in wanted]], version)
        if len(near) <= limit:
            return NearestAndNamed(found, ())
        nearest = {one for one, _ in near[:limit]}
        split = len([one for one in found if one.stored_id in nearest])
        return NearestAndNamed(found[:split], found[split:])

    def _nearest(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        named: Sequence[str],
        version: LedgerVersion | None,
    ) -> list[tuple[str, float]]:
        """At least the nearest of the scope, and the named ones, nearest first."""
        with self.residents.of(scope, version) as user:
            allowed = None if where is None else user.passing(self._rows, scope, where)
            if user.matrix is None or not len(user):
                return []
            asked = user.matrix.asked(_checked(vector, user.matrix.dimension))
            places: list[int] = user.matrix.nearest(asked, limit + MARGIN, allowed).tolist()
            if named:
                known = user.places
                also = {known[one]: None for one in named if one in known}
                there = frozenset(places)
                places += [one for one in also if one not in there and (allowed is None or allowed[one])]
            return _with_distances(user, user.matrix, asked, places)

    def during(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, windows: Sequence[Window]
    ) -> list[Found]:
        """The nearest of those that happened, or began to hold, within one of the windows."""
        return self.nearest(scope, vector, limit, both_filters(where, windows_filter(windows, self._fields)))

    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]:
        """Those of the records that are of this scope and pass the filter, nearest first."""
        near = [one for part in scope.parts for one in self._among(part, vector, stored_ids, where)]
        return self._found(scope, sorted(near, key=_distance))

    def _among(
        self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None
    ) -> list[tuple[str, float]]:
        with self.residents.of(scope) as user:
            allowed = None if where is None else user.passing(self._rows, scope, where)
            here = [one for one in stored_ids if one in user.places and (allowed is None or allowed[user.places[one]])]
            if user.matrix is None or not here:
                return []
            asked = user.matrix.asked(_checked(vector, user.matrix.dimension))
            return _with_distances(user, user.matrix, asked, [user.places[one] for one in here])

    def passing(self, scope: Scope, where: Where) -> set[str]:
        """The ids of all records of the scope that pass the filter."""
        found: set[str] = set()
        for part in scope.parts:
            with self.residents.of(part) as user:
                found.update(compress(user.ids, user.passing(self._rows, part, where)))
        return found

    def stored(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]:
        """Those of the records that exist in this scope, by their ids in the collection."""
        rows = self._rows.rows(stored_ids)
        return [Found(*row, 1.0) for row in rows if belongs(row[2], scope, self._fields)]

    def vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of those of the records that are of this scope."""
        found: dict[str, Vector] = {}
        for part in scope.parts:
            with self.residents.of(part) as user:
                here = [one for one in stored_ids if one in user.places]
                if user.matrix is not None and here:
                    found |= zip(here, user.matrix.vectors([user.places[one] for one in here]), strict=True)
        return found

    def baseline(self, scope: Scope, vector: Vector, version: LedgerVersion | None = None) -> Baseline:
        """What records score that are unrelated to a query, by a sample of them."""
        return merged_baseline([self._baseline(part, vector, version) for part in scope.parts])

    def _baseline(self, part: Scope, vector: Vector, version: LedgerVersion | None) -> tuple[int, Baseline]:
        """What records score with each other is measured again once their number has changed by a quarter."""
        with self.residents.of(part, version) as user:
            count = 0 if user.matrix is None else len(user)
            measured = user.baseline
            if user.matrix is None or measured is None or not 0.8 * measured[0] <= count <= 1.25 * measured[0]:
                sample: Any = [] if user.matrix is None else user.matrix.vectors(sample_of(count))
                measured = user.baseline = count, baseline_of_vectors(sample, self._space)
            if user.matrix is None or not count:
                return measured
            asked = user.matrix.asked(_checked(vector, user.matrix.dimension))
            distances = user.matrix.distances(asked, sample_of(count)).tolist()
            return count, for_query(measured[1], signals.similarities_at(distances, space=self._space))

    def size(self, scope: Scope) -> int:
        """How many records the user has, about: counted where they are not in RAM."""
        held = [(part, self.residents.size(part)) for part in scope.parts]
        return sum(self._pages.count(part) if size is None else size for part, size in held)

    def _found(
        self, scope: Scope, near: Sequence[tuple[str, float]], version: LedgerVersion | None = None
    ) -> list[Found]:
        """The records with their texts, as far as they are still there, and not another user's by now."""
        found = self._rows.rows([one for one, _ in near], version)
        rows = {row[0]: row for row in rows_of(found, scope, self._fields)}
        close = signals.similarities_at([distance for _, distance in near], space=self._space)
        each = zip(near, close, strict=True)
        return [_as_found((*row, like)) for (one, _), like in each if (row := rows.get(one)) is not None]


_as_found = partial(tuple.__new__, Found)  # `Found(*values)` in half of the time
_distance = itemgetter(1)


def _with_distances(user: Resident, matrix: Matrix, asked: Any, places: Sequence[int]) -> list[tuple[str, float]]:
    """The records at these places with Chroma's distance, nearest first."""
    distances, ids = matrix.distances(asked, places).tolist(), user.ids
    return sorted(zip([ids[place] for place in places], distances, strict=True), key=_distance)


def _checked(vector: Vector, dimension: int) -> Any:
    one = np.asarray(vector, dtype=np.float32)
    if one.shape != (dimension,) or not np.isfinite(one).all():
        raise StoreError(
            f"The vector has {len(one)} numbers, and those of the collection have {dimension}. Give one of finite "
            "numbers, of the embedder that the collection was written with, or the text alone."
        )
    return one


T = TypeVar("T")


class RecordSearch:
    """Finds within one scope: in the ledger's records, exactly; in Chroma where the ledger does not have all of them,
    or a user has too many to be kept in RAM. `by` says in which: "exact", "ann" (Chroma's index), or "auto"."""

    def __init__(
        self, mirror: MirrorSearch, records: LedgerRecords, access: CollectionAccess, *, most_records: int
    ) -> None:
        self._mirror, self._records, self._access, self._most_records = mirror, records, access, most_records

    def nearest(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, *, by: SearchBy = "auto"
    ) -> list[Found]:
        """The hits of this scope, nearest first: `limit` of them unless there are no more."""
        return list(self.nearest_and_named(scope, vector, limit, where, (), by=by).nearest)

    def nearest_and_named(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        named: Sequence[str],
        *,
        by: SearchBy = "auto",
        version: LedgerVersion | None = None,
    ) -> NearestAndNamed:
        """Those, and of the named records the others that are of this scope, where that is one look."""

        found = self._either(
            scope,
            by,
            lambda: self._mirror.nearest_and_named(scope, vector, limit, where, named, version),
            lambda chroma, by: NearestAndNamed(chroma.nearest(scope, vector, limit, where, by=by), None),
        )
        self._access.returned([one.stored_id for one in found.nearest])
        return found

    def during(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, windows: Sequence[Window]
    ) -> list[Found]:
        """The nearest of those that happened, or began to hold, within one of the windows."""
        return self.nearest(scope, vector, limit, both_filters(where, windows_filter(windows, self._records.fields)))

    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]:
        """Those of the records that are of this scope and pass the filter, nearest first."""
        return self._either(
            scope,
            "auto",
            lambda: self._mirror.among(scope, vector, stored_ids, where),
            lambda chroma, _: chroma.among(scope, vector, stored_ids, where),
        )

    def passing(self, scope: Scope, where: Where) -> set[str]:
        """The ids of all records of the scope that pass the filter."""
        return self._either(
            scope, "auto", lambda: self._mirror.passing(scope, where), lambda chroma, _: chroma.passing(scope, where)
        )

    def stored(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]:
        """Those of the records that exist in this scope, by their ids in the collection."""

        def in_ledger() -> list[Found]:
            self._access.import_first(stored_ids)
            return self._mirror.stored(scope, stored_ids)

        try:
            return in_ledger()
        except LedgerError:
            if self._access.open is None:
                raise
            return self._access.open.search.stored(scope, stored_ids)

    def vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of those of the records that are of this scope."""
        return self._either(
            scope,
            "auto",
            lambda: self._mirror.vectors(scope, stored_ids),
            lambda chroma, _: chroma.vectors(scope, stored_ids),
        )

    def baseline(self, scope: Scope, vector: Vector, version: LedgerVersion | None = None) -> Baseline:
        """What records of the scope score that are unrelated to this query, by a sample of them."""
        return self._either(
            scope,
            "auto",
            lambda: self._mirror.baseline(scope, vector, version),
            lambda chroma, _: chroma.baseline(scope, vector),
        )

    def _either(
        self, scope: Scope, by: SearchBy, in_ledger: Callable[[], T], in_chroma: Callable[[ChromaSearch, SearchBy], T]
    ) -> T:
        """In Chroma, with what is pending exported, where the ledger cannot answer and this process may ask it."""
        opened, fits = self._access.open, False
        if opened is None:
            return in_ledger()
        try:
            fits = self._fits(scope, by)
            if opened.importer.ready and by != "ann" and fits:
                return in_ledger()
            opened.exporter.settle()
        except TornMirrorError:
            opened.importer.distrust()
        except LedgerError:
            pass
        return in_chroma(opened.search, by if fits else "ann")

    def _fits(self, scope: Scope, by: SearchBy) -> bool:
        return by == "exact" or self._mirror.size(scope) <= self._most_records
