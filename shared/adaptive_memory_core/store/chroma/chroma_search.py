"""Search in Chroma: the `Search` port over a collection, and queries without the filter if that is faster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.records import Vector, Where
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.policy.advanced import SearchBy
from adaptive_memory_core.record_metadata import belongs
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.score import signals
from adaptive_memory_core.score.surprise import (
    SAMPLE,
    Baseline,
    baseline_of_vectors,
    for_query,
    sample_of,
    similarities_to,
)
from adaptive_memory_core.store.chroma.chroma_calls import (
    PAGE,
    both_filters,
    call_chroma,
    distances_to,
    ids_where,
    own_filter,
    own_rows,
    space_of,
    without_deleted,
)
from adaptive_memory_core.where import matches_filter

if TYPE_CHECKING:
    from chromadb import Collection

MOST_NEAREST = 30_000  # results per query: Chroma fails above 32,766 records with metadata in one answer
EXCLUDED_USERS = 200  # names in one $nin
FEW_SECONDS, MANY_SECONDS = 1.0, 60.0  # for which a sample is used, of fewer and of more records than SAMPLE
_INCLUDED = ("documents", "metadatas", "distances")


class ChromaSearch:
    """Search in a `chromadb.Collection`, embedded or on a server, through one scope at a time."""

    def __init__(self, collection: Collection, fields: Fields) -> None:
        self.collection = collection
        self.fields = fields
        self.space = space_of(collection)
        self._wide = WideQuery(collection, fields, self.space)
        self._baselines: dict[Scope, tuple[float, Any, Baseline]] = {}  # each with the time at which its sample expires
        self._owners: set[str] = set()  # users found so far, which "everyone" must exclude

    def nearest(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        *,
        by: SearchBy = "auto",
    ) -> list[Found]:
        """The hits of this scope, nearest first: `limit` of them if there are so many."""
        wanted = min(limit, MOST_NEAREST)
        if by == "ann" and (found := self._wide.nearest(scope, vector, wanted, where)) is not None:
            return found
        own = own_filter(scope, self.fields)
        if own is not None:
            return self._query(scope, vector, wanted, both_filters(own, where), where)[0]
        return self._unowned(scope, vector, wanted, where)

    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]:
        """The given records of this scope that pass the filter, compared one by one; nearest first."""
        rows = self._compared(self._passing(scope, stored_ids, where), vector)
        own = [row for row in rows if belongs(row[2], scope, self.fields)]
        found = [Found(one, text, metadata, signals.similarity(d, space=self.space)) for one, text, metadata, d in own]
        return sorted(found, key=lambda one: -one.similarity)

    def passing(self, scope: Scope, where: Where) -> set[str]:
        """The ids of all records of the scope that pass the filter. If the scope reads everyone's, ids of other users
        may be included."""
        condition: Any = both_filters(own_filter(scope, self.fields), where)
        return set(call_chroma(lambda: self.collection.get(where=condition, include=[]), where)["ids"])

    def stored(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]:
        """The given records of this scope that exist, by their ids in the collection."""
        return own_rows(self.collection, scope, self.fields, stored_ids)

    def vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of the given records of this scope."""
        answer: Any = call_chroma(
            lambda: self.collection.get(ids=list(stored_ids), include=["metadatas", "embeddings"])
        )
        rows = zip(answer["ids"], answer["metadatas"], answer["embeddings"], strict=True)
        return {stored_id: vector for stored_id, metadata, vector in rows if belongs(metadata, scope, self.fields)}

    def baseline(self, scope: Scope, vector: Vector) -> Baseline:
        """The scores of records unrelated to a query. A new sample is taken after a minute, or after a second if it is
        small."""
        known, now = self._baselines.get(scope), time.monotonic()
        if known is None or now > known[0]:
            condition: Any = own_filter(scope, self.fields)
            answer: Any = call_chroma(
                lambda: self.collection.get(where=condition, limit=2 * SAMPLE, include=["metadatas", "embeddings"])
            )
            rows = zip(answer["metadatas"], answer["embeddings"], strict=True)
            vectors = [vector for metadata, vector in rows if belongs(metadata, scope, self.fields)]
            sample = np.array([vectors[place] for place in sample_of(len(vectors))])
            seconds = FEW_SECONDS if len(vectors) < SAMPLE else MANY_SECONDS
            known = self._baselines[scope] = now + seconds, sample, baseline_of_vectors(sample, self.space)
        _, sample, of_scope = known
        return for_query(of_scope, similarities_to(vector, sample, self.space))

    def _passing(self, scope: Scope, stored_ids: Sequence[str], where: Where | None) -> Sequence[str]:
        """The ids that pass the filter. This is a separate query: Chroma takes a hundred times as long for both at
        once."""
        if where is None or not stored_ids:
            return stored_ids
        passing = self.passing(scope, where)
        return [one for one in stored_ids if one in passing]

    def _unowned(self, scope: Scope, vector: Vector, limit: int, where: Where | None) -> list[Found]:
        """Search a scope with records without a user. Chroma cannot filter by a missing key, so users found on the way
        are excluded. If that is not enough, the query asks for more results."""
        reach = limit
        while True:
            owners = sorted(self._owners - {scope.user})[:EXCLUDED_USERS]
            strangers = {self.fields.user_id: {"$nin": owners}} if owners else None
            hits, met, exhausted = self._query(scope, vector, reach, both_filters(strangers, where), where)
            if len(hits) >= limit or exhausted or reach >= MOST_NEAREST:
                return hits[:limit]
            if met <= self._owners or len(self._owners) >= EXCLUDED_USERS:
                reach = min(MOST_NEAREST, 2 * reach)
            self._owners |= met

    def _query(
        self, scope: Scope, vector: Vector, limit: int, condition: Where | None, asked: Where | None
    ) -> tuple[list[Found], set[str], bool]:
        """The scope's hits, the other users found among the results, and whether there are no more results."""
        answer = call_chroma(
            lambda: self.collection.query(
                query_embeddings=[vector],
                n_results=limit,
                where=condition,  # type: ignore[arg-type]
                include=["metadatas", "documents", "distances"],
            ),
            asked,
        )
        rows: Any = list(zip(answer["ids"][0], *(answer[key][0] for key in _INCLUDED), strict=True))  # type: ignore[literal-required]
        if len(rows) < limit:
            rows = self._completed(rows, vector, limit, condition)
        found: list[Found] = []
        strangers: set[str] = set()
        for stored_id, text, metadata, distance in without_deleted(self.collection, rows):
            if belongs(metadata, scope, self.fields):
                found.append(Found(stored_id, text, metadata, signals.similarity(distance, space=self.space)))
            elif isinstance(owner := (metadata or {}).get(self.fields.user_id), str):
                strangers.add(owner)
        return found, strangers, len(rows) < limit

    def _completed(self, rows: list[Any], vector: Vector, limit: int, condition: Where | None) -> list[Any]:
        """The rows, completed with records that Chroma's graph did not reach. In a large collection, a small user's
        records can be cut off, and the answer is silently too short. The missing records are compared one by one."""
        reached = {row[0] for row in rows}
        missing = [one for one in ids_where(self.collection, condition) if one not in reached][:MOST_NEAREST]
        rows += self._compared(missing, vector)
        return sorted(rows, key=lambda row: float(row[3]))[:limit] if missing else rows

    def _compared(
        self, stored_ids: Sequence[str], vector: Vector
    ) -> list[tuple[str, str | None, Metadata | None, float]]:
        """These records, each with its distance."""
        rows: list[Any] = []
        for start in range(0, len(stored_ids), PAGE):
            page = list(stored_ids[start : start + PAGE])
            answer: Any = call_chroma(
                lambda page=page: self.collection.get(ids=page, include=["documents", "metadatas", "embeddings"])  # type: ignore[misc]
            )
            if answer["ids"]:
                distances = distances_to(vector, answer["embeddings"], space=self.space).tolist()  # plain floats
                rows += zip(answer["ids"], answer["documents"], answer["metadatas"], distances, strict=True)
        return rows


WIDE_FACTOR, MOST_WIDE = 10, 1_000  # results per wanted record, and at most
MOST_SCARCE = 1_000  # scopes known to have too few


class WideQuery:
    """Finds the nearest records of a scope among the nearest of all records."""

    def __init__(self, collection: Collection, fields: Fields, space: str) -> None:
        self._collection, self._fields, self._space = collection, fields, space
        self._scarce: dict[tuple[Scope, str], None] = {}  # for which the filter is faster

    def nearest(self, scope: Scope, vector: Vector, limit: int, where: Where | None) -> list[Found] | None:
        """The nearest `limit` records, nearest first; None if too few of the scope are among them."""
        asked, wide = (scope, repr(where)), WIDE_FACTOR * limit
        if asked in self._scarce or wide > MOST_WIDE:
            return None
        own = [one for one in self._query(vector, wide) if belongs(one.metadata, scope, self._fields)]
        condition = both_filters(where, None)
        found = [one for one in own if matches_filter(condition, one.metadata, one.text)][:limit]
        if len(found) == limit:
            return found
        self._scarce[asked] = None
        if len(self._scarce) > MOST_SCARCE:
            del self._scarce[next(iter(self._scarce))]
        return None

    def _query(self, vector: Vector, count: int) -> list[Found]:
        include: Any = ["metadatas", "documents", "distances"]
        answer: Any = call_chroma(
            lambda: self._collection.query(query_embeddings=[vector], n_results=count, include=include)
        )
        rows = list(zip(*(answer[name][0] for name in ("ids", "documents", "metadatas", "distances")), strict=True))
        return [
            Found(stored_id, text, metadata, signals.similarity(distance, space=self._space))
            for stored_id, text, metadata, distance in without_deleted(self._collection, rows)
        ]
