"""What happened in a scope so far? Its log of recalls and its statistics."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.unknown_to_ledger import unmet
from adaptive_memory_core.learn.verdicts import earned_share
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import LoggedRecall, Stats


def stats(ports: Ports, scope: Scope, *, regime: Regime, at_least: float, now: float) -> Stats:
    """The scope in numbers; of records that the ledger has not met, what their metadata say."""
    records = ports.records.count(scope)
    tally = ports.ledger.statistics.tally(scope)
    strangers = unmet(ports, scope) if records > tally.met else {}
    states = [one.state for one in strangers.values()]
    strengths = ports.ledger.statistics.strengths(scope, regime, at_least=at_least, unmet=states, now=now)
    return Stats(
        records=records,
        recalls=tally.recalls,
        reads=tally.reads + sum(one.retrieval_count for one in states),
        read_records=tally.read_records + sum(one.retrieval_count > 0 for one in states),
        remembered=tally.remembered + sum(one.remembered for one in states),
        pinned=tally.pinned + sum(one.pinned for one in states),
        verdicts=tally.verdicts,
        logged_recalls=tally.logged_recalls,
        strengths=strengths,
        update_ms=median(tally.update_ms) if tally.update_ms else None,
        projection=ports.write_back.stats(scope).pending_for(tally.pending),
        useful_gain=earned_share(tally.balance),
        background=ports.background.stats(),
    )


def recalls(
    ports: Ports,
    scope: Scope,
    *,
    kept_since: float,
    since: float | None,
    until: float | None,
    limit: int,
    containing: str | None,
    turn: str | None,
) -> Sequence[LoggedRecall]:
    """Past recalls of the scope, newest first. What is beyond the retention is not shown, also where it has not gone
    yet: the ledger lets go of it once more than one reading of the clock says so."""
    tried(LedgerError, ports.write_back.tidy, at_once=False)
    first = kept_since if since is None else max(kept_since, since)
    return ports.ledger.log.recalls(scope, since=first, until=until, limit=limit, containing=containing, turn=turn)
