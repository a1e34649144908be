"""How does the holder of a collection know that it has guests? Each says from time to time that it is there."""

from __future__ import annotations

import time

from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.guests import VISIT_SECONDS


class Visits:
    """A chore of a guest."""

    name = "visits"

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._next = time.monotonic() + VISIT_SECONDS  # it has said so on opening

    def wait(self) -> float | None:
        return max(0.0, self._next - time.monotonic())

    def work(self, _going: Going) -> None:
        """Say so."""
        self._next = time.monotonic() + VISIT_SECONDS
        self._ledger.sharing.visit()
