"""How does one record replace another? The old one's validity ends where the new one begins, and names it."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.errors import AdaptiveMemoryError, InvalidInputError
from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.derived_records import sources_ended
from adaptive_memory_core.flow.look_up import look_up, not_found
from adaptive_memory_core.flow.ports import Ports, Stored
from adaptive_memory_core.flow.take_back import begins, take_back
from adaptive_memory_core.records import NewRecord, Record, Scope
from adaptive_memory_core.score.gates import SUPERSEDED
from adaptive_memory_core.shown_in_errors import shown


def check_superseded(ports: Ports, scope: Scope, given: Sequence[NewRecord], named: set[str]) -> Flow[None]:
    """What is superseded must exist before anything is written."""
    for one in given:
        if one.supersedes is not None and one.supersedes == one.id:
            raise InvalidInputError(f"Record {shown(one.id)} cannot supersede itself. Give the id of the older record.")
    old = list(dict.fromkeys(one.supersedes for one in given if one.supersedes is not None))
    known = yield from look_up(ports, scope, old, now=None)
    missing = [one for one in old if one not in known and one not in named]
    if missing:
        raise not_found(scope, missing)


def supersede(
    ports: Ports, scope: Scope, batch: Sequence[Record], added: Sequence[Stored], *, now: float
) -> Flow[None]:
    """The old records end where the new ones begin. If that fails, what was `added` is taken out again: a caller who
    then remembers it once more would have it twice."""
    try:
        ended: dict[str, float] = {}
        for record in batch:
            ended |= yield from _supersede(ports, scope, record, now=now)
        newer = [record.id for record in batch if record.supersedes is not None]
        yield from sources_ended(ports, scope, ended, SUPERSEDED, but=newer)
    except AdaptiveMemoryError:
        yield from take_back(ports, scope, added, now=now)
        raise


def _supersede(ports: Ports, scope: Scope, record: Record, *, now: float) -> Flow[dict[str, float]]:
    """End what it replaces; gives which one that is, and when it ends."""
    if record.supersedes is None:
        return {}
    found = yield from look_up(ports, scope, [record.supersedes], now=now)
    old = found.get(record.supersedes)
    if old is None:
        return {}
    began = begins(record, now=now)
    ends = began if old.record.valid_until is None else min(began, old.record.valid_until)
    yield from ask(ports.records.annotate, scope, old.stored_id, {"superseded_by": record.id, "valid_until": ends})
    return {old.record.id: began}
