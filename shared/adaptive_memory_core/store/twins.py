"""Does a user have two records of one id? They are found, and merged into the later one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.identity import MARK, record_id, scoped_id
from adaptive_memory_core.learn.merge_reads import added
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.chroma.rows import PAGE
from adaptive_memory_core.stored_metadata import created_at
from adaptive_memory_core.stored_owner import owner_of

Row = tuple[str, str | None, Metadata | None]


@dataclass(frozen=True, slots=True)
class Twins:
    """Two records of one user and id, by their ids in the collection; `same` says that their texts are equal."""

    scope: Scope
    kept: str
    gone: str
    same: bool


def twins(store: ChromaRecords) -> Iterator[Twins]:
    """All there are: a record stands under its own id, and one of the same user under the id it gets where another
    user's is in its place."""
    marked = [one for one in store.ids() if MARK in one]
    for start in range(0, len(marked), PAGE):
        page = marked[start : start + PAGE]
        plain = {one: one.rpartition(MARK)[0] for one in page}
        rows = {row[0]: row for row in store.rows([*page, *set(plain.values())])}
        for scoped, own in plain.items():
            found = _pair(store, rows.get(own), rows.get(scoped))
            if found is not None:
                yield found


def _pair(store: ChromaRecords, own: Row | None, scoped: Row | None) -> Twins | None:
    if own is None or scoped is None:
        return None
    scope = owner_of(own[2], store.fields)
    if scope is None or scope != owner_of(scoped[2], store.fields):
        return None
    if scoped_id(scope, record_id(scope, scoped[0])) != scoped[0]:
        return None
    later = (created_at(scoped[2], store.fields) or 0.0) > (created_at(own[2], store.fields) or 0.0)
    kept, gone = (scoped, own) if later else (own, scoped)
    return Twins(scope, kept[0], gone[0], own[1] == scoped[1])


def merge_twins(store: ChromaRecords, ledger: Ledger, pair: Twins) -> None:
    """Keep one of the two. Reads of both count where they say the same; else those of the kept one alone: reads belong
    to what was said. Where this breaks off, both are still found, and merged the next time."""
    join = added if pair.same else None
    ledger.comparison.merge(pair.scope, pair.kept, pair.gone, join)
    store.remove(pair.scope, [pair.gone])
    ledger.comparison.merge(pair.scope, pair.kept, pair.gone, join)  # what was read of it, and copied, in between
