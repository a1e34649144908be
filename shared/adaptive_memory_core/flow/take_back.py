"""How is a write that failed half-way undone? New records are taken out again, so that a retry is whole."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.drive import Flow, attempt
from adaptive_memory_core.flow.derived_records import sources_hold_again
from adaptive_memory_core.flow.ports import Ports, Stored
from adaptive_memory_core.flow.steps.tell_indexes import removed, revising
from adaptive_memory_core.records import Record, Scope


def take_back(ports: Ports, scope: Scope, new: Sequence[Stored], *, now: float) -> Flow[None]:
    """Remove new records, their links, words and rows: a caller who writes them again would have them twice.

    This goes as far as it can; the caller hears of the failure before. An error of the collection does not say that
    nothing was written: a server may have done it and lost the answer.
    """
    stored_ids = [one.stored_id for one in new]
    if not stored_ids:
        return
    for one in new:
        if one.record.supersedes is not None:
            began = begins(one.record, now=now)
            yield from attempt(AdaptiveMemoryError, ports.records.unlink, scope, one.record.id, began)
            with suppress(AdaptiveMemoryError):
                yield from sources_hold_again(ports, scope, [one.record.supersedes], ended=began)
    yield from attempt(AdaptiveMemoryError, revising, ports, scope, stored_ids)
    yield from attempt(AdaptiveMemoryError, ports.records.remove, scope, stored_ids)
    yield from attempt(AdaptiveMemoryError, removed, ports, scope, stored_ids)
    yield from attempt(AdaptiveMemoryError, ports.ledger.states.withdraw, scope, stored_ids)


def begins(record: Record, *, now: float) -> float:
    """When a record begins to hold, and the one that it supersedes ends."""
    return next(one for one in (record.valid_from, record.created_at, now) if one is not None)
