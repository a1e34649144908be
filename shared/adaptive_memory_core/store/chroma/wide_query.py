"""What if a filter is slower than the search? Chroma is asked for many without it, and the filter is applied to those.

Its filters walk through all records that pass before the index is asked. Where a scope has a good share of the
collection, enough of the nearest records of all are its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Found, Vector, Where
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score import signals
from adaptive_memory_core.store.chroma.calls import both, told
from adaptive_memory_core.store.chroma.rows import without_deleted
from adaptive_memory_core.stored_owner import belongs
from adaptive_memory_core.where.passes import passes

if TYPE_CHECKING:
    from chromadb import Collection

TIMES, MOST = 10, 1_000  # as many are asked for as are wanted; at most
MOST_SCARCE = 1_000  # scopes that are remembered to have too few


class WideQuery:
    """The nearest records of a scope among the nearest of all."""

    def __init__(self, collection: Collection, fields: Fields, space: str) -> None:
        self._collection, self._fields, self._space = collection, fields, space
        self._scarce: dict[tuple[Scope, str], None] = {}  # where the filter is the shorter way

    def nearest(self, scope: Scope, vector: Vector, limit: int, where: Where | None) -> list[Found] | None:
        """As many as are wanted, nearest first; None where too few are among them."""
        asked, wide = (scope, repr(where)), TIMES * limit
        if asked in self._scarce or wide > MOST:
            return None
        own = [one for one in self._query(vector, wide) if belongs(one.metadata, scope, self._fields)]
        condition = both(where, None)
        found = [one for one in own if passes(condition, one.metadata, one.text)][:limit]
        if len(found) == limit:
            return found
        self._scarce[asked] = None
        if len(self._scarce) > MOST_SCARCE:
            del self._scarce[next(iter(self._scarce))]
        return None

    def _query(self, vector: Vector, count: int) -> list[Found]:
        include: Any = ["metadatas", "documents", "distances"]
        answer: Any = told(lambda: self._collection.query(query_embeddings=[vector], n_results=count, include=include))
        rows = list(zip(*(answer[name][0] for name in ("ids", "documents", "metadatas", "distances")), strict=True))
        return [
            Found(stored_id, text, metadata, signals.similarity(distance, space=self._space))
            for stored_id, text, metadata, distance in without_deleted(self._collection, rows)
        ]
