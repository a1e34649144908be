"""Who has a memory here, and how is each doing? The numbers of the scopes that the ledger has met, bounded."""

from __future__ import annotations

from adaptive_memory_core.flow import history
from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.report import AT_LEAST
from adaptive_memory_core.pages.memory.users import UsersFacts
from adaptive_memory_core.policy.decay import Regime
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Stats

MOST_COUNTED = 2_000  # scopes whose recalls are counted, to find those with most of them


def users(ports: Ports, *, most: int, regime: Regime, now: float) -> Flow[UsersFacts]:
    """Those with most recalls; nothing of what they remember."""
    scopes = yield from ask(ports.ledger.removal.scopes)
    recalls: list[tuple[int, str, Scope]] = []
    for scope in scopes[:MOST_COUNTED]:
        tally = yield from ask(ports.ledger.statistics.tally, scope)
        recalls.append((-tally.recalls, str(scope), scope))
    found: list[tuple[str, Stats]] = []
    for _, name, scope in sorted(recalls, key=lambda one: one[:2])[:most]:
        stats = yield from history.stats(ports, scope, regime=regime, at_least=AT_LEAST, now=now)
        found.append((name.removeprefix("user "), stats))
    return UsersFacts(now, found, len(scopes), ports.write_back.progress(), ports.background.stats())
