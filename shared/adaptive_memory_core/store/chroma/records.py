"""How are records kept in Chroma? The `Records` port over a collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Extent, Found, Stored, Vector, Where
from adaptive_memory_core.identity import record_id, scoped_id
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.chroma.calls import both, client_of, space_of, told
from adaptive_memory_core.store.chroma.own_writes import NOBODY, Heard
from adaptive_memory_core.store.chroma.rows import PAGE, own_filter, own_ids, own_rows, rows_of
from adaptive_memory_core.store.chroma.write_gate import told_alone
from adaptive_memory_core.stored_owner import belongs
from adaptive_memory_core.written_metadata import metadata_of, revision, unlinked

if TYPE_CHECKING:
    from chromadb import Collection

LARGEST_BATCH = 5_000  # records of one write


class Copies(Protocol):
    """What others keep of the records of the collection."""

    def pages(self, scope: Scope) -> Iterator[list[Found]]: ...
    def count(self, scope: Scope) -> int: ...


def _no_copies() -> None:
    """Nobody keeps any."""


class ChromaRecords:
    """Keeping records in a `chromadb.Collection`, embedded or on a server, seen through one scope at a time.

    With `only` a scope, what is asked of all records is asked of its own: the ledger's role sees no others.
    """

    def __init__(self, collection: Collection, fields: Fields, only: Scope | None = None) -> None:
        self.collection = collection
        self.fields = fields
        self.only = only
        self.heard: Heard = NOBODY
        self.copies: Callable[[], Copies | None] = _no_copies  # where those are as the collection is
        self.space = space_of(collection)
        self.batch_size = min(LARGEST_BATCH, told(client_of(collection).get_max_batch_size))

    def ids(self) -> list[str]:
        """The ids of all records, whoever they belong to."""
        if self.only is not None:
            return own_ids(self.collection, self.only, self.fields)
        return list(told(lambda: self.collection.get(include=[]))["ids"])

    def rows(self, stored_ids: Sequence[str]) -> list[tuple[str, str | None, Metadata | None]]:
        """Those of the records that exist, whoever they belong to: id, text, metadata."""
        only, found = self.only, rows_of(self.collection, stored_ids)
        return list(found) if only is None else [row for row in found if belongs(row[2], only, self.fields)]

    def size(self) -> int:
        """How many records the collection holds, whoever they belong to."""
        return self.whole_size() if self.only is None else len(self.ids())

    def whole_size(self) -> int:
        """How many records the collection holds, whatever the ledger's role sees."""
        return int(told(self.collection.count))

    def extent(self, expected: Extent | None = None) -> Extent:
        """How many records the collection holds, whosever they are, and which came last: Chroma keeps their order.
        Where it has the size that is expected, one question tells both."""
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
        return list(told(lambda: self.collection.get(limit=most, offset=offset, include=[]))["ids"])

    def latest(self, most: int) -> list[str]:
        """The ids that came last, whoever they belong to."""
        if self.only is not None:
            return self.ids()[-most:]
        return self._ids_from(max(0, self.size() - most), most)

    def fetch(self, scope: Scope, ids: Sequence[str]) -> dict[str, Found]:
        """Those of the records that exist in this scope, by the ids the user knows; a user's own before everyone's."""
        found: dict[str, Found] = {}
        for part in scope.parts:
            missing = [one for one in ids if one not in found]
            found |= {record_id(part, one.stored_id): one for one in self._own(part, missing)}
            places = [scoped_id(part, one) for one in missing if one not in found]
            found |= {record_id(part, one.stored_id): one for one in self._own(part, places)}
        return {one: found[one] for one in ids if one in found}

    def said_in(self, scope: Scope, sessions: Sequence[Any], limit: int) -> list[Found]:
        """What the scope has of these sessions, named as their records name them; at most `limit` of it.

        Chroma takes long to join a session with a user, so it is asked for the session alone, unless many users have
        one of that name.
        """
        named = {self.fields.session: {"$in": list(sessions)}}
        ids = self._ids(named, limit + 1)
        if len(ids) > limit:
            own = own_filter(scope, self.fields)
            ids = self._ids(both(own, named), None if own is None else limit)
        return self._own(scope, ids)[:limit]

    def _ids(self, condition: Where | None, limit: int | None) -> list[str]:
        where: Any = condition
        return list(told(lambda: self.collection.get(where=where, limit=limit, include=[]))["ids"])

    def pages(self, scope: Scope) -> Iterator[list[Found]]:
        """All records of this scope, a page at a time; from their copies where there are any, which is much faster."""
        copies = self.copies()
        if copies is not None:
            yield from copies.pages(scope)
            return
        where: Any = own_filter(scope, self.fields)
        offset = 0
        while True:
            answer: Any = told(
                lambda start=offset: self.collection.get(  # type: ignore[misc]
                    limit=PAGE, offset=start, where=where, include=["documents", "metadatas"]
                )
            )
            rows = list(zip(answer["ids"], answer["documents"], answer["metadatas"], strict=True))
            yield [Found(*row, 1.0) for row in rows if belongs(row[2], scope, self.fields)]
            if len(rows) < PAGE:
                return
            offset += PAGE

    def taken(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids, as they stand in the collection, that exist - whoever they belong to."""
        return {stored_id for stored_id, _, _ in rows_of(self.collection, ids)}

    def add(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """Write new records. Their ids must be new: Chroma ignores an `add` of an existing one without a word."""
        metadatas = [metadata_of(scope, one.record, self.fields) for one in records]
        self._write(self.collection.add, records, vectors, metadatas)

    def revise(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """Write over existing records; keys they no longer have go, what reads have taught stays."""
        rows = self.metadata([one.stored_id for one in records])
        metadatas = [revision(scope, one.record, rows.get(one.stored_id, {}), self.fields) for one in records]
        self._write(self.collection.upsert, records, vectors, metadatas)

    def annotate(self, scope: Scope, stored_id: str, changes: Metadata) -> None:
        """Set metadata of one record of this scope, given by our field names; None takes a key away."""
        values = {getattr(self.fields, name): value for name, value in changes.items()}
        if self._own(scope.own, [stored_id]):
            self.update_metadata({stored_id: values})

    def remove(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """Delete those of the ids that are of this scope."""
        own = [one.stored_id for one in self._own(scope.own, stored_ids)]
        if own:
            delete = self.collection.delete  # looked up here: what others wrote comes first, and needs the same gate
            self._heard(own, lambda: delete(ids=own), grows=-len(own))

    def unlink(self, scope: Scope, record_id: str, began: float | None) -> None:
        """Take the id out of the records that supersede it or are superseded by it; these are valid again."""
        links = (self.fields.supersedes, self.fields.superseded_by)
        mentions = {"$or": [{link: record_id} for link in links]}
        scope = scope.own
        condition: Any = both(own_filter(scope, self.fields), mentions)
        answer = told(lambda: self.collection.get(where=condition, include=["metadatas"]))
        changes = {
            stored_id: unlinked(metadata or {}, record_id, began, self.fields)
            for stored_id, metadata in zip(answer["ids"], answer["metadatas"] or [], strict=True)
            if belongs(metadata, scope, self.fields)
        }
        if changes:
            self.update_metadata(changes)

    def flagged(self, scope: Scope, flag: str) -> list[str]:
        """The records of the scope whose metadata show this flag."""
        scope = scope.own  # what everyone's records show is no user's
        shown: Any = both(own_filter(scope, self.fields), {getattr(self.fields, flag): 1})
        answer = told(lambda: self.collection.get(where=shown, include=["metadatas"]))
        rows = zip(answer["ids"], answer["metadatas"] or [], strict=True)
        return [stored_id for stored_id, metadata in rows if belongs(metadata, scope, self.fields)]

    def count(self, scope: Scope) -> int:
        """How many records the scope has."""
        copies = self.copies()
        if copies is not None:
            return copies.count(scope)
        own: Any = own_filter(scope, self.fields)
        if own is not None:
            return len(told(lambda: self.collection.get(where=own, include=[]))["ids"])
        return sum(belongs(metadata, scope, self.fields) for _, _, metadata in self._pages())

    def metadata(self, stored_ids: Sequence[str]) -> dict[str, Metadata]:
        """The metadata of those of the records that still exist."""
        return {stored_id: metadata or {} for stored_id, _, metadata in rows_of(self.collection, stored_ids)}

    def update_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Merge keys into records that exist; one call, because each costs Chroma eight fsyncs whatever its size."""
        ids = list(changes)
        metadatas: Any = [dict(one) for one in changes.values()]
        update = self.collection.update
        self._heard(ids, lambda: update(ids=ids, metadatas=metadatas), grows=0)
        self.heard.annotated(changes)

    def _write(
        self,
        write: Callable[..., object],
        records: Sequence[Stored],
        vectors: Sequence[Vector],
        metadatas: Sequence[Metadata],
    ) -> None:
        ids, texts = [one.stored_id for one in records], [one.record.text for one in records]
        self._heard(ids, lambda: write(ids=ids, documents=texts, metadatas=metadatas, embeddings=vectors))

    def _heard(self, ids: Sequence[str], write: Callable[[], object], grows: int | None = None) -> None:
        """Write, once nobody else does, and let it be heard."""

        def changing() -> None:
            with self.heard.changing(ids, grows):
                write()

        told_alone(self.collection, changing)

    def _pages(self) -> Iterator[tuple[str, None, Metadata | None]]:
        offset = 0
        while True:
            answer = told(lambda start=offset: self.collection.get(limit=PAGE, offset=start, include=["metadatas"]))  # type: ignore[misc]
            for stored_id, metadata in zip(answer["ids"], answer["metadatas"] or [], strict=True):
                yield stored_id, None, metadata
            if len(answer["ids"]) < PAGE:
                return
            offset += PAGE

    def _own(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]:
        return own_rows(self.collection, scope, self.fields, stored_ids)
