"""Search in the ledger's records, exactly and in RAM; in Chroma if they are incomplete or too many."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
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
from adaptive_memory_core.store.ledger_records import LedgerRecords
from adaptive_memory_core.store.mirror.resident_records import Resident, TornMirrorError, UsersInRam
from adaptive_memory_core.store.mirror.vector_matrix import Asked, Matrix
from adaptive_memory_core.store.user_copies import UserCopies

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger


class MirrorSearch:
    """Search in the ledger's copies of a collection's records, through one scope at a time."""

    def __init__(
        self, ledger: Ledger, fields: Fields, space: str, most_bytes: int, kept: UserCopies | None = None
    ) -> None:
        self._rows, self._pages, self._fields, self._space = ledger.mirror, ledger.mirror_pages, fields, space
        self.residents = UsersInRam(partial(Resident, space), most_bytes)
        self._embedder_version, self._kept, self._least = (
            EmbedderVersion(ledger),
            kept,
            0 if kept is None else kept.least,
        )

    @contextmanager
    def _current(
        self, scope: Scope, version: LedgerVersion | None = None
    ) -> Generator[tuple[Resident, LedgerVersion], None, None]:
        """The user's records, at least as of the version or of now, for this thread alone."""
        resident = self.residents.of(scope)
        try:
            with resident.turn:
                try:
                    as_of = version or self._rows.version(scope)
                    is_of_now = as_of.change == resident.as_of and resident.unsure is None and as_of.of_rows is not None
                    if not is_of_now and resident.take_in(self._rows, scope, as_of, self._kept):
                        self._embedder_version.check()  # replaced vectors count as changes: no other check is needed
                    yield resident, as_of
                except BaseException:  # a change may be half applied, and another thread may be waiting for its turn
                    resident.start()
                    raise
        except BaseException:
            self.residents.weigh(scope, resident, 0)
            raise
        if not resident.weighed:
            resident.weighed = True
            self.residents.weigh(scope, resident, resident.nbytes)
        count = len(resident.ids)
        if self._kept is not None and 0 < self._least <= count and self._kept.is_due(count, resident.in_file):
            self._kept.ask(scope, resident.taken, resident.adopt)

    def nearest(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, version: LedgerVersion | None = None
    ) -> list[Found]:
        """The hits of this scope, nearest first: `limit` of them if there are so many."""
        return list(self.compare(scope, vector, limit, where, version=version, measured=False).nearest)

    def compare(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        named: Sequence[str] = (),
        windows: Sequence[Window] = (),
        *,
        version: LedgerVersion | None = None,
        measured: bool = True,
    ) -> VectorsFound:
        """The nearest hits, the other `named` records of this scope that pass the filter, the nearest ones within the
        `windows`, and the baseline if `measured`."""
        near, others, within = list[Found](), list[Found](), list[Found]()
        parts, baselines = (scope,) if scope.over is None else scope.parts, list[tuple[int, Baseline]]()
        for part in parts:
            with self._current(part, version) as (user, as_of):
                allowed = None if where is None else user.passing(self._rows, part, where, as_of)
                if user.matrix is None or not user.ids:
                    baselines.append((0, Baseline()))
                    continue
                asked, known = _asked(user.matrix, vector), user.places if named else {}
                also = [known[one] for one in named if one in known]
                also = also if allowed is None else [one for one in also if allowed[one]]
                found = self._found(user, scope, part, as_of, *user.matrix.nearest(asked, limit, allowed, also))
                near += found[:limit]
                others += found[limit:]
                if windows:
                    those = both_filters(where, windows_filter(windows, self._fields))
                    allowed = None if those is None else user.passing(self._rows, part, those, as_of)
                    within += self._found(user, scope, part, as_of, *user.matrix.nearest(asked, limit, allowed))
                if measured:
                    baselines.append(self._baseline(user, user.matrix, asked))
        if len(parts) > 1:
            near, within = sorted(near, key=_farness), sorted(within, key=_farness)[:limit]
            wanted = frozenset(named)
            others = sorted([*others, *(one for one in near[limit:] if one.stored_id in wanted)], key=_farness)
            near = near[:limit]
        return VectorsFound(near, others, merged_baseline(baselines) if measured else Baseline(), within)

    def _baseline(self, user: Resident, matrix: Matrix, asked: Asked) -> tuple[int, Baseline]:
        """The scores of a sample of records unrelated to a query. The scores among the records themselves are measured
        again after their number has changed by a quarter."""
        count, before = len(user.ids), user.baseline
        sample = sample_of(count)
        if before is None or not 0.8 * before[0] <= count <= 1.25 * before[0]:
            before = user.baseline = count, baseline_of_vectors(matrix.vectors(sample), self._space)
        return count, for_query(before[1], signals.similarity(matrix.distances(asked, sample), space=self._space))

    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]:
        """The given records of this scope that pass the filter, nearest first."""
        near = list[Found]()
        for part in scope.parts:
            with self._current(part) as (user, as_of):
                allowed = None if where is None else user.passing(self._rows, part, where, as_of)
                places = [user.places[one] for one in stored_ids if one in user.places]
                places = places if allowed is None else [place for place in places if allowed[place]]
                if user.matrix is not None and places:
                    distances = user.matrix.distances(_asked(user.matrix, vector), places)
                    near += self._found(user, scope, part, as_of, places, distances)
        return sorted(near, key=_farness)

    def passing(self, scope: Scope, where: Where) -> set[str]:
        """The ids of all records of the scope that pass the filter."""
        found: set[str] = set()
        for part in scope.parts:
            with self._current(part) as (user, as_of):
                places = np.flatnonzero(user.passing(self._rows, part, where, as_of))
                found.update(map(user.ids.__getitem__, places.tolist()))
        return found

    def stored(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]:
        """The given records of this scope that exist, by their ids in the collection."""
        rows = self._rows.rows(stored_ids)
        return [Found(*row, 1.0) for row in rows if belongs(row[2], scope, self._fields)]

    def vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of the given records of this scope."""
        found: dict[str, Vector] = {}
        for part in scope.parts:
            with self._current(part) as (user, _):
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

    def _found(
        self, user: Resident, scope: Scope, part: Scope, as_of: LedgerVersion, places: Sequence[int], distances: Any
    ) -> list[Found]:
        """The records at these places with their texts, without those that were deleted or changed owner meanwhile."""
        ids = list(map(user.ids.__getitem__, places))
        rows = rows_of(user.texts(self._rows, part, ids, as_of), scope, self._fields)
        known, close = dict(zip(map(_id, rows), rows, strict=True)), signals.similarity(distances, space=self._space)
        each = zip(ids, close.tolist(), strict=True)
        return [_as_found((*row, like)) for one, like in each if (row := known.get(one)) is not None]


_as_found = partial(tuple.__new__, Found)  # `Found(*values)` in half of the time
_id = itemgetter(0)


def _farness(one: Found) -> float:
    return -one.similarity


def _asked(matrix: Matrix, vector: Vector) -> Asked:
    try:
        return matrix.asked(vector)
    except ValueError as error:
        raise StoreError(
            f"The vector has {np.size(vector)} numbers, and those of the collection have {matrix.dimension}. Give a "
            "vector of finite numbers, of the embedder that the collection was written with, or the text alone."
        ) from error


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
        windows: Sequence[Window] = (),
        *,
        by: SearchBy = "auto",
        version: LedgerVersion | None = None,
        measured: bool = True,
    ) -> VectorsFound:
        """The nearest hits, the other `named` records of this scope and the nearest within the `windows` (None if
        Chroma is used), and the baseline if `measured`: scores of a sample of records unrelated to the query."""

        def in_ledger() -> VectorsFound:
            asked = scope, vector, limit, where, named, windows
            return self._mirror.compare(*asked, version=version, measured=measured)

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
