"""Which records of a scope are the newest that hold now? By when they happened, as their metadata say."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nlargest

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.look_up import as_they_stand, look_up
from adaptive_memory_core.flow.ports import Ports, Records
from adaptive_memory_core.policy.decay import Regime
from adaptive_memory_core.records import Record, Scope
from adaptive_memory_core.score.gates import stale
from adaptive_memory_core.score.refusals import is_later
from adaptive_memory_core.stored_metadata import hits_of

RECORDS_OF_A_PAGE = 1_000


def newest(ports: Ports, scope: Scope, limit: int, *, regime: Regime, now: float) -> Flow[list[Record]]:
    """At most so many, newest first, each with its read state; what has no time comes last. Nothing counts as read."""
    ids = yield from ask(_newest, ports.records, scope, limit, ports.fields, now)
    records: list[Record] = []
    for start in range(0, len(ids), RECORDS_OF_A_PAGE):
        page = ids[start : start + RECORDS_OF_A_PAGE]
        found = yield from look_up(ports, scope, page, now=None)
        listed = [found[one] for one in page if one in found]
        records += yield from as_they_stand(ports, scope, listed, regime=regime, now=now)
    return records


def _newest(records: Records, scope: Scope, limit: int, fields: Fields, now: float) -> list[str]:
    present = _present(records, scope, fields, now)
    return list(dict.fromkeys(one.id for one in nlargest(limit, present, key=_when)))


def _present(records: Records, scope: Scope, fields: Fields, now: float) -> Iterator[Record]:
    """All records but what was replaced, has ended or has not begun."""
    for page in records.pages(scope):
        for hit in hits_of(scope, page, {}, fields):
            if hit.record.text and stale(hit, now=now) is None and not is_later(hit.record, now):
                yield hit.record


def _when(record: Record) -> tuple[bool, float]:
    return record.created_at is not None, record.created_at or 0.0
