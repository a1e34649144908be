"""How is one record fetched by its id? From the collection, with its read state as of now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive_memory_core.errors import NotFoundError
from adaptive_memory_core.flow.ports import Ports, Stored
from adaptive_memory_core.learn.decay import as_of
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.records import Record, Scope
from adaptive_memory_core.shown_in_errors import listed
from adaptive_memory_core.sources.read_state import known_states
from adaptive_memory_core.stored_metadata import hits_of


def look_up(ports: Ports, scope: Scope, ids: Sequence[str], *, now: float | None) -> dict[str, Stored]:
    """Those of the records that exist in this scope, each with its state: the ledger's, else the metadata's.

    `now=None` only looks, also where a record says something else by now or takes over from one that is gone.
    """
    if not ids:
        return {}
    found = ports.records.fetch(scope, ids)
    known = known_states(ports, scope, list(found.values()), now=now)
    hits = hits_of(scope, found.values(), known.states, ports.fields)
    return {hit.record.id: Stored(hit.record, hit._stored_id, hit.shared is not None) for hit in hits}


def look_up_one(ports: Ports, scope: Scope, record_id: str, *, now: float | None) -> Stored:
    """The record, or an error that says where it was looked for."""
    found = look_up(ports, scope, [record_id], now=now)
    if record_id not in found:
        raise not_found(scope, [record_id])
    return found[record_id]


def not_found(scope: Scope, ids: Sequence[str]) -> NotFoundError:
    """The error for ids that do not exist in a scope."""
    return NotFoundError(
        f"There is no record {listed(ids)} for {scope}. Give an id that remember() or recall() returned "
        "in this scope and that was not forgotten."
    )


def get(ports: Ports, scope: Scope, record_id: str, *, regime: Regime, now: float) -> Record:
    """One record of the scope, as strong as it is now."""
    found = look_up_one(ports, scope, record_id, now=None)
    return as_they_stand(ports, scope, [found], regime=regime, now=now)[0]


def as_they_stand(ports: Ports, scope: Scope, found: Sequence[Stored], *, regime: Regime, now: float) -> list[Record]:
    """The records, each as strong as it is now; what the ledger has not met has not begun to decay."""
    known = ports.ledger.states.known(scope, [one.stored_id for one in found])
    timeline = known.timeline.under(regime)
    return [
        replace(one.record, read=as_of(one.record.read, one.record.kind, timeline, now=now))
        if one.stored_id in known.states
        else one.record
        for one in found
    ]
