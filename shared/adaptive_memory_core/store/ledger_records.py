"""The records in the ledger: each change is one transaction that also marks it as pending for the collection.

The ledger may not have all records yet, if the collection is being attached or is too large to copy. Then records that
are named are imported first, and questions about all records go to the collection.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, cast

import numpy as np

from adaptive_memory_core.errors import StoreInUseError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.one_transaction import made_whole
from adaptive_memory_core.flow.ports.ledger_values import Extent, MirrorRow
from adaptive_memory_core.flow.ports.records import Stored, Vector
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.identity import record_id, scoped_id
from adaptive_memory_core.record_metadata import belongs, merged_metadata, metadata_of, revision, unlinked
from adaptive_memory_core.records import Metadata, Record, Scope
from adaptive_memory_core.store.chroma.open_collection import CollectionAccess
from adaptive_memory_core.store.embedder_check import EmbedderVersion
from adaptive_memory_core.where import predicate

if TYPE_CHECKING:
    from chromadb import Collection

    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

LARGEST_BATCH = 2_000  # records per write: other writers wait for its transaction
PAGE = 5_000
Row = tuple[str, str | None, Metadata | None]
Changes = Callable[[Record, Metadata], Metadata]  # the changes to a record's present metadata
P = ParamSpec("P")
Change = Callable[Concatenate["LedgerRecords", P], None]


def _whole(change: Change[P]) -> Change[P]:
    """Run the change in one transaction; repeat it if the transaction was lost."""

    @wraps(change)
    def whole(records: LedgerRecords, *args: P.args, **named: P.kwargs) -> None:
        made_whole(records._ledger, lambda: change(records, *args, **named))

    return cast("Change[P]", whole)


class LedgerRecords:
    """The records of a collection as the ledger stores them: text, vector, metadata."""

    batch_size = LARGEST_BATCH

    def __init__(self, ledger: Ledger, fields: Fields, space: str, access: CollectionAccess) -> None:
        self._ledger, self.fields, self.space, self._access = ledger, fields, space, access
        self._mirror, self._pages = ledger.mirror, ledger.mirror_pages
        self._embedder_version = EmbedderVersion(ledger)

    @property
    def holds_collection(self) -> bool:
        """Whether this process has the collection open."""
        return self._access.open is not None

    @property
    def collection(self) -> Collection:
        """The collection; raises StoreInUseError in a process that does not hold it."""
        if self._access.open is None:
            raise StoreInUseError("Another process holds the collection. Ask for it there.")
        return self._access.open.store.collection

    def extent(self) -> Extent:
        """The number of records of all users, and the id of the newest."""
        last = self.latest(1)
        return Extent(self.size(), last[0] if last else None)

    def size(self) -> int:
        store = self._access.collection_asked()
        return self._mirror.size() if store is None else store.size()

    def ids(self) -> list[str]:
        store = self._access.collection_asked()
        return list(self._mirror.stored_ids()) if store is None else store.ids()

    def latest(self, most: int) -> list[str]:
        """The ids that were written last, for all users."""
        store = self._access.collection_asked()
        return self._pages.latest(most) if store is None else store.latest(most)

    def rows(self, stored_ids: Sequence[str]) -> list[Row]:
        """The id, text and metadata of the given records that exist, for any user."""
        self._access.import_first(stored_ids)
        return self._mirror.rows(stored_ids)

    def metadata(self, stored_ids: Sequence[str]) -> dict[str, Metadata]:
        """The metadata of the given records that exist."""
        return {stored_id: metadata or {} for stored_id, _, metadata in self.rows(stored_ids)}

    def taken(self, ids: Sequence[str]) -> set[str]:
        """The given ids, as stored in the collection, that exist for any user."""
        return {stored_id for stored_id, _, _ in self.rows(ids)}

    def count(self, scope: Scope) -> int:
        """The number of records in the scope."""
        store = self._access.collection_asked()
        return sum(self._pages.count(part) for part in scope.parts) if store is None else store.count(scope)

    def names_users(self) -> bool | None:
        """Whether any record names a user; None if that is not known, or if there are no records."""
        store = self._access.collection_asked()
        return self._pages.names_users() if store is None else store.names_users()

    def fetch(self, scope: Scope, ids: Sequence[str]) -> dict[str, Found]:
        """The records of this scope by the ids the user knows; a user's own record comes before everyone's."""
        found: dict[str, Found] = {}
        for part in scope.parts:
            missing = [one for one in ids if one not in found]
            found |= {record_id(part, one.stored_id): one for one in self._own(part, missing)}
            places = [scoped_id(part, one) for one in missing if one not in found]
            found |= {record_id(part, one.stored_id): one for one in self._own(part, places)}
        return {one: found[one] for one in ids if one in found}

    def pages(self, scope: Scope) -> Iterator[list[Found]]:
        """All records of this scope, a page at a time."""
        store = self._access.collection_asked()
        if store is not None:
            yield from store.pages(scope)
            return
        for part in scope.parts:
            page = self._pages.page(part, 0, PAGE)
            while page.rows:
                yield self._of(part, page.rows)
                page = self._pages.page(part, page.last, PAGE)

    def of_sessions(self, scope: Scope, sessions: Sequence[Any], limit: int) -> list[Found]:
        """At most `limit` records of the scope from these sessions, named as in the records' metadata."""
        store = self._access.collection_asked()
        if store is not None:
            return store.of_sessions(scope, sessions, limit)
        key = self.fields.session
        fragments = {json.dumps(one if isinstance(one, str) else key) for one in sessions}
        return self._passing(scope, sorted(fragments), {key: {"$in": list(sessions)}})[:limit]

    def flagged(self, scope: Scope, flag: str) -> list[str]:
        """The ids of the scope's own records whose metadata have this flag set."""
        store = self._access.collection_asked()
        if store is not None:
            return store.flagged(scope, flag)
        key = getattr(self.fields, flag)
        return [one.stored_id for one in self._passing(scope.own, [f"{json.dumps(key)}:1"], {key: 1})]

    def add(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """Write new records."""
        self._put(scope, records, vectors, lambda record, _: metadata_of(scope, record, self.fields))

    def revise(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """Overwrite existing records. Keys that they no longer have are removed; what was learned from reads stays."""
        self._put(scope, records, vectors, lambda record, present: revision(scope, record, present, self.fields))

    @_whole
    def annotate(self, scope: Scope, stored_id: str, changes: Metadata) -> None:
        """Set metadata of one record of this scope, given by field names; None removes a key."""
        values = {getattr(self.fields, name): value for name, value in changes.items()}
        if self._own(scope.own, [stored_id]):
            self.update_metadata({stored_id: values})

    @_whole
    def remove(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """Delete the given records of this scope."""
        own = [one.stored_id for one in self._own(scope.own, stored_ids)]
        self._ledger.due_records.mark(own, gone=True)
        self._mirror.drop(own)

    @_whole
    def unlink(self, scope: Scope, record_id: str, began: float | None) -> None:
        """Remove the id from the records that supersede it or are superseded by it; these are valid again."""
        store = self._access.collection_asked()
        if store is not None:
            self._access.import_first(store.mentioning(scope, record_id))
        named = self._of(scope.own, self._pages.mentioning(scope.own, [json.dumps(record_id)]))
        changes = {one.stored_id: unlinked(one.metadata or {}, record_id, began, self.fields) for one in named}
        self.update_metadata({stored_id: change for stored_id, change in changes.items() if change})

    @_whole
    def update_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Merge keys into existing records."""
        there = self.taken(list(changes))
        self._mirror.annotate({stored_id: changes[stored_id] for stored_id in there})
        self._ledger.due_records.mark(list(there), gone=False)

    @_whole
    def _put(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector], changes: Changes) -> None:
        ids = [one.stored_id for one in records]
        self._embedder_version.check()
        present = self.metadata(ids)
        rows = [
            MirrorRow(one.stored_id, one.record.text, _merged(one, present, changes), _written(vector))
            for one, vector in zip(records, vectors, strict=True)
        ]
        self._mirror.put({scope.own: rows})
        self._ledger.due_records.mark(ids, gone=False)

    def _passing(self, scope: Scope, fragments: Sequence[str], where: dict[str, Any]) -> list[Found]:
        """The scope's records that contain one of the fragments and pass the filter."""
        test = predicate(where)
        parts = scope.parts if fragments else ()
        found = [one for part in parts for one in self._of(part, self._pages.mentioning(part, fragments))]
        return [one for one in found if test(one.metadata or {}, one.text)]

    def _own(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]:
        return self._of(scope, self.rows(stored_ids))

    def _of(self, scope: Scope, rows: Sequence[Row]) -> list[Found]:
        return [Found(*row, 1.0) for row in rows if belongs(row[2], scope, self.fields)]


def _merged(one: Stored, before: Mapping[str, Metadata], changes: Changes) -> Metadata | None:
    present = before.get(one.stored_id, {})
    return merged_metadata(present, changes(one.record, present))


def _written(vector: Vector) -> bytes:
    return np.asarray(vector, dtype="<f4").tobytes()
