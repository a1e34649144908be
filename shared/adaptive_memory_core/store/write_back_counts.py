"""How much was written back for each scope? Counts by scope, so that none shows what others do."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping

from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import ProjectionStats, WriteBackProgress

MOST_SCOPES = 10_000  # scopes that are counted for; those that were not written for the longest begin anew


class WriteBackCounts:
    """What the write-back did for each scope since the memory was opened, and how often it failed as a whole.

    >>> counts = WriteBackCounts()
    >>> counts.add("written", [Scope("alice"), Scope("alice")])
    >>> counts.of(Scope("alice")).written, counts.of(Scope("bob")).written
    (2, 0)
    """

    def __init__(self) -> None:
        self._of: OrderedDict[Scope, Counter[str]] = OrderedDict()
        self._all: Counter[str] = Counter()
        self._failures = 0
        self._last_error: str | None = None

    @property
    def failures(self) -> int:
        return self._failures

    def add(self, what: str, scopes: Iterable[Scope]) -> None:
        """Once more for each of these scopes."""
        for scope in scopes:
            self._of.setdefault(scope, Counter())[what] += 1
            self._all[what] += 1
            self._of.move_to_end(scope)
        while len(self._of) > MOST_SCOPES:
            self._of.popitem(last=False)

    def failed(self, error: Exception) -> None:
        self._failures, self._last_error = self._failures + 1, type(error).__name__

    def progress(self, *, waiting: int, waited_seconds: float) -> WriteBackProgress:
        """How far it is for all scopes."""
        done = self._all
        return WriteBackProgress(waiting, waited_seconds, done["written"], done["vanished"], done["conflicts"])

    def of(self, scope: Scope) -> ProjectionStats:
        """How far it is for this scope."""
        own: Mapping[str, int] = self._of.get(scope, {})
        return ProjectionStats(
            written=own.get("written", 0),
            vanished=own.get("vanished", 0),
            conflicts=own.get("conflicts", 0),
            failures=self._failures,
            last_error=self._last_error,
        )
