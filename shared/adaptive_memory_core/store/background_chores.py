"""Background chores: empty the write-ahead log, prune records on schedule, measure relevance floors.

A commit that finds a long log has to empty it (SQLite's automatic checkpoint), so one recall in many would wait for two
fsyncs. The background therefore empties it first, with a PASSIVE checkpoint that blocks nobody. SQLite restarts the log
only after all of it has been emptied, which never happens while others keep writing. If the log still grows, the
background briefly blocks writers and empties the rest (RESTART). A long read by another program delays both.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.cue.unrelated_questions import ENGLISH, UNRELATED_IN
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.models import EmbedderPort
from adaptive_memory_core.flow.prune import Pruning, prune
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.nothing_found import Floor
from adaptive_memory_core.score.signals import DAY
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.ledger.sql_ledger import SQLiteLedger
from adaptive_memory_core.store.process_locks import await_before_forks
from adaptive_memory_core.store.sqlite_connection import connect
from adaptive_memory_core.store.sqlite_file import LedgerFile
from adaptive_memory_core.store.sqlite_files import commits_in_index

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger
    from adaptive_memory_core.store.ledger_records import LedgerRecords

PASSIVE_PAGES, RESTART_PAGES = 1_000, 3_000
BETWEEN_SECONDS = 0.1
OTHERS_MS = 20  # to wait for writers, and then for readers while writers are blocked


def checkpoints_of(ledger: Ledger, wake: Callable[[], object]) -> tuple[Checkpoints, ...]:
    """The chore of a ledger that has a write-ahead log."""
    is_file = isinstance(ledger, SQLiteLedger) and ledger.outlives_process and not ledger.read_only
    return (Checkpoints(ledger.file, wake),) if isinstance(ledger, SQLiteLedger) and is_file else ()


class Checkpoints:
    """Empties the write-ahead log of one ledger."""

    name = "checkpoint"

    def __init__(self, file: LedgerFile, wake: Callable[[], object]) -> None:
        self._file, self._wake = file, wake
        self._grown, self._not_before = False, 0.0
        self._emptying = threading.RLock()
        await_before_forks(self._emptying)
        file.on_growth = self._notice

    def wait(self) -> float | None:
        """Seconds until the log may be checked again; None if it has not grown."""
        return max(0.0, self._not_before - time.monotonic()) if self._grown else None

    def work(self, going: Going) -> None:  # noqa: ARG002 - it takes milliseconds
        """Empty the log, except the part that a reader still needs."""
        self._not_before = time.monotonic() + BETWEEN_SECONDS
        self._grown = self._emptied() > RESTART_PAGES  # a long read held it up: check again

    def _emptied(self) -> int:
        """Empty a long log; return the number of pages that a RESTART checkpoint left, else 0."""
        place = self._file.place
        log = None if place is None else commits_in_index(place)
        if log is None or log.pages < PASSIVE_PAGES:
            return 0
        if log.pages - log.kept >= PASSIVE_PAGES:
            self._checkpoint("PASSIVE")
        return self._checkpoint("RESTART") if log.pages >= RESTART_PAGES else 0

    def _checkpoint(self, manner: str) -> int:
        """Run a checkpoint on a separate connection; return the log's pages if some are left, else 0."""
        with self._emptying, closing(connect(self._file.path)) as own:
            own.execute(f"PRAGMA busy_timeout = {OTHERS_MS}")
            _, pages, kept = own.execute(f"PRAGMA wal_checkpoint({manner})").fetchone()
        return int(pages) if kept < pages else 0

    def _notice(self) -> None:
        self._grown = True
        self._wake()


BY = "schedule"  # in the audit trail
HOUR = 3_600.0
FIRST_AFTER_SECONDS = 60.0  # after opening, so that a short-lived process starts no pass; guess
AT_ONCE = 1_000  # records of one user between two checks of `going`


class ScheduledPruning:
    """Prunes all users' records from time to time, but not everyone's: reads of those are counted for their readers."""

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
        """Prune all users once. If it is stopped, the next pass prunes the rest."""
        users: Sequence[Scope] = self._ports().ledger.removal.scopes()
        for scope in users:
            while scope.user is not None and going() and not self._pruned(scope):
                """Continue with this user's next records."""
        self._next = time.monotonic() + self._seconds

    def _pruned(self, scope: Scope) -> bool:
        """Prune some of a user's records; return whether none are left to prune."""
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
        receipt = prune(self._ports(), call)
        return receipt.complete or not receipt.ids


GROWTH = 1.25  # factor of growth or shrinkage after which a floor is measured again; guess
COUNTED_SECONDS = 600.0  # between counts of a scope's records if this process wrote nothing
_OURS = frozenset(one for questions in UNRELATED_IN.values() for one in questions)
Measure = Callable[[Scope, Policy, str, Going], object]


class RememberingEmbedder:
    """An embedder that caches the vectors of the built-in questions, because each scope is asked the same ones."""

    can_wait = False
    can_wait_for_documents = False

    def __init__(self, embedder: EmbedderPort) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Any] = {}

    def embed_query(self, text: str) -> Any:
        vector = self._vectors.get(text)
        if vector is None:
            vector = self._embedder.embed_query(text)
            if text in _OURS:
                self._vectors[text] = vector
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Any]:
        return self._embedder.embed_documents(texts)

    async def aembed_query(self, text: str) -> Any:
        return self.embed_query(text)

    async def aembed_documents(self, texts: Sequence[str]) -> Sequence[Any]:
        return self.embed_documents(texts)


class FloorKeeper:
    """Measures relevance floors in the background, from what unrelated questions find."""

    name = "relevance floors"

    def __init__(
        self,
        embedder: EmbedderPort,
        embedder_name: str,
        store: LedgerRecords,
        measure: Measure,
        wake: Callable[[], object],
    ) -> None:
        self._name, self._store = embedder_name, store
        self._measure, self._wake = measure, wake
        self.embedder = RememberingEmbedder(embedder)
        self._looked: dict[tuple[Scope, str], float] = {}
        self._wanted: deque[tuple[Scope, Policy, str, Floor | None]] = deque()
        self._turn = threading.Lock()

    def manner(self, policy: Policy, language: str = ENGLISH) -> str:
        """The key of a floor within its scope: another embedder, other channel weights or another question language
        need a separate floor."""
        asked = f"|{language}" if language else ""
        if policy.ways == ("dense",):
            return f"{self._name}|dense{asked}"
        weights = repr((policy.advanced.fusion, sorted(policy.own_weights.items()))).encode()
        channels = "+".join(sorted(policy.ways))
        return f"{self._name}|{channels}|{hashlib.blake2b(weights, digest_size=8).hexdigest()}{asked}"

    def want(self, scope: Scope, policy: Policy, known: Floor | None, language: str = ENGLISH) -> None:
        """Schedule a check that this floor exists and is up to date; return at once."""
        key, now = (scope, self.manner(policy, language)), time.monotonic()
        with self._turn:
            if now - self._looked.get(key, -COUNTED_SECONDS) < COUNTED_SECONDS:
                return
            self._looked[key] = now
            self._wanted.append((scope, policy, language, known))
        self._wake()

    def wrote(self, scope: Scope) -> None:
        """Note that the scope may have grown, so that its next recall schedules a check."""
        with self._turn:
            for key in [one for one in self._looked if scope.own in one[0].parts]:
                del self._looked[key]

    def wait(self) -> float | None:
        return 0.0 if self._wanted else None

    def work(self, going: Going) -> None:
        """Check the floor that was requested first. If it cannot be measured, it is tried again at the next request."""
        scope, policy, language, known = self._wanted.popleft()
        records = self._store.count(scope)
        if known is not None and known.records <= GROWTH * records and records <= GROWTH * known.records:
            return
        if records:
            self._measure(scope, policy, language, going)
