"""When are records pruned by themselves? In passes of the background, where `Keeping` says so; by default never."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from adaptive_memory_core.flow.calls.drive import run
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.prune import Pruning, prune
from adaptive_memory_core.policy.decay import Regime
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.signals import DAY
from adaptive_memory_core.store.background import Going

BY = "schedule"  # in the audit trail
HOUR = 3_600.0
FIRST_AFTER_SECONDS = 60.0  # of opening, so that a process that only looks in does not begin a pass; guess
AT_ONCE = 1_000  # records of one user, until it is asked whether to go on


class ScheduledPruning:
    """Goes through all users from time to time. Everyone's records stay: their readers' reads are not their own."""

    name = "pruning"

    def __init__(
        self, keeping: Keeping, regime: Callable[[], Regime], now: Callable[[], float], ports: Callable[[], Ports]
    ) -> None:
        self._keeping, self._regime, self._now, self._ports = keeping, regime, now, ports
        self._seconds = HOUR * keeping.prune_hours
        self._next = time.monotonic() + min(FIRST_AFTER_SECONDS, self._seconds)

    def wait(self) -> float | None:
        return max(0.0, self._next - time.monotonic()) if self._keeping.prunes else None

    def work(self, going: Going) -> None:
        """One pass; what a stop leaves over comes with the next one."""
        users: Sequence[Scope] = self._ports().ledger.removal.scopes()
        for scope in users:
            while scope.user is not None and going() and not self._pruned(scope):
                """On with the next ones of this user."""
        self._next = time.monotonic() + self._seconds

    def _pruned(self, scope: Scope) -> bool:
        """Let go of some of a user's records; gives whether those were the last."""
        keeping, now = self._keeping, self._now()
        call = Pruning(
            scope=scope,
            below=keeping.prune_below or None,
            unread_since=now - DAY * keeping.prune_unread_days if keeping.prune_unread_days else None,
            most=keeping.prune_max_records or None,
            limit=AT_ONCE,
            dry_run=False,
            archive=None,
            by=BY,
            regime=self._regime(),
            now=now,
        )
        receipt = run(prune(self._ports(), call))
        return receipt.complete or not receipt.ids
