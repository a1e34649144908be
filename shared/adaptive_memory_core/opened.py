"""What does an open memory hold, and how is it released? Kept apart from the memory, so that that may be dropped."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.foreign_calls import Theirs, UnansweredBy
from adaptive_memory_core.flow.calls.patience import patient
from adaptive_memory_core.flow.calls.under_way import CallsUnderWay, CountingExecutor
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.models.reranker import Reranker, as_reranker
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.policy_in_force import PolicyInForce
from adaptive_memory_core.records import Fields
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store.background import Background
from adaptive_memory_core.store.words.up_to_date import UpToDateWords
from adaptive_memory_core.store.write_back import WriteBack

THREADS = 8  # of the async twins
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Opened:
    """The parts that are open, from the ledger to the lock on the directory. Closed once, by whoever comes first.

    `handles` lets go of files, the client and the directory's lock, the last that was opened first.
    """

    ports: Ports
    in_force: PolicyInForce
    fields: Fields
    keeping: Keeping
    embedder_name: str
    write_back: WriteBack
    words: UpToDateWords
    background: Background
    whole: Callable[..., Sequence[Finding]]  # looks through everything there is, with repair= or without
    handles: ExitStack
    reranker: Reranker | None
    reranking: UnansweredBy = field(default_factory=UnansweredBy)
    calls: CallsUnderWay = field(default_factory=CallsUnderWay)
    _executor: CountingExecutor | None = None
    _closing: threading.Lock = field(default_factory=threading.Lock)
    closed: bool = False

    def change_policy(self, policy: Policy) -> None:
        """Rank by this from now on."""
        self.in_force.change(policy)
        self.expect_words()

    def expect_words(self) -> None:
        """Index words as they are written, not when they are first asked for, where this memory finds by them."""
        if "lexical" in self.in_force.policy.suited(self.embedder_name).channels:
            self.words.expect()

    def reranker_of(self, given: Reranker | None) -> Theirs | None:
        """What a call brings, else the memory's own."""
        wanted = self.reranker if given is None else given
        return None if wanted is None else Theirs(as_reranker(wanted), self.reranking.of(wanted))

    @interruptible
    def call(self) -> Generator[None, None, None]:
        """A call from its begin to its end, which waits for others no longer than it may in all."""
        with self.calls.one_more(), self.waits():
            yield

    def waits(self) -> AbstractContextManager[None]:
        """The patience of a call."""
        return patient(self.keeping.wait_seconds)

    @property
    def executor(self) -> Executor:
        """The threads that the async twins do their I/O in."""
        with self._closing:
            if self._executor is None:
                self._executor = CountingExecutor(THREADS, self.calls)
            return self._executor

    def close(self) -> None:
        """Let the calls under way end, write back what is due, and let go of everything."""
        self._close(warn)

    def let_go(self) -> None:
        """The same for a memory that was dropped; there is nobody to warn."""
        self._close(lambda text: _log.warning("%s", text))

    def _close(self, say: Callable[[str], None]) -> None:
        with self._closing:
            if self.closed:
                return
            self.closed = True
        self.calls.end()
        self.background.stop()
        try:
            self._write_back_the_last(say)
        finally:
            if self._executor is not None:
                self._executor.shutdown(wait=True)
            self.handles.close()

    def _write_back_the_last(self, say: Callable[[str], None]) -> None:
        try:
            self.write_back.flush()
            self.write_back.tidy()
        except AdaptiveMemoryError as error:
            say(
                f"Not everything could be written back into the collection: {error} It waits in the ledger and is "
                "written when this memory is opened again."
            )


def warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=6)
