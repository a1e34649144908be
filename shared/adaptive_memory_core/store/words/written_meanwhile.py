"""What has this process written while others' writing is compared? That is newer than what the comparison reads."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable

from adaptive_memory_core.interrupts import interruptible


class WrittenMeanwhile:
    """The ids of records. Its lock is taken last, and for no longer than it takes."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._comparing: set[object] = set()  # those who compare just now
        self._ours: set[str] | None = None

    @interruptible
    def comparing(self) -> Generator[None, None, None]:
        """Note what this process writes."""
        comparison = object()
        try:
            with self._turn:
                self._comparing.add(comparison)
                self._ours = set() if self._ours is None else self._ours
            yield
        finally:
            try:
                self._compared(comparison)
            finally:
                self._compared(comparison)  # again, where an interrupt broke that off

    def ours(self, stored_ids: Iterable[str]) -> None:
        """This process writes these; told within the ledger's transaction as well."""
        with self._turn:
            if self._ours is not None:
                self._ours.update(stored_ids)

    def of_others(self, stored_ids: Iterable[str]) -> list[str]:
        """Those that it has not written."""
        with self._turn:
            return [one for one in stored_ids if self._ours is None or one not in self._ours]

    def _compared(self, comparison: object) -> None:
        with self._turn:
            self._comparing.discard(comparison)
            self._ours = self._ours if self._comparing else None
