"""How are records searched in Chroma? The `Search` port over a collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Found, NearestAndNamed, Vector, Where
from adaptive_memory_core.policy.policy import SearchBy
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.score import signals
from adaptive_memory_core.store.chroma.calls import both, distances_to, space_of, told
from adaptive_memory_core.store.chroma.rows import PAGE, own_filter, own_rows, without_deleted
from adaptive_memory_core.store.chroma.wide_query import WideQuery
from adaptive_memory_core.stored_metadata import within
from adaptive_memory_core.stored_owner import belongs

if TYPE_CHECKING:
    from chromadb import Collection

MOST_NEAREST = 30_000  # of one query: Chroma fails above 32,766 records with metadata in one answer
EXCLUDED_USERS = 200  # names in one $nin
_INCLUDED = ("documents", "metadatas", "distances")


class ChromaSearch:
    """Finding in a `chromadb.Collection`, embedded or on a server, seen through one scope at a time."""

    def __init__(self, collection: Collection, fields: Fields) -> None:
        self.collection = collection
        self.fields = fields
        self.space = space_of(collection)
        self._wide = WideQuery(collection, fields, self.space)
        self._owners: set[str] = set()  # users met so far: what "everyone" must look past

    def nearest(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        *,
        by: SearchBy = "auto",
    ) -> list[Found]:
        """The hits of this scope, nearest first: `limit` of them unless there are no more."""
        wanted = min(limit, MOST_NEAREST)
        if by == "ann" and (found := self._wide.nearest(scope, vector, wanted, where)) is not None:
            return found
        own = own_filter(scope, self.fields)
        if own is not None:
            return self._query(scope, vector, wanted, both(own, where), where)[0]
        return self._unowned(scope, vector, wanted, where)

    def nearest_and_named(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        named: Sequence[str],  # noqa: ARG002 - another query, which only a recall that needs it makes
        *,
        by: SearchBy = "auto",
    ) -> NearestAndNamed:
        """The nearest alone."""
        return NearestAndNamed(self.nearest(scope, vector, limit, where, by=by), None)

    def during(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, windows: Sequence[Window]
    ) -> list[Found]:
        """The nearest of those that happened, or began to hold, within one of the windows."""
        return self.nearest(scope, vector, limit, both(where, within(windows, self.fields)))

    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]:
        """Those of the records that are of this scope and pass the filter, compared one by one; nearest first."""
        rows = self._compared(self._passing(scope, stored_ids, where), vector)
        own = [row for row in rows if belongs(row[2], scope, self.fields)]
        found = [Found(one, text, metadata, signals.similarity(d, space=self.space)) for one, text, metadata, d in own]
        return sorted(found, key=lambda one: -one.similarity)

    def passing(self, scope: Scope, where: Where) -> set[str]:
        """The ids of all records of the scope that pass the filter; and, where it reads everyone's, maybe of others."""
        condition: Any = both(own_filter(scope, self.fields), where)
        return set(told(lambda: self.collection.get(where=condition, include=[]), where)["ids"])

    def stored(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]:
        """Those of the records that exist in this scope, by their ids in the collection."""
        return own_rows(self.collection, scope, self.fields, stored_ids)

    def vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of those of the records that are of this scope."""
        answer: Any = told(lambda: self.collection.get(ids=list(stored_ids), include=["metadatas", "embeddings"]))
        rows = zip(answer["ids"], answer["metadatas"], answer["embeddings"], strict=True)
        return {stored_id: vector for stored_id, metadata, vector in rows if belongs(metadata, scope, self.fields)}

    def unit_vectors_at_hand(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:  # noqa: ARG002
        """None: each has to be asked for."""
        return {}

    def _passing(self, scope: Scope, stored_ids: Sequence[str], where: Where | None) -> Sequence[str]:
        """Those of the ids that pass the filter. Asked apart: Chroma takes a hundred times as long for both at once."""
        if where is None or not stored_ids:
            return stored_ids
        passing = self.passing(scope, where)
        return [one for one in stored_ids if one in passing]

    def _unowned(self, scope: Scope, vector: Vector, limit: int, where: Where | None) -> list[Found]:
        """Chroma cannot ask for a missing key: exclude the users met on the way, and where that ends, look further."""
        reach = limit
        while True:
            owners = sorted(self._owners - {scope.user})[:EXCLUDED_USERS]
            strangers = {self.fields.user_id: {"$nin": owners}} if owners else None
            hits, met, exhausted = self._query(scope, vector, reach, both(strangers, where), where)
            if len(hits) >= limit or exhausted or reach >= MOST_NEAREST:
                return hits[:limit]
            if met <= self._owners or len(self._owners) >= EXCLUDED_USERS:
                reach = min(MOST_NEAREST, 2 * reach)
            self._owners |= met

    def _query(
        self, scope: Scope, vector: Vector, limit: int, condition: Where | None, asked: Where | None
    ) -> tuple[list[Found], set[str], bool]:
        """Hits of the scope, the users of the others that came along, and whether there is nothing beyond them."""
        answer = told(
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
        """The rows with those that Chroma's graph did not reach: in a large collection a small user's records can be
        cut off from it, and the answer is short without a word. They are compared one by one."""
        where: Any = condition
        reached = {row[0] for row in rows}
        everything = told(lambda: self.collection.get(where=where, include=[]))["ids"]
        missing = [one for one in everything if one not in reached][:MOST_NEAREST]
        rows += self._compared(missing, vector)
        return sorted(rows, key=lambda row: float(row[3]))[:limit] if missing else rows

    def _compared(
        self, stored_ids: Sequence[str], vector: Vector
    ) -> list[tuple[str, str | None, Metadata | None, float]]:
        """These records, each with its distance."""
        rows: list[Any] = []
        for start in range(0, len(stored_ids), PAGE):
            page = list(stored_ids[start : start + PAGE])
            answer: Any = told(
                lambda page=page: self.collection.get(ids=page, include=["documents", "metadatas", "embeddings"])  # type: ignore[misc]
            )
            if answer["ids"]:
                distances = distances_to(vector, answer["embeddings"], space=self.space).tolist()  # plain floats
                rows += zip(answer["ids"], answer["documents"], answer["metadatas"], distances, strict=True)
        return rows
