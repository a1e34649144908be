"""A scope's records, newest first: by when they happened, as their metadata say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

from adaptive_memory_core.flow.look_up import as_they_stand, look_up
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.records import Record, Scope
from adaptive_memory_core.score.gates import stale
from adaptive_memory_core.score.refusals import is_later
from adaptive_memory_core.stored_metadata import hits_of
from adaptive_memory_core.where import predicate

RECORDS_OF_A_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Listing:
    """Which records are listed: those that pass a filter, and only those that hold now where `current` is set."""

    where: Mapping[str, Any] | None
    limit: int
    offset: int
    current: bool


def newest(ports: Ports, scope: Scope, listing: Listing, *, regime: Regime, now: float) -> list[Record]:
    """The records, newest first, each with its read state; what has no time comes last. Nothing counts as read."""
    ids = _newest(ports, scope, listing, now)
    records: list[Record] = []
    for start in range(0, len(ids), RECORDS_OF_A_PAGE):
        page = ids[start : start + RECORDS_OF_A_PAGE]
        found = look_up(ports, scope, page, now=None)
        listed = [found[one] for one in page if one in found]
        records += as_they_stand(ports, scope, listed, regime=regime, now=now)
    return records


def ids_where(ports: Ports, scope: Scope, where: Mapping[str, Any] | None, now: float) -> list[str]:
    """The ids of all records of a scope that pass a filter."""
    return [one.id for one in _matching(ports, scope, Listing(where, 0, 0, current=False), now)]


def _newest(ports: Ports, scope: Scope, listing: Listing, now: float) -> list[str]:
    found = nlargest(listing.offset + listing.limit, _matching(ports, scope, listing, now), key=_when)
    return list(dict.fromkeys(one.id for one in found))[listing.offset :]


def _matching(ports: Ports, scope: Scope, listing: Listing, now: float) -> Iterator[Record]:
    where = listing.where
    passes = None if where is None else predicate(where)
    for page in ports.records.pages(scope):
        matching = page if passes is None else [one for one in page if passes(one.metadata or {}, one.text)]
        for hit in hits_of(scope, matching, {}, ports.fields):
            if not listing.current or (
                hit.record.text and stale(hit, now=now) is None and not is_later(hit.record, now)
            ):
                yield hit.record


def _when(record: Record) -> tuple[bool, float]:
    return record.created_at is not None, record.created_at or 0.0
