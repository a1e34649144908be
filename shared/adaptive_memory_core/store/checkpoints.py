"""When does what stands in the write-ahead log go into the ledger's file? In the background, before a commit has to.

A commit that finds the log long has to empty it (SQLite's automatic checkpoint): a recall in so many then waits for two
fsyncs. So the background does it first (PASSIVE, which nobody waits for). SQLite begins the log anew only where all of
it has been emptied, which never happens while others go on writing; where it grows all the same, the background keeps
writers out for the moment that the rest takes (RESTART). A program in the midst of a long read holds up both.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing

from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.fork_guard import await_before_forks
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.store.lost_commits import said_by_index
from adaptive_memory_core.store.sqlite_connection import connect
from adaptive_memory_core.store.sqlite_file import LedgerFile

PASSIVE_PAGES, RESTART_PAGES = 1_000, 3_000
BETWEEN_SECONDS = 0.1
OTHERS_MS = 20  # that it waits for writers, and then, with writers kept out, for readers


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
        """Until the log may be looked at again, where it has grown."""
        return max(0.0, self._not_before - time.monotonic()) if self._grown else None

    def work(self, going: Going) -> None:  # noqa: ARG002 - it is a matter of milliseconds
        """Empty the log as far as nobody reads it."""
        self._not_before = time.monotonic() + BETWEEN_SECONDS
        self._grown = self._emptied() > RESTART_PAGES  # then somebody reads for long: look again

    def _emptied(self) -> int:
        """The pages that the log has."""
        place = self._file.place
        log = None if place is None else said_by_index(place)
        if log is None or log.pages < PASSIVE_PAGES:
            return 0
        if log.pages - log.kept >= PASSIVE_PAGES:
            self._checkpoint("PASSIVE")
        return self._checkpoint("RESTART") if log.pages >= RESTART_PAGES else 0

    def _checkpoint(self, manner: str) -> int:
        """By a connection of its own; gives how many pages the log has left to be emptied."""
        with self._emptying, closing(connect(self._file.path)) as own:
            own.execute(f"PRAGMA busy_timeout = {OTHERS_MS}")
            _, pages, kept = own.execute(f"PRAGMA wal_checkpoint({manner})").fetchone()
        return int(pages) if kept < pages else 0

    def _notice(self) -> None:
        self._grown = True
        self._wake()
