"""The items that a query finds: candidates by their vectors, filtered by the items, ranked by the memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from langgraph.store.base import SearchOp

from adaptive_memory_core import Recall, UserMemory
from langchain_adaptive_memory.langgraph_store.items import Items
from langchain_adaptive_memory.langgraph_store.rows import ItemRow, passes, path_of, prefixes

ITEM, UNDER = "item", "under"  # metadata of a record: whose vector it is, and each namespace it is at or below
FEW = 150  # vectors; up to here comparing them is faster than Chroma's filtered query (measured with 10,000)
SCANNED = 2_000  # items that are looked at to find out
WIDER = 4
WIDEST = 2_000  # beyond it, the items that pass the filter are compared one by one
Sifted = dict[str, tuple[ItemRow, float]]


def metadata(row: ItemRow) -> dict[str, str]:
    """What a record says of its item: enough to search below any namespace."""
    return {ITEM: row.record} | {_under(depth): path for depth, path in enumerate(prefixes(row.path), 1)}


def _under(depth: int) -> str:
    return f"{UNDER}_{depth}"


@dataclass(frozen=True)
class ItemSearch:
    """One search of the store at one moment; `now=None` also finds what has expired."""

    items: Items
    op: SearchOp
    now: float | None

    @property
    def prefix(self) -> str:
        return path_of(self.op.namespace_prefix)

    def plain(self) -> list[tuple[ItemRow, float | None]]:
        """Without a query: in insertion order."""
        found = (row for row in self.items.under(self.prefix, self.now) if self._passes(row))
        return [(row, None) for row in islice(found, self.op.offset, self.op.offset + self.op.limit)]

    def ranked(self, memory: UserMemory, query: str, vector: Any, at: float) -> list[tuple[ItemRow, float | None]]:
        """With a query: items with vectors, best first; then, if those are not enough, the rest in insertion order."""
        if self.op.limit == 0:
            return []
        wanted = self.op.offset + self.op.limit
        sifted = self._candidates(memory, vector, max(memory.memory.policy.recall_k, wanted))
        ranking = self._ranking(memory, query, sifted, wanted, at)
        found: list[tuple[ItemRow, float | None]] = [(sifted[hit.id][0], hit.score) for hit in ranking]
        if len(found) < wanted:
            found += [(row, None) for row in islice(self._rest(sifted, len(found)), wanted - len(found))]
        return found[self.op.offset :]

    def _rest(self, sifted: Sifted, ranked: int) -> Iterator[ItemRow]:
        """Items without a vector; where the policy's floors have left nothing out, also those with lost ones."""
        nothing_dropped = ranked == len(sifted)
        for row in self.items.under(self.prefix, self.now):
            if row.record not in sifted and (nothing_dropped or not row.vectors) and self._passes(row):
                yield row

    def _ranking(self, user: UserMemory, cue: str, sifted: Sifted, wanted: int, at: float) -> Recall | Sequence[Any]:
        """The memory's ranking. Of a later page, only that page is read."""
        if not sifted:
            return []
        close = {record: similarity for record, (_, similarity) in sifted.items()}
        reads, first = self.op.refresh_ttl, self.op.offset == 0
        ranking = user.rerank(cue, close, k=min(wanted, len(close)), now=at, reinforce=reads and first)
        page = ranking.ids[self.op.offset :]
        if reads and not first and page:
            user.rerank(cue, {record: close[record] for record in page}, k=len(page), now=at)
        return ranking

    def _candidates(self, user: UserMemory, vector: Any, wanted: int) -> Sifted:
        """At least so many items that pass, each with the best similarity of its vectors; all where there are fewer."""
        store, depth = user.memory.ports().search, len(self.op.namespace_prefix)
        few, share = self._few()
        if few is not None:
            return self._sifted(store.among(user.scope, vector, few, None))
        where = {_under(depth): self.prefix} if depth else None
        asked = wanted if share == 1 else max(wanted, min(WIDEST, math.ceil(2 * wanted / max(share, 1e-9))))
        while True:
            found = store.nearest(user.scope, vector, asked, where)
            sifted = self._sifted(found)
            if len(sifted) >= wanted or len(found) < asked:
                return sifted
            if asked >= WIDEST:
                break
            asked = min(WIDER * asked, max(WIDEST, wanted))
        passing = [row for row in self.items.under(self.prefix, self.now) if self._passes(row)]
        records = [record for row in passing for record in row.records()]
        return self._sifted(store.among(user.scope, vector, records, None))

    def _few(self) -> tuple[list[str] | None, float]:
        """The vectors of all items that pass, where they are few enough to be compared one by one, which is faster
        than a filtered query of Chroma and exact; and which share of the items passes, as far as was looked."""
        records: list[str] = []
        looked = passed = 0
        for row in self.items.under(self.prefix, self.now):
            if looked == SCANNED or len(records) > FEW:
                return None, passed / looked
            looked += 1
            if self._passes(row):
                passed += 1
                records += row.records()
        return (records, 1.0) if len(records) <= FEW else (None, passed / looked)

    def _sifted(self, found: Sequence[Any]) -> Sifted:
        """The items behind the records, nearest first. What the items do not know is not returned, whatever it says."""
        best: dict[str, float] = {}
        for one in found:
            record = str((one.metadata or {}).get(ITEM))
            best[record] = max(one.similarity, best.get(record, one.similarity))
        rows = self.items.by_record(list(best), self.prefix, self.now)
        return {record: (rows[record], close) for record, close in best.items() if self._fits(rows.get(record))}

    def _fits(self, row: ItemRow | None) -> bool:
        return row is not None and self._passes(row)

    def _passes(self, row: ItemRow) -> bool:
        return not self.op.filter or passes(row.content(), self.op.filter)
