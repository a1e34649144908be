"""Which rows have these ids? Rows of a collection, read page by page, whoever they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.chroma.calls import told
from adaptive_memory_core.stored_owner import belongs

if TYPE_CHECKING:
    from chromadb import Collection

Row: TypeAlias = tuple[str, str | None, Metadata | None, float]  # with its distance
PAGE = 5_000  # Chroma fails above 32,766 records with metadata in one answer


def rows_of(collection: Collection, stored_ids: Sequence[str]) -> Iterator[tuple[str, str | None, Metadata | None]]:
    """The records of these ids that exist, in no order: Chroma keeps its own."""
    for start in range(0, len(stored_ids), PAGE):
        page = list(stored_ids[start : start + PAGE])
        answer = told(lambda page=page: collection.get(ids=page, include=["metadatas", "documents"]))  # type: ignore[misc]
        yield from zip(answer["ids"], answer["documents"] or [], answer["metadatas"] or [], strict=True)


def without_deleted(collection: Collection, rows: Sequence[Row]) -> list[Row]:
    """The rows of a search (id, text, metadata, ...) without those that are deleted but still in an index that this
    process has not reloaded. Chroma answers those with neither text nor metadata, and it answers a record that was
    added with a vector alone just so: those ids are asked for."""
    bare = [row[0] for row in rows if row[1] is None and row[2] is None]
    if not bare:
        return list(rows)
    there = set(told(lambda: collection.get(ids=bare, include=[]))["ids"])
    return [row for row in rows if row[1] is not None or row[2] is not None or row[0] in there]


def own_filter(scope: Scope, fields: Fields) -> dict[str, Any] | None:
    """The filter for one user's records. None for a scope that reads what belongs to nobody: Chroma cannot ask for a
    key that is missing, so those are told apart afterwards.

    >>> own_filter(Scope("ana"), Fields()), own_filter(Scope("ana", over="everyone"), Fields())
    ({'user_id': 'ana'}, None)
    """
    return None if scope.sees_unowned else {fields.user_id: scope.name}


def own_rows(collection: Collection, scope: Scope, fields: Fields, stored_ids: Sequence[str]) -> list[Found]:
    """Those of them that are of this scope."""
    return [Found(*row, 1.0) for row in rows_of(collection, stored_ids) if belongs(row[2], scope, fields)]


def own_ids(collection: Collection, scope: Scope, fields: Fields) -> list[str]:
    """All records of this scope, the last one last."""
    where: Any = own_filter(scope, fields)
    if where is not None:
        return list(told(lambda: collection.get(where=where, include=[]))["ids"])
    found: Any = told(lambda: collection.get(include=["metadatas"]))
    return [one for one, data in zip(found["ids"], found["metadatas"], strict=True) if belongs(data, scope, fields)]
