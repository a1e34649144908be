"""How are records searched in the mirror? Exactly, in RAM; texts and metadata of what is found are in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Found, Ledger, NearestAndNamed, Vector, Where
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score import signals
from adaptive_memory_core.store.chroma.calls import both
from adaptive_memory_core.store.edition import Edition
from adaptive_memory_core.store.mirror.matrix import Matrix
from adaptive_memory_core.store.mirror.resident import Resident
from adaptive_memory_core.store.mirror.residents import Residents
from adaptive_memory_core.store.user_files.kept_copies import KeptCopies
from adaptive_memory_core.stored_metadata import within
from adaptive_memory_core.stored_owner import belongs, rows_of

MARGIN = 4  # further rows that are compared in double precision, since single precision may mistake the last ones


class UnansweredByMirrorError(Exception):
    """Something that the collection has to answer: a filter on texts, or a vector of another length."""


class MirrorSearch:
    """Finding in the copies that the ledger has of a collection's records, seen through one scope at a time."""

    def __init__(
        self, ledger: Ledger, fields: Fields, space: str, most_bytes: int, kept: KeptCopies | None = None
    ) -> None:
        self._rows, self._pages, self._fields, self._space = ledger.mirror, ledger.mirror_pages, fields, space
        self.residents = Residents(ledger.mirror, space, most_bytes, Edition(ledger), kept)

    def nearest(self, scope: Scope, vector: Vector, limit: int, where: Where | None) -> list[Found]:
        """The hits of this scope, nearest first: `limit` of them unless there are no more."""
        return list(self.nearest_and_named(scope, vector, limit, where, ()).nearest)

    def nearest_and_named(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, named: Sequence[str]
    ) -> NearestAndNamed:
        """Those, and of the named records the others that are of this scope and pass the filter."""
        _refuse_texts(where)
        near = [one for part in scope.parts for one in self._nearest(part, vector, limit, where, named)]
        if scope.over is not None:
            near.sort(key=_distance)
        wanted = frozenset(named)
        found = self._found(scope, [*near[:limit], *[one for one in near[limit:] if one[0] in wanted]])
        if len(near) <= limit:
            return NearestAndNamed(found, ())
        nearest = {one for one, _ in near[:limit]}
        split = len([one for one in found if one.stored_id in nearest])
        return NearestAndNamed(found[:split], found[split:])

    def _nearest(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, named: Sequence[str]
    ) -> list[tuple[str, float]]:
        """At least the nearest of the scope, and the named ones, nearest first."""
        with self.residents.of(scope) as user:
            allowed = None if where is None else user.passing(self._rows, scope, where).allowed
            if user.matrix is None or not len(user):
                return []
            asked = user.matrix.asked(_checked(vector, user.matrix.dimension))
            places: list[int] = user.matrix.nearest(asked, limit + MARGIN, allowed).tolist()
            if named:
                known = user.places
                also = {known[one]: None for one in named if one in known}
                there = frozenset(places)
                places += [one for one in also if one not in there and (allowed is None or allowed[one])]
            return _compared(user, user.matrix, asked, places)

    def during(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, windows: Sequence[Window]
    ) -> list[Found]:
        """The nearest of those that happened, or began to hold, within one of the windows."""
        return self.nearest(scope, vector, limit, both(where, within(windows, self._fields)))

    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]:
        """Those of the records that are of this scope and pass the filter, nearest first."""
        _refuse_texts(where)
        near = [one for part in scope.parts for one in self._among(part, vector, stored_ids, where)]
        return self._found(scope, sorted(near, key=_distance))

    def _among(
        self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None
    ) -> list[tuple[str, float]]:
        with self.residents.of(scope) as user:
            allowed = None if where is None else user.passing(self._rows, scope, where).ids
            here = [one for one in stored_ids if one in user.places and (allowed is None or one in allowed)]
            if user.matrix is None or not here:
                return []
            asked = user.matrix.asked(_checked(vector, user.matrix.dimension))
            return _compared(user, user.matrix, asked, [user.places[one] for one in here])

    def passing(self, scope: Scope, where: Where) -> set[str]:
        """The ids of all records of the scope that pass the filter."""
        _refuse_texts(where)
        found: set[str] = set()
        for part in scope.parts:
            with self.residents.of(part) as user:
                found |= user.passing(self._rows, part, where).ids
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

    def unit_vectors_at_hand(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:
        """Those vectors, where the space is of cosines."""
        return self.vectors(scope, stored_ids) if self._space == "cosine" else {}

    def size(self, scope: Scope) -> int:
        """How many records the user has, about: counted where they are not in RAM."""
        held = [(part, self.residents.size(part)) for part in scope.parts]
        return sum(self._pages.count(part) if size is None else size for part, size in held)

    def _found(self, scope: Scope, near: Sequence[tuple[str, float]]) -> list[Found]:
        """The records with their texts, as far as they are still there, and not another user's by now."""
        found = self._rows.rows([one for one, _ in near])
        rows = {row[0]: row for row in rows_of(found, scope, self._fields)}
        close = signals.similarities([distance for _, distance in near], space=self._space)
        each = zip(near, close, strict=True)
        return [_as_found((*row, like)) for (one, _), like in each if (row := rows.get(one)) is not None]


_as_found = partial(tuple.__new__, Found)  # `Found(*values)` in half of the time
_distance = itemgetter(1)


def _compared(user: Resident, matrix: Matrix, asked: Any, places: Sequence[int]) -> list[tuple[str, float]]:
    """The records at these places with Chroma's distance, nearest first."""
    distances, ids = matrix.distances(asked, places).tolist(), user.ids
    return sorted(zip([ids[place] for place in places], distances, strict=True), key=_distance)


def _checked(vector: Vector, dimension: int) -> Any:
    one = np.asarray(vector, dtype=np.float32)
    if one.shape != (dimension,) or not np.isfinite(one).all():
        raise UnansweredByMirrorError
    return one


def _refuse_texts(where: Where | None) -> None:
    """Texts are not in RAM."""
    if where is not None and _asks_texts(where):
        raise UnansweredByMirrorError


def _asks_texts(where: Any) -> bool:
    if isinstance(where, Mapping):
        return any(key in ("#document", "chroma:document") or _asks_texts(value) for key, value in where.items())
    return isinstance(where, list) and any(_asks_texts(one) for one in where)
