"""Search in the ledger's records, exactly and in RAM; in Chroma if they are incomplete or too many."""

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
from adaptive_memory_core.flow.ports.source import Found, VectorsFound
from adaptive_memory_core.policy.advanced import SearchBy
from adaptive_memory_core.record_metadata import belongs, rows_of, windows_filter
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score import signals
from adaptive_memory_core.score.surprise import Baseline, baseline_of_vectors, for_query, merged_baseline, sample_of
from adaptive_memory_core.store.chroma.chroma_calls import both_filters
from adaptive_memory_core.store.chroma.chroma_search import ChromaSearch
from adaptive_memory_core.store.chroma.open_collection import CollectionAccess
from adaptive_memory_core.store.embedder_check import EmbedderVersion
from adaptive_memory_core.store.ledger.cached_copies import CopiedRow
from adaptive_memory_core.store.ledger_records import LedgerRecords
from adaptive_memory_core.store.mirror.resident_records import Resident, Residents, TornMirrorError
from adaptive_memory_core.store.mirror.vector_matrix import Matrix
from adaptive_memory_core.store.user_copies import UserCopies

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

Near = tuple[str, float]  # a record's id and distance
MARGIN = 4  # extra rows compared in double precision, because single precision may misrank the last ones


class MirrorSearch:
    """Search in the ledger's copies of a collection's records, through one scope at a time."""

    def __init__(
        self, ledger: Ledger, fields: Fields, space: str, most_bytes: int, kept: UserCopies | None = None
    ) -> None:
        self._rows, self._pages, self._fields, self._space = ledger.mirror, ledger.mirror_pages, fields, space
        self.residents = Residents(ledger.mirror, space, most_bytes, EmbedderVersion(ledger), kept)

    def nearest(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, version: LedgerVersion | None = None
    ) -> list[Found]:
        """The hits of this scope, nearest first: `limit` of them if there are so many."""
        return list(self.compare(scope, vector, limit, where, (), version, measured=False).nearest)

    def compare(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        named: Sequence[str],
        version: LedgerVersion | None = None,
        *,
        measured: bool = True,
    ) -> VectorsFound:
        """The nearest hits, the other `named` records of this scope that pass the filter, and the baseline if
        `measured`."""
        near, rows, baselines = list[Near](), list[CopiedRow](), list[tuple[int, Baseline]]()
        parts = (scope,) if scope.over is None else scope.parts
        for part in parts:
            with self.residents.of(part, version) as (user, as_of):
                allowed = None if where is None else user.passing(self._rows, part, where)
                if user.matrix is None or not user.ids:
                    baselines.append((0, Baseline()))
                    continue
                asked = user.matrix.asked(_checked(vector, user.matrix.dimension))
                places: list[int] = user.matrix.nearest(asked, limit + MARGIN, allowed).tolist()
                if named:
                    known, there = user.places, frozenset(places)
                    also = dict.fromkeys([known[one] for one in named if one in known])
                    places += [one for one in also if one not in there and (allowed is None or allowed[one])]
                found = _with_distances(user, user.matrix, asked, places)
                near += found
                rows += user.texts(self._rows, part, list(map(_id, found)), as_of)
                if measured:
                    baselines.append(self._baseline(user, user.matrix, asked))
        if len(parts) > 1:
            near.sort(key=_distance)
        wanted, first = frozenset(named), near[:limit]
        hits = self._hits(scope, first + [one for one in near[limit:] if one[0] in wanted], rows)
        split = len(frozenset(map(_id, hits)).intersection(map(_id, first)))  # some may have been deleted meanwhile
        return VectorsFound(hits[:split], hits[split:], merged_baseline(baselines) if measured else Baseline())

    def _baseline(self, user: Resident, matrix: Matrix, asked: Any) -> tuple[int, Baseline]:
        """The scores of a sample of records unrelated to a query. The scores among the records themselves are measured
        again after their number has changed by a quarter."""
        count, before = len(user.ids), user.baseline
        sample = sample_of(count)
        if before is None or not 0.8 * before[0] <= count <= 1.25 * before[0]:
            before = user.baseline = count, baseline_of_vectors(matrix.vectors(sample), self._space)
        return count, for_query(before[1], signals.similarity(matrix.distances(asked, sample), space=self._space))

    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]:
        """The given records of this scope that pass the filter, nearest first."""
        near, rows = list[Near](), list[CopiedRow]()
        for part in scope.parts:
            with self.residents.of(part) as (user, as_of):
                allowed = None if where is None else user.passing(self._rows, part, where)
                places = [user.places[one] for one in stored_ids if one in user.places]
                places = places if allowed is None else [place for place in places if allowed[place]]
                if user.matrix is not None and places:
                    asked = user.matrix.asked(_checked(vector, user.matrix.dimension))
                    found = _with_distances(user, user.matrix, asked, places)
                    near += found
                    rows += user.texts(self._rows, part, list(map(_id, found)), as_of)
        return self._hits(scope, sorted(near, key=_distance), rows)

    def passing(self, scope: Scope, where: Where) -> set[str]:
        """The ids of all records of the scope that pass the filter."""
        found: set[str] = set()
        for part in scope.parts:
            with self.residents.of(part) as (user, _):
                found.update(compress(user.ids, user.passing(self._rows, part, where)))
        return found

    def stored(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]:
        """The given records of this scope that exist, by their ids in the collection."""
        rows = self._rows.rows(stored_ids)
        return [Found(*row, 1.0) for row in rows if belongs(row[2], scope, self._fields)]

    def vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of the given records of this scope."""
        found: dict[str, Vector] = {}
        for part in scope.parts:
            with self.residents.of(part) as (user, _):
                here = [one for one in stored_ids if one in user.places]
                if user.matrix is not None and here:
                    found |= zip(here, user.matrix.vectors([user.places[one] for one in here]), strict=True)
        return found

    def size(self, scope: Scope) -> int:
        """The approximate number of the scope's records; counted in the ledger if they are not in RAM."""
        count = 0
        for part in (scope,) if scope.over is None else scope.parts:
            held = self.residents.users.get(part)
            count += self._pages.count(part) if held is None else len(held.ids)
        return count

    def _hits(self, scope: Scope, near: Sequence[Near], rows: Sequence[CopiedRow]) -> list[Found]:
        """The records with their texts, without those that were deleted or changed owner meanwhile."""
        own = rows_of(rows, scope, self._fields)
        known = dict(zip(map(_id, own), own, strict=True))
        close = signals.similarity(np.array(list(map(_distance, near))), space=self._space).tolist()
        each = zip(near, close, strict=True)
        return [_as_found((*row, like)) for (one, _), like in each if (row := known.get(one)) is not None]


_as_found = partial(tuple.__new__, Found)  # `Found(*values)` in half of the time
_id, _distance = itemgetter(0), itemgetter(1)


def _with_distances(user: Resident, matrix: Matrix, asked: Any, places: Sequence[int]) -> list[Near]:
    """The records at these places with Chroma's distance, nearest first."""
    distances = matrix.distances(asked, places).tolist()
    return sorted(zip(map(user.ids.__getitem__, places), distances, strict=True), key=_distance)


def _checked(vector: Vector, dimension: int) -> Any:
    one = np.asarray(vector, dtype=np.float32)
    if one.shape != (dimension,) or not np.isfinite(one).all():
        raise StoreError(
            f"The vector has {len(one)} numbers, and those of the collection have {dimension}. Give a vector of "
            "finite numbers, of the embedder that the collection was written with, or the text alone."
        )
    return one


T = TypeVar("T")


class RecordSearch:
    """Search within one scope: exactly in the ledger's records, or in Chroma. Chroma is used if the ledger lacks
    records, or if a user has too many to keep in RAM. `by` chooses: "exact", "ann" (Chroma's index), or "auto"."""

    def __init__(
        self, mirror: MirrorSearch, records: LedgerRecords, access: CollectionAccess, *, most_records: int
    ) -> None:
        self._mirror, self._records, self._access, self._most_records = mirror, records, access, most_records

    def nearest(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, *, by: SearchBy = "auto"
    ) -> list[Found]:
        """The hits of this scope, nearest first: `limit` of them if there are so many."""
        found = self._either(
            scope,
            by,
            lambda: self._mirror.nearest(scope, vector, limit, where),
            lambda chroma, by: chroma.nearest(scope, vector, limit, where, by=by),
        )
        self._note_returned(found)
        return found

    def compare(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        named: Sequence[str],
        *,
        by: SearchBy = "auto",
        version: LedgerVersion | None = None,
        measured: bool = True,
    ) -> VectorsFound:
        """The nearest hits, the other `named` records of this scope (None if Chroma is used), and the baseline if
        `measured`: scores of a sample of records unrelated to the query."""

        def in_ledger() -> VectorsFound:
            return self._mirror.compare(scope, vector, limit, where, named, version, measured=measured)

        def in_chroma(chroma: ChromaSearch, by: SearchBy) -> VectorsFound:
            nearest = chroma.nearest(scope, vector, limit, where, by=by)
            return VectorsFound(nearest, None, chroma.baseline(scope, vector) if measured else Baseline())

        found = self._either(scope, by, in_ledger, in_chroma)
        self._note_returned(found.nearest)
        return found

    def _note_returned(self, found: Sequence[Found]) -> None:
        if self._access.open is not None and self._access.open.importer.is_on_server:
            self._access.open.importer.returned([one.stored_id for one in found])

    def during(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, windows: Sequence[Window]
    ) -> list[Found]:
        """The nearest records that happened, or became valid, within one of the windows."""
        return self.nearest(scope, vector, limit, both_filters(where, windows_filter(windows, self._records.fields)))

    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]:
        """The given records of this scope that pass the filter, nearest first."""
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
        """The given records of this scope that exist, by their ids in the collection."""

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
        """The vectors of the given records of this scope."""
        return self._either(
            scope,
            "auto",
            lambda: self._mirror.vectors(scope, stored_ids),
            lambda chroma, _: chroma.vectors(scope, stored_ids),
        )

    def _either(
        self, scope: Scope, by: SearchBy, in_ledger: Callable[[], T], in_chroma: Callable[[ChromaSearch, SearchBy], T]
    ) -> T:
        """Search the ledger's records; or Chroma, after exporting pending records, if the ledger cannot answer or `by`
        says so."""
        opened, fits = self._access.open, False
        if opened is None:
            return in_ledger()
        try:
            fits = by == "exact" or self._mirror.size(scope) <= self._most_records
            if opened.importer.ready and by != "ann" and fits:
                return in_ledger()
            opened.exporter.settle()
        except TornMirrorError:
            opened.importer.distrust()
        except LedgerError:
            pass
        return in_chroma(opened.search, by if fits else "ann")
