"""Which users' records are in RAM? Those looked at last, within a limit of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Generator

from adaptive_memory_core.flow.ports.ledger_copies import MirrorRows
from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.edition import Edition
from adaptive_memory_core.store.mirror.resident import Resident
from adaptive_memory_core.store.user_files.kept_copies import KeptCopies


class Residents:
    """Users' records by scope. Its own lock is held for a moment only, and never while another one is taken."""

    def __init__(
        self, rows: MirrorRows, space: str, most_bytes: int, edition: Edition, kept: KeptCopies | None = None
    ) -> None:
        self._rows, self._space, self._most, self._total = rows, space, most_bytes, 0
        self._edition, self._kept = edition, kept
        self._users: OrderedDict[Scope, tuple[Resident, int]] = OrderedDict()
        self._moment = threading.Lock()

    def __len__(self) -> int:
        return len(self._users)

    @property
    def nbytes(self) -> int:
        return self._total

    @interruptible
    def of(self, scope: Scope) -> Generator[Resident, None, None]:
        """The user's records as of now, for this thread alone."""
        with self._moment:
            resident = self._users.setdefault(scope, (Resident(self._space), 0))[0]
            self._users.move_to_end(scope)
        whole = False
        try:
            with resident.turn:
                if resident.take_in(self._rows, scope, self._kept):
                    self._edition.check()  # other vectors are news, so that nothing else need be asked
                yield resident
            whole = True
        finally:
            self._used(scope, resident, whole=whole)
        if self._kept is not None and self._kept.is_due(len(resident), resident.in_file):
            self._kept.ask(scope, resident.taken, resident.adopt)

    def size(self, scope: Scope) -> int | None:
        """How many records a user has whose records are in RAM."""
        held = self._users.get(scope)
        return None if held is None else len(held[0])

    def clear(self) -> None:
        with self._moment:
            self._users.clear()
            self._total = 0

    def _used(self, scope: Scope, resident: Resident, *, whole: bool) -> None:
        """Keep it, unless an error or an interrupt may have left half of a change in it; let go of others' where all
        are too many."""
        size = resident.nbytes if whole else 0
        with self._moment:
            held, before = self._users.get(scope, (None, 0))
            if held is not resident:  # let go of meanwhile
                return
            self._total += size - before
            self._users[scope] = (resident, size)
            if not size:
                del self._users[scope]
            while self._total > self._most and len(self._users) > 1:
                self._total -= self._users.popitem(last=False)[1][1]
