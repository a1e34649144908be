"""What happened so far? Statistics and the log of one scope."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.drive import Flow, ask, attempt
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.pace import Pace
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import LoggedRecall, Stats


def stats(ports: Ports, scope: Scope, *, pace: Pace, at_least: float, now: float) -> Flow[Stats]:
    """The scope in numbers."""
    records = yield from ask(ports.store.count, scope)
    tally = yield from ask(ports.ledger.tally, scope)
    strengths = yield from ask(ports.ledger.strengths, scope, pace, at_least=at_least, records=records, now=now)
    projection = ports.projector.stats()
    return Stats(
        records=records,
        recalls=tally.recalls,
        reads=tally.reads,
        read_records=tally.read_records,
        remembered=tally.remembered,
        pinned=tally.pinned,
        verdicts=tally.verdicts,
        logged_recalls=tally.logged_recalls,
        strengths=strengths,
        update_ms=median(tally.update_ms) if tally.update_ms else None,
        projection=projection.pending_for(tally.pending),
    )


def recalls(
    ports: Ports, scope: Scope, *, since: float | None, until: float | None, limit: int, containing: str | None
) -> Flow[Sequence[LoggedRecall]]:
    """Past recalls of the scope, newest first; what is beyond the retention goes before anyone sees it."""
    yield from attempt(LedgerError, ports.projector.tidy)
    return (yield from ask(ports.ledger.log, scope, since=since, until=until, limit=limit, containing=containing))
