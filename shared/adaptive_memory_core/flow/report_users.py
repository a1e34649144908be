"""Who has a memory here: the users of the records and of the ledger, and how each of them is doing."""

from __future__ import annotations

from adaptive_memory_core.flow import history
from adaptive_memory_core.flow.newest_records import RECORDS_OF_A_PAGE
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.report import AT_LEAST
from adaptive_memory_core.identity import is_namespaced
from adaptive_memory_core.pages.memory_page import UsersFacts
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Stats
from adaptive_memory_core.stored_owner import SHARED, owner_of

MOST_COUNTED = 2_000  # scopes whose recalls are counted, to find those with most of them


def names(ports: Ports) -> list[str | int]:
    """All users who have records or of whom the ledger knows something, by name."""
    scopes = set(ports.ledger.removal.scopes())
    stored_ids = ports.records.ids()
    for start in range(0, len(stored_ids), RECORDS_OF_A_PAGE):
        for metadata in ports.records.metadata(stored_ids[start : start + RECORDS_OF_A_PAGE]).values():
            scopes.add(owner_of(metadata, ports.fields) or SHARED)
    found = [scope.name for scope in scopes if scope.name is not None]
    users = [one for one in found if isinstance(one, int) or not is_namespaced(one)]
    return sorted(users, key=lambda one: (isinstance(one, str), one))


def users(ports: Ports, *, most: int, regime: Regime, now: float) -> UsersFacts:
    """Those with most recalls; nothing of what they remember."""
    scopes = ports.ledger.removal.scopes()
    recalls: list[tuple[int, str, Scope]] = []
    for scope in scopes[:MOST_COUNTED]:
        tally = ports.ledger.statistics.tally(scope)
        recalls.append((-tally.recalls, str(scope), scope))
    found: list[tuple[str, Stats]] = []
    for _, name, scope in sorted(recalls, key=lambda one: one[:2])[:most]:
        stats = history.stats(ports, scope, regime=regime, at_least=AT_LEAST, now=now)
        found.append((name.removeprefix("user "), stats))
    return UsersFacts(now, found, len(scopes), ports.write_back.progress(), ports.background.stats())
