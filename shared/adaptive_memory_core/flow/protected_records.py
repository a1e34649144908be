"""Which records are remembered or pinned, and what changed them? The two lists, and the audit trail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from adaptive_memory_core.flow.look_up import as_they_stand, look_up
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.identity import places_of, record_id
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.records import Record, Scope
from adaptive_memory_core.reports import Change, Sample

RECORDS_OF_A_PAGE = 1_000
Flag = Literal["remembered", "pinned"]


def kept(ports: Ports, scope: Scope, flag: Flag, *, regime: Regime, now: float) -> list[Record]:
    """The records that carry a flag, by the ledger or, where it has not met them, by their metadata."""
    known = ports.ledger.states.flagged(scope, flag)
    shown = ports.records.flagged(scope, flag)
    ids = sorted({record_id(scope, one) for one in (*known, *shown)})
    records: list[Record] = []
    for start in range(0, len(ids), RECORDS_OF_A_PAGE):
        found = look_up(ports, scope, ids[start : start + RECORDS_OF_A_PAGE], now=now)
        flagged = [one for one in found.values() if getattr(one.record.read, flag)]
        records += as_they_stand(ports, scope, flagged, regime=regime, now=now)
    return records


def changes(ports: Ports, scope: Scope, record: str | None, *, limit: int) -> Sequence[Change]:
    """The audit trail, newest first: of the whole scope, or of one record."""
    places = [] if record is None else places_of(scope, record)
    return ports.ledger.audit.changes(scope, places, limit=limit)


def history(ports: Ports, scope: Scope) -> Sequence[Sample]:
    """The samples that were taken so far, oldest first."""
    return ports.ledger.statistics.samples(scope)
