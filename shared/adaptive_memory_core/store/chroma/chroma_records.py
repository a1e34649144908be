"""Records in Chroma: read by id, by page and by metadata, and the few writes that are made at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.ledger_values import Extent
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.record_metadata import belongs
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.chroma.chroma_calls import (
    both_filters,
    call_chroma,
    ids_where,
    own_filter,
    own_ids,
    own_rows,
    pages_where,
    rows_by_id,
    space_of,
    write_chroma,
)
from adaptive_memory_core.store.named_users import NamedUsers

if TYPE_CHECKING:
    from chromadb import Collection


class ChromaRecords:
    """The records of a `chromadb.Collection`, embedded or on a server, read through one scope at a time.

    With a scope as `only`, queries over all records are limited to that scope, because the ledger's database role sees
    no others.
    """

    def __init__(
        self, collection: Collection, fields: Fields, only: Scope | None = None, directory: Path | None = None
    ) -> None:
        self.collection = collection
        self.fields = fields
        self.only = only
        self._named_users = NamedUsers(self, directory)
        self.space = space_of(collection)

    def ids(self) -> list[str]:
        """The ids of all records of all users."""
        if self.only is not None:
            return own_ids(self.collection, self.only, self.fields)
        return ids_where(self.collection, None)

    def rows(self, stored_ids: Sequence[str]) -> list[tuple[str, str | None, Metadata | None]]:
        """The id, text and metadata of the given records that exist, for any user."""
        only, found = self.only, rows_by_id(self.collection, stored_ids)
        return list(found) if only is None else [row for row in found if belongs(row[2], only, self.fields)]

    def size(self) -> int:
        """The number of records in the collection, of all users."""
        return self.whole_size() if self.only is None else len(self.ids())

    def whole_size(self) -> int:
        """The number of records in the collection, whatever the ledger's role may see."""
        return int(call_chroma(self.collection.count))

    def extent(self, expected: Extent | None = None) -> Extent:
        """The number of records in the collection, and the id of the newest. If the size is as expected, one query
        answers both."""
        if self.only is not None:
            ids = self.ids()
            return Extent(len(ids), ids[-1] if ids else None)
        if expected is not None and expected.size:
            last = self._ids_from(expected.size - 1, 2)
            if len(last) == 1:
                return Extent(expected.size, last[0])
        size = self.size()
        last = self._ids_from(size - 1, 1) if size else []
        return Extent(size, last[0] if last else None)

    def _ids_from(self, offset: int, most: int) -> list[str]:
        return list(call_chroma(lambda: self.collection.get(limit=most, offset=offset, include=[]))["ids"])

    def latest(self, most: int) -> list[str]:
        """The newest ids, of all users."""
        if self.only is not None:
            return self.ids()[-most:]
        return self._ids_from(max(0, self.size() - most), most)

    def of_sessions(self, scope: Scope, sessions: Sequence[Any], limit: int) -> list[Found]:
        """At most `limit` records of the scope from these sessions, named as in the records' metadata.

        Chroma is slow at combining a session with a user, so it is asked for the session alone, unless many users'
        sessions have that name.
        """
        named = {self.fields.session: {"$in": list(sessions)}}
        ids = ids_where(self.collection, named, limit + 1)
        if len(ids) > limit:
            own = own_filter(scope, self.fields)
            ids = ids_where(self.collection, both_filters(own, named), None if own is None else limit)
        return self._own(scope, ids)[:limit]

    def pages(self, scope: Scope) -> Iterator[list[Found]]:
        """All records of this scope, a page at a time."""
        for page in pages_where(self.collection, own_filter(scope, self.fields), "documents", "metadatas"):
            own = [row for row in page if belongs(row[2], scope, self.fields)]
            yield [Found(one, text, metadata, 1.0) for one, text, metadata in own]

    def remove(self, stored_ids: Sequence[str]) -> None:
        """Delete these records."""
        write_chroma(self.collection, lambda: self.collection.delete(ids=list(stored_ids)))

    def mentioning(self, scope: Scope, record_id: str) -> list[str]:
        """The ids of the scope's records that supersede this record or are superseded by it."""
        links = (self.fields.supersedes, self.fields.superseded_by)
        return own_ids(self.collection, scope.own, self.fields, {"$or": [{link: record_id} for link in links]})

    def flagged(self, scope: Scope, flag: str) -> list[str]:
        """The ids of the scope's own records whose metadata have this flag set."""
        return own_ids(self.collection, scope.own, self.fields, {getattr(self.fields, flag): 1})

    def count(self, scope: Scope) -> int:
        """The number of records in the scope."""
        return len(own_ids(self.collection, scope, self.fields))

    def names_users(self) -> bool | None:
        """Whether any record names a user; None if that is not known, or if there are no records."""
        return None if self.only is not None else self._named_users.any()

    def owners_from(self, offset: int, most: int) -> list[tuple[str, Any]]:
        """The ids and user names of at most `most` records from `offset` on."""
        found = call_chroma(lambda: self.collection.get(limit=most, offset=offset, include=["metadatas"]))
        rows = zip(found["ids"], found["metadatas"] or [], strict=True)
        return [(stored_id, (metadata or {}).get(self.fields.user_id)) for stored_id, metadata in rows]

    def metadata(self, stored_ids: Sequence[str]) -> dict[str, Metadata]:
        """The metadata of the given records that exist."""
        return {stored_id: metadata or {} for stored_id, _, metadata in rows_by_id(self.collection, stored_ids)}

    def update_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Merge keys into existing records, in one call: each costs Chroma eight fsyncs whatever its size."""
        ids = list(changes)
        metadatas: Any = [dict(one) for one in changes.values()]
        write_chroma(self.collection, lambda: self.collection.update(ids=ids, metadatas=metadatas))

    def _own(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]:
        return own_rows(self.collection, scope, self.fields, stored_ids)
