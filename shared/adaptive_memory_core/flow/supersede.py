"""Records that supersede others, and derived records, which end when their sources end.

A derived record lists its sources in its metadata. Like a superseded record, it ends by its `valid_until`, so that
every recall, copy and filter sees it; `derived_stale` contains the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.look_up import look_up, not_found
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import NewRecord, Record, Scope
from adaptive_memory_core.score.ranking import CHANGED, FORGOTTEN, SUPERSEDED
from adaptive_memory_core.sources.read_state import derivations_in, ended_for, sources_ended


def source_ids(records: Iterable[NewRecord | Record]) -> list[str]:
    """The source ids of these records, without duplicates."""
    return list(dict.fromkeys(source for one in records for source in one.derived_from))


def check_sources(ports: Ports, scope: Scope, given: Sequence[NewRecord], *, must_exist: bool) -> None:
    """Raise an error if a record is derived from itself or, with `must_exist`, from a record that does not exist."""
    for one in given:
        if one.id is not None and one.id in one.derived_from:
            raise InvalidInputError(
                f"Record {shown(one.id)} cannot be derived from itself. Take its id out of derived_from."
            )
    wanted = source_ids(given) if must_exist else []
    known = look_up(ports, scope, wanted, now=None)
    missing = [one for one in wanted if one not in known]
    if missing:
        raise not_found(scope, missing)


def born_stale(ports: Ports, scope: Scope, batch: Sequence[Record], *, now: float) -> Sequence[Record]:
    """The records to write: a record with a source that has already ended is stale from the beginning."""
    wanted = source_ids(batch)
    if not wanted:
        return batch
    found = look_up(ports, scope, wanted, now=now)
    ended = {one: stored.record for one, stored in found.items() if _has_ended(stored.record)}
    return [_as_of_sources(one, ended_for(one, ended), now=now) for one in batch]


def sources_hold_again(ports: Ports, scope: Scope, ids: Sequence[str], *, ended: float | None) -> None:
    """Update records derived from these ids, whose successor was removed: they are valid again, or valid until another
    of their sources ended."""
    if not ids or ended is None:
        return
    made = derivations_in(ports, scope)
    reached = made.below(dict.fromkeys(ids, ended))
    wanted = source_ids([made.records[one] for one in reached])
    found = look_up(ports, scope, wanted, now=None)
    still_ended = {one: was.record for one, was in found.items() if one not in ids and _has_ended(was.record)}
    again = made.valid_again(reached, still_ended)
    changes: dict[str, dict[str, Any]] = {}
    for stored_id in reached:
        record = made.records[stored_id]
        later = _longer(record, ended, [] if stored_id in again else ended_for(record, still_ended))
        if stored_id in again or later != record:
            changes[stored_id] = {
                ports.fields.derived_stale: later.derived_stale,
                ports.fields.valid_until: later.valid_until,
            }
        if record.id in still_ended:
            still_ended[record.id] = later
    if changes:
        ports.records.update_metadata(changes)


def _has_ended(record: Record) -> bool:
    """Whether a source no longer counts: it was superseded or is stale. A source that only expired still counts."""
    return record.superseded_by is not None or record.derived_stale is not None


def _as_of_sources(record: Record, ended: Sequence[Record], *, now: float) -> Record:
    if not ended:
        return record
    ends = [now if one.valid_until is None else one.valid_until for one in (record, *ended)]
    return replace(record, derived_stale=SUPERSEDED, valid_until=min(ends))


def _longer(record: Record, ended: float, others: Sequence[Record]) -> Record:
    """The record without the end that a removed successor caused at `ended`: it ends with the first of the others."""
    if record.derived_stale in (FORGOTTEN, CHANGED):
        return record
    ends = [one.valid_until for one in others if one.valid_until is not None]
    until = min(ends, default=None) if record.valid_until == ended else record.valid_until
    return replace(record, derived_stale=SUPERSEDED if others else None, valid_until=until)


def check_superseded(ports: Ports, scope: Scope, given: Sequence[NewRecord], named: set[str]) -> None:
    """Raise an error if a superseded record does not exist; this is checked before anything is written."""
    for one in given:
        if one.supersedes is not None and one.supersedes == one.id:
            raise InvalidInputError(f"Record {shown(one.id)} cannot supersede itself. Give the id of the older record.")
    old = list(dict.fromkeys(one.supersedes for one in given if one.supersedes is not None))
    known = look_up(ports, scope, old, now=None)
    missing = [one for one in old if one not in known and one not in named]
    if missing:
        raise not_found(scope, missing)


def supersede(ports: Ports, scope: Scope, batch: Sequence[Record], *, now: float) -> None:
    """End the superseded records at the time when the new ones begin."""
    ended: dict[str, float] = {}
    for record in batch:
        ended |= _supersede(ports, scope, record, now=now)
    newer = [record.id for record in batch if record.supersedes is not None]
    sources_ended(ports, scope, ended, SUPERSEDED, but=newer)


def _supersede(ports: Ports, scope: Scope, record: Record, *, now: float) -> dict[str, float]:
    """End the record that this one supersedes; return its id and when the new one begins."""
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
