"""How does Chroma keep our records? The collection behind the `Store` port, with its limits and traps handled here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.flow.ports import Extent, Found, Stored, Vector, Where
from adaptive_memory_core.identity import record_id, scoped_id
from adaptive_memory_core.records import Fields, Hit, Metadata, ReadState, Record, Scope
from adaptive_memory_core.score import signals
from adaptive_memory_core.store.chroma.calls import both, client_of, distances_to, space_of, told
from adaptive_memory_core.stored_metadata import belongs, clashes, metadata_of, projection, record_of, within

if TYPE_CHECKING:
    from chromadb import Collection

PAGE = 5_000  # Chroma fails above 32,766 records with metadata in one answer
MOST = 30_000  # likewise for one query
LARGEST_BATCH = 5_000
EXCLUDED_USERS = 200  # names in one $nin
_INCLUDED = ("documents", "metadatas", "distances")


class ChromaStore:
    """A `chromadb.Collection`, embedded or on a server, seen through one scope at a time."""

    def __init__(self, collection: Collection, fields: Fields) -> None:
        self.collection = collection
        self.fields = fields
        self.space = space_of(collection)
        self.batch_size = min(LARGEST_BATCH, client_of(collection).get_max_batch_size())
        self._owners: set[str] = set()  # users met so far: what "everyone" must look past

    def nearest(self, scope: Scope, vector: Vector, limit: int, where: Where | None) -> list[Found]:
        """The hits of this scope, nearest first: `limit` of them unless there are no more."""
        wanted = min(limit, MOST)
        if scope.user is not None:
            return self._query(scope, vector, wanted, both({self.fields.user_id: scope.user}, where), where)[0]
        return self._unowned(scope, vector, wanted, where)

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

    def _passing(self, scope: Scope, stored_ids: Sequence[str], where: Where | None) -> Sequence[str]:
        """Those of the ids that pass the filter. Asked apart: Chroma takes a hundred times as long for both at once."""
        if where is None or not stored_ids:
            return stored_ids
        passing = self.passing(scope, where)
        return [one for one in stored_ids if one in passing]

    def passing(self, scope: Scope, where: Where) -> set[str]:
        """The ids of all records of the scope (and, for everyone's, maybe of users) that pass the filter."""
        own = None if scope.user is None else {self.fields.user_id: scope.user}
        condition: Any = both(own, where)
        return set(told(lambda: self.collection.get(where=condition, include=[]), where)["ids"])

    def ids(self) -> list[str]:
        """The ids of all records, whoever they belong to."""
        return list(told(lambda: self.collection.get(include=[]))["ids"])

    def rows(self, stored_ids: Sequence[str]) -> list[tuple[str, str | None, Metadata | None]]:
        """Those of the records that exist, whoever they belong to: id, text, metadata."""
        return list(self._rows(stored_ids))

    def size(self) -> int:
        """How many records the collection holds, whoever they belong to."""
        return int(told(self.collection.count))

    def extent(self) -> Extent:
        """How many records the collection holds, whosever they are, and which came last: Chroma keeps their order."""
        size = self.size()
        last = told(lambda: self.collection.get(limit=1, offset=size - 1, include=[]))["ids"] if size else []
        return Extent(size, last[0] if last else None)

    def latest(self, most: int) -> list[str]:
        """The ids that came last, whoever they belong to."""
        first = max(0, self.size() - most)
        return list(told(lambda: self.collection.get(limit=most, offset=first, include=[]))["ids"])

    def hits(self, scope: Scope, found: Iterable[Found], states: Mapping[str, ReadState]) -> list[Hit]:
        """What was found, as records with their read states: the ledger's, else the one in the metadata."""
        fields = self.fields
        return [
            Hit(record_of(scope, stored_id, text, metadata, fields, states.get(stored_id)), similarity, stored_id)
            for stored_id, text, metadata, similarity in found
        ]

    def fetch(self, scope: Scope, ids: Sequence[str]) -> dict[str, Found]:
        """Those of the records that exist in this scope, by the ids the user knows."""
        found = {record_id(scope, one.stored_id): one for one in self.stored(scope, ids)}
        missing = [scoped_id(scope, one) for one in ids if one not in found]
        found |= {record_id(scope, one.stored_id): one for one in self.stored(scope, missing)}
        return {one: found[one] for one in ids if one in found}

    def stored(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]:
        """Those of the records that exist in this scope, by their ids in the collection."""
        return [Found(*row, 1.0) for row in self._rows(stored_ids) if belongs(row[2], scope, self.fields)]

    def said_in(self, scope: Scope, sessions: Sequence[Any], limit: int) -> list[Found]:
        """What the scope has of these sessions, named as their records name them; at most `limit` of it.

        Chroma takes long to join a session with a user, so it is asked for the session alone, unless many users have
        one of that name.
        """
        named = {self.fields.session: {"$in": list(sessions)}}
        ids = self._ids(named, limit + 1)
        if len(ids) > limit:
            own = None if scope.user is None else {self.fields.user_id: scope.user}
            ids = self._ids(both(own, named), None if own is None else limit)
        return [Found(*row, 1.0) for row in self._rows(ids) if belongs(row[2], scope, self.fields)][:limit]

    def _ids(self, condition: Where | None, limit: int | None) -> list[str]:
        where: Any = condition
        return list(told(lambda: self.collection.get(where=where, limit=limit, include=[]))["ids"])

    def vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of those of the records that are of this scope."""
        answer: Any = told(lambda: self.collection.get(ids=list(stored_ids), include=["metadatas", "embeddings"]))
        rows = zip(answer["ids"], answer["metadatas"], answer["embeddings"], strict=True)
        return {stored_id: vector for stored_id, metadata, vector in rows if belongs(metadata, scope, self.fields)}

    def pages(self, scope: Scope) -> Iterator[list[Found]]:
        """All records of this scope, a page at a time."""
        where: Any = None if scope.user is None else {self.fields.user_id: scope.user}
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
        return {stored_id for stored_id, _, _ in self._rows(ids)}

    def add(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """Write new records. Their ids must be new: Chroma ignores an `add` of an existing one without a word."""
        metadatas = [metadata_of(scope, one.record, self.fields) for one in records]
        self._write(self.collection.add, records, vectors, metadatas)

    def revise(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """Write over existing records; keys they no longer have go, what reads have taught stays."""
        rows = {stored_id: metadata or {} for stored_id, _, metadata in self._rows([one.stored_id for one in records])}
        metadatas = [self._revised(scope, one.record, rows.get(one.stored_id, {})) for one in records]
        self._write(self.collection.upsert, records, vectors, metadatas)

    def annotate(self, scope: Scope, stored_id: str, changes: Metadata) -> None:
        """Set metadata of one record of this scope, given by our field names; None takes a key away."""
        values = {getattr(self.fields, name): value for name, value in changes.items()}
        if self._own(scope, [stored_id]):
            self.update_metadata({stored_id: values})

    def remove(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """Delete those of the ids that are of this scope."""
        own = self._own(scope, stored_ids)
        if own:
            told(lambda: self.collection.delete(ids=own))

    def unlink(self, scope: Scope, record_id: str, began: float | None) -> None:
        """Take the id out of the records that supersede it or are superseded by it; these are valid again."""
        links = (self.fields.supersedes, self.fields.superseded_by)
        mentions = {"$or": [{link: record_id} for link in links]}
        own = None if scope.user is None else {self.fields.user_id: scope.user}
        condition: Any = both(own, mentions)
        answer = told(lambda: self.collection.get(where=condition, include=["metadatas"]))
        changes = {
            stored_id: self._unlinked(metadata, record_id, began)
            for stored_id, metadata in zip(answer["ids"], answer["metadatas"] or [], strict=True)
            if belongs(metadata, scope, self.fields)
        }
        if changes:
            self.update_metadata(changes)

    def _unlinked(self, metadata: Metadata, record_id: str, began: float | None) -> dict[str, Any]:
        fields = self.fields
        changes = {link: None for link in (fields.supersedes, fields.superseded_by) if metadata.get(link) == record_id}
        if fields.superseded_by in changes and began is not None and metadata.get(fields.valid_until) == began:
            changes[fields.valid_until] = None
        return changes

    def flagged(self, scope: Scope, flag: str) -> list[str]:
        """The records of the scope whose metadata show this flag."""
        own = None if scope.user is None else {self.fields.user_id: scope.user}
        shown: Any = both(own, {getattr(self.fields, flag): 1})
        answer = told(lambda: self.collection.get(where=shown, include=["metadatas"]))
        rows = zip(answer["ids"], answer["metadatas"] or [], strict=True)
        return [stored_id for stored_id, metadata in rows if belongs(metadata, scope, self.fields)]

    def count(self, scope: Scope) -> int:
        """How many records the scope has."""
        if scope.user is not None:
            own: Any = {self.fields.user_id: scope.user}
            return len(told(lambda: self.collection.get(where=own, include=[]))["ids"])
        return sum(belongs(metadata, scope, self.fields) for _, _, metadata in self._pages())

    def metadata(self, stored_ids: Sequence[str]) -> dict[str, Metadata]:
        """The metadata of those of the records that still exist."""
        return {stored_id: metadata or {} for stored_id, _, metadata in self._rows(stored_ids)}

    def update_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Merge keys into records that exist; one call, because each costs Chroma eight fsyncs whatever its size."""
        told(lambda: self.collection.update(ids=list(changes), metadatas=[dict(one) for one in changes.values()]))

    def _unowned(self, scope: Scope, vector: Vector, limit: int, where: Where | None) -> list[Found]:
        """Chroma cannot ask for a missing key: exclude the users met on the way, and where that ends, look further."""
        reach = limit
        while True:
            owners = sorted(self._owners)[:EXCLUDED_USERS]
            strangers = {self.fields.user_id: {"$nin": owners}} if owners else None
            hits, met, exhausted = self._query(scope, vector, reach, both(strangers, where), where)
            if len(hits) >= limit or exhausted or reach >= MOST:
                return hits[:limit]
            if met <= self._owners or len(self._owners) >= EXCLUDED_USERS:
                reach = min(MOST, 2 * reach)
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
        for stored_id, text, metadata, distance in rows:
            if text is None and metadata is None:
                continue  # deleted, but still in an index that another process has not reloaded
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
        missing = [one for one in everything if one not in reached][:MOST]
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

    def _write(
        self,
        write: Callable[..., object],
        records: Sequence[Stored],
        vectors: Sequence[Vector],
        metadatas: Sequence[Metadata],
    ) -> None:
        told(
            lambda: write(
                ids=[one.stored_id for one in records],
                documents=[one.record.text for one in records],
                metadatas=metadatas,
                embeddings=vectors,
            )
        )

    def _revised(self, scope: Scope, record: Record, present: Metadata) -> dict[str, Any]:
        """The new version, with what takes every other key of the old one away. The read state that it shows is left as
        it is: a read that came in between has been written back maybe, and would not be again."""
        state = projection(record.read, present, self.fields)
        shown = (state.keys() & present.keys()) - clashes(state, present, self.fields)
        revised = {**dict.fromkeys(present), **metadata_of(scope, record, self.fields)}
        return {key: value for key, value in revised.items() if key not in shown}

    def _own(self, scope: Scope, stored_ids: Sequence[str]) -> list[str]:
        return [one for one, _, metadata in self._rows(stored_ids) if belongs(metadata, scope, self.fields)]

    def _rows(self, stored_ids: Sequence[str]) -> Iterator[tuple[str, str | None, Metadata | None]]:
        """The records of these ids that exist, in no order: Chroma keeps its own."""
        for start in range(0, len(stored_ids), PAGE):
            page = list(stored_ids[start : start + PAGE])
            answer = told(lambda page=page: self.collection.get(ids=page, include=["metadatas", "documents"]))  # type: ignore[misc]
            yield from zip(answer["ids"], answer["documents"] or [], answer["metadatas"] or [], strict=True)

    def _pages(self) -> Iterator[tuple[str, None, Metadata | None]]:
        offset = 0
        while True:
            answer = told(lambda start=offset: self.collection.get(limit=PAGE, offset=start, include=["metadatas"]))  # type: ignore[misc]
            for stored_id, metadata in zip(answer["ids"], answer["metadatas"] or [], strict=True):
                yield stored_id, None, metadata
            if len(answer["ids"]) < PAGE:
                return
            offset += PAGE
