"""What did a user know on an earlier day? Later records are refused, and read states are those of then."""

from __future__ import annotations

import math
from dataclasses import replace

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.request import Refuse, Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.learn.verdicts import StateHistory
from adaptive_memory_core.records import Record
from adaptive_memory_core.reports import Change, LoggedRecall
from adaptive_memory_core.score.refusals import LATER, is_later

MOST_LINES = 100_000  # of the log and of the audit trail that are gone through
NO_LOG = "reads, verdicts and pins count as of now, not as of then: this memory keeps no log"
STRENGTHS = "strengths count as of now, not as of then"


def as_of_day(ports: Ports, request: Request) -> Request:
    """The request as it would have been made on that day. Where the log does not allow it, a note says so."""
    at = request.as_of
    if at is None:
        return request
    asked = replace(request, refuse=_not_later(request.refuse, at))
    notes = [] if request.policy.pace.still else [STRENGTHS]
    if not ports.log:
        return replace(asked, notes=(*request.notes, *notes, NO_LOG))
    outcome = tried(LedgerError, _past, ports, request, at)
    if outcome.value is None:
        notes.append(f"reads, verdicts and pins count as of now, not as of then: {outcome.error}")
        return replace(asked, notes=(*request.notes, *notes))
    past, logged = outcome.value
    if logged < past.step:
        notes.append(
            f"the log holds {logged} of the {past.step} recalls up to that day: what the others read is not known"
        )
    return replace(asked, past=past, notes=(*request.notes, *notes))


def _past(ports: Ports, request: Request, at: float) -> tuple[StateHistory, int]:
    """The reads and changes up to that day, and how many of the recalls up to then the log still holds."""
    ledger, scope = ports.ledger, request.scope
    lines = _logged(ports, request, since=None, until=at)
    reads: dict[str, list[float]] = {}
    for line in reversed(lines):
        for one in line.kept:
            reads.setdefault(one.id, []).append(line.at)
    changes: dict[str, list[Change]] = {}
    for change in reversed(ledger.audit.changes(scope, (), limit=MOST_LINES)):
        changes.setdefault(change.id, []).append(change)
    steps = {line.step for line in lines}
    step = max(steps, default=0)
    if len(steps) < step:  # some are lost, or looked back from a later day, after the first recall of that one
        later = _logged(ports, request, since=math.nextafter(at, math.inf), until=None)
        step = min(step, min((line.step for line in later), default=step + 1) - 1)
    return StateHistory(at, step, reads, changes), sum(one <= step for one in steps)


def _logged(ports: Ports, request: Request, *, since: float | None, until: float | None) -> list[LoggedRecall]:
    return ports.ledger.log.recalls(request.scope, since=since, until=until, limit=MOST_LINES, containing=None)


def _not_later(own: Refuse | None, at: float) -> Refuse:
    """What the caller refuses, and then what was not there yet; of an unknown time is what was there."""

    def refuse(record: Record) -> str | None:
        return (None if own is None else own(record)) or (LATER if is_later(record, at) else None)

    return refuse
