"""How does one record replace another? The old one's validity ends where the new one begins, and names it."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.derivations import sources_ended
from adaptive_memory_core.flow.look_up import look_up, not_found
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import NewRecord, Record, Scope
from adaptive_memory_core.score.gates import SUPERSEDED
from adaptive_memory_core.shown_in_errors import shown


def check_superseded(ports: Ports, scope: Scope, given: Sequence[NewRecord], named: set[str]) -> None:
    """What is superseded must exist before anything is written."""
    for one in given:
        if one.supersedes is not None and one.supersedes == one.id:
            raise InvalidInputError(f"Record {shown(one.id)} cannot supersede itself. Give the id of the older record.")
    old = list(dict.fromkeys(one.supersedes for one in given if one.supersedes is not None))
    known = look_up(ports, scope, old, now=None)
    missing = [one for one in old if one not in known and one not in named]
    if missing:
        raise not_found(scope, missing)


def supersede(ports: Ports, scope: Scope, batch: Sequence[Record], *, now: float) -> None:
    """The old records end where the new ones begin."""
    ended: dict[str, float] = {}
    for record in batch:
        ended |= _supersede(ports, scope, record, now=now)
    newer = [record.id for record in batch if record.supersedes is not None]
    sources_ended(ports, scope, ended, SUPERSEDED, but=newer)


def _supersede(ports: Ports, scope: Scope, record: Record, *, now: float) -> dict[str, float]:
    """End what it replaces; gives which one that is, and when it ends."""
    if record.supersedes is None:
        return {}
    found = look_up(ports, scope, [record.supersedes], now=now)
    old = found.get(record.supersedes)
    if old is None:
        return {}
    began = next(one for one in (record.valid_from, record.created_at, now) if one is not None)
    ends = began if old.record.valid_until is None else min(began, old.record.valid_until)
    ports.records.annotate(scope, old.stored_id, {"superseded_by": record.id, "valid_until": ends})
    return {old.record.id: began}
