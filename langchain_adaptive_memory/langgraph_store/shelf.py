"""The order in which a batch is carried out: reads, then items, then vectors; and the repair after a crash."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from langgraph.store.base import GetOp, Item, ListNamespacesOp, Result, SearchItem, SearchOp

from adaptive_memory_core import Fields, NotFoundError, UserMemory
from adaptive_memory_core.arguments.values import FIRST_MOMENT, LAST_MOMENT
from adaptive_memory_core.fields import as_moment, as_number
from langchain_adaptive_memory.langgraph_store.batch import Batch, query_of
from langchain_adaptive_memory.langgraph_store.embedding import Embedding, Vectors
from langchain_adaptive_memory.langgraph_store.items import Items
from langchain_adaptive_memory.langgraph_store.rows import ItemRow, Namespace, clean, fits, path_of
from langchain_adaptive_memory.langgraph_store.search import ItemSearch, metadata

Due = list[tuple[ItemRow, list[str]]]
LONGEST_KIND = 100  # characters of what is taken for a kind
AT_ONCE = 200  # items that are mended, or records that are removed, in one go


class Shelf:
    """The items and their vectors, kept in step.

    Items are written first and count from then on; vectors follow. What a crash or an error leaves in between is noted
    in the items' file and repaired before the next batch.
    """

    def __init__(
        self,
        items: Items,
        memory: UserMemory | None,
        embedding: Embedding | None,
        clock: Callable[[], float],
        *,
        omit_expired: bool,
        fields: Fields,
    ) -> None:
        self._fields = fields
        self.items = items
        self.memory = memory
        self.embedding = embedding
        self._clock = clock
        self._omit_expired = omit_expired
        self._writing = threading.RLock()
        self._due = True

    def carry_out(self, batch: Batch, vectors: Vectors) -> list[Result]:
        """Carry out the batch; its reads see the state before its writes."""
        now = self._clock()
        seen = now if self._omit_expired else None
        results: list[Result] = []
        gotten: list[ItemRow] = []
        for op in batch.ops:
            if isinstance(op, GetOp):
                row = self.items.get(path_of(op.namespace), op.key, seen)
                results.append(None if row is None else Item(value=row.content(), **row.heading()))
                gotten += [row] if row is not None and op.refresh_ttl else []
            elif isinstance(op, SearchOp):
                results.append(self._search(op, vectors, now, seen))
            else:
                results.append(self._namespaces(op, seen) if isinstance(op, ListNamespacesOp) else None)
        self._read(gotten, now)
        if batch.writes:
            self._write(batch, vectors, now)
        return results

    def sweep(self) -> int:
        """Delete what has expired."""
        with self._writing:
            count = self.items.sweep(self._clock())
            self._clear()
        return count

    def due(self) -> list[Due]:
        """Items whose vectors were not written because of a crash or an error, in portions; each is named once."""
        with self._writing:
            if not self._due or self.memory is None or self.embedding is None:
                return []
            self._due = False
            self._clear()
            embedding = self.embedding
            rows = [(row, embedding.texts(row.content(), row.fields)) for row in self.items.unsettled()]
        return [rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE)]

    def mend(self, due: Due, vectors: Callable[[], Vectors]) -> None:
        """Write the vectors of such items; if that fails, warn and go on: they are found without vectors."""
        try:
            with self._writing:
                self._settle(due, vectors())
        except Exception as error:  # noqa: BLE001 - any embedder's; search can do without these vectors
            warnings.warn(
                f"{len(due)} items still have no vectors, because writing them failed: {error}. Search finds them by "
                "filter only. It is tried again when the store is opened again.",
                RuntimeWarning,
                stacklevel=3,
            )

    def _search(self, op: SearchOp, vectors: Vectors, now: float, seen: float | None) -> list[SearchItem]:
        search, query = ItemSearch(self.items, op, seen), query_of(op)
        if query is None or self.memory is None or self.embedding is None:
            found = search.plain()
        else:
            found = search.ranked(self.memory, query, self.embedding.query(query, vectors), now)
        if op.refresh_ttl:
            self.items.touch([row for row, _ in found], now)
        return [SearchItem(value=row.content(), score=score, **row.heading()) for row, score in found]

    def _namespaces(self, op: ListNamespacesOp, seen: float | None) -> list[Namespace]:
        conditions = op.match_conditions or ()
        found = [one for one in self.items.namespaces(seen) if all(fits(one, condition) for condition in conditions)]
        shortened = sorted({one[: op.max_depth] for one in found})
        return shortened[op.offset : op.offset + op.limit]

    def _read(self, rows: Sequence[ItemRow], now: float) -> None:
        """A get is a read: what expires lives on, and what has vectors is counted."""
        self.items.touch(rows, now)
        known = {row.record: row for row in rows if row.vectors}
        if known and self.memory is not None:
            cue = clean(f"get {', '.join(row.key for row in known.values())}")
            self.memory.rerank(cue, dict.fromkeys(known), now=now)

    def _write(self, batch: Batch, vectors: Vectors, now: float) -> None:
        gone = [place for place, one in batch.writes.items() if one is None]
        puts = [one for one in batch.writes.values() if one is not None]
        with self._writing:
            rows = self.items.write(puts, gone, now)
            try:
                self._settle([(row, batch.texts[row.path, row.key]) for row in rows], vectors)
                self._clear()
            except BaseException:
                self._due = True
                raise

    def _settle(self, rows: Due, vectors: Vectors) -> None:
        """Have the collection hold the vectors of these items, and none of what they were before."""
        if self.memory is None or self.embedding is None:
            return
        records = [record for row, texts in rows for record in _records(row, texts, self._fields)]
        if records:
            with self.embedding.lent(vectors):
                self.memory.remember_many(records)
        self._due |= not self.items.settle([(row, len(texts)) for row, texts in rows])

    def _clear(self) -> None:
        """Forget the records whose item is gone: their texts all at once, then their traces."""
        left = [] if self.memory is None else self.items.leftovers()
        if self.memory is None or not left:
            return
        user, store = self.memory, self.memory.memory.ports().records
        for start in range(0, len(left), AT_ONCE):
            some = left[start : start + AT_ONCE]
            store.remove(user.scope, some)
            for record in some:
                with suppress(NotFoundError):  # never read, or another process was faster
                    user.forget(record)
            self.items.cleared(some)


def _records(row: ItemRow, texts: Sequence[str], fields: Fields) -> Iterator[dict[str, Any]]:
    """An item as records for the memory: one for each text."""
    known = {"created_at": row.updated_at, "metadata": metadata(row), **_known(row.content(), fields)}
    for record, text in zip(row._replace(vectors=len(texts)).records(), texts, strict=True):
        yield {"id": record, "text": text, **known}


def _known(value: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """What an item's value says of itself under the names of `fields`, as far as it is of the kind that they mean.

    >>> _known({"text": "tea", "importance": 0.9, "kind": "fact", "created_at": "2026-05-13T09:00Z"}, Fields())
    {'importance': 0.9, 'kind': 'fact', 'created_at': 1778662800.0}
    >>> _known({"importance": "high", "kind": ["a", "list"], "valid_until": "some day"}, Fields())
    {}
    """
    importance, kind = value.get(fields.importance), value.get(fields.kind)
    worth = as_number(importance, 0.0, fields.importance_scale)
    times = {name: as_moment(value.get(getattr(fields, name))) for name in ("created_at", "valid_from", "valid_until")}
    start, end = times["valid_from"], times["valid_until"]
    if start is not None and end is not None and start >= end:
        times |= {"valid_from": None, "valid_until": None}
    found = {
        "importance": None if worth is None else worth / fields.importance_scale,
        "kind": clean(kind) if isinstance(kind, str) and kind.strip() and len(kind) <= LONGEST_KIND else None,
        **{name: at for name, at in times.items() if at is not None and FIRST_MOMENT <= at <= LAST_MOMENT},
    }
    return {name: one for name, one in found.items() if one is not None}
