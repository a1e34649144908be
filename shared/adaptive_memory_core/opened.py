"""An opened memory: its parts, its calls, and its end."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from adaptive_memory_core import error_messages
from adaptive_memory_core.errors import (
    AdaptiveMemoryError,
    ClosedError,
    EmbedderMismatchError,
)
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls import running_calls
from adaptive_memory_core.flow.calls.foreign_calls import Theirs, UnansweredBy
from adaptive_memory_core.flow.calls.running_calls import CLOSED, INHERITED, CallGate
from adaptive_memory_core.flow.calls.workers import Workers
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.models import Telemetry
from adaptive_memory_core.in_force import PolicyInForce
from adaptive_memory_core.models.callbacks import Reranker, as_reranker
from adaptive_memory_core.models.judges import Judge
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import CheckReport, Finding
from adaptive_memory_core.store.background import Background, Chore
from adaptive_memory_core.store.graph.graph_index import GraphIndex
from adaptive_memory_core.store.hierarchy.hierarchy_index import HierarchyIndex
from adaptive_memory_core.store.words.word_index import WordIndex

THREADS = 8  # for the async methods
NOT_PICKLED = (
    "A memory cannot be pickled: it holds an open ledger and a lock. Open it in the process that uses it, e.g. "
    "AdaptiveMemory.open('./memory')."
)
WAITS = "It waits in the ledger and is written when this memory is opened again."
NOT_ALL_WRITTEN = f"Not everything could be written back into the collection. {WAITS} The error"
_log = logging.getLogger(__name__)
_all: weakref.WeakSet[Opened] = weakref.WeakSet()


@dataclass(frozen=True)
class Parts:
    """The functions that a memory calls. They change when a process takes over a collection from another process."""

    ports: Ports
    words: WordIndex
    graph: GraphIndex
    hierarchy: HierarchyIndex
    chores: Sequence[Chore]
    whole: Callable[..., Sequence[Finding]]  # checks everything, optionally with repair=
    sync: Callable[[], object]  # imports other programs' writes to the collection
    finish: Callable[[], object]  # writes back what is pending, if this process is the one to do it
    reembed: Callable[..., int]  # embeds all records again: takes the opened memory, an embedder and progress


@dataclass(eq=False)
class Opened:
    """The open parts of a memory, from the ledger to the lock on the directory. The first call of `close` closes them.

    `handles` releases files, the client and the directory's lock, last opened first.
    """

    parts: Parts
    in_force: PolicyInForce
    fields: Fields
    keeping: Keeping
    embedder_name: str
    background: Background
    handles: ExitStack
    reranker: Theirs | None
    same_fact: Theirs | None
    reader: Theirs | None
    judge: Judge | None
    telemetry: Telemetry | None
    reranking: UnansweredBy = field(default_factory=UnansweredBy)
    calls: CallGate = field(default_factory=CallGate)
    closed: bool = False
    _workers: Workers | None = None
    _making: threading.Lock = field(default_factory=threading.Lock)
    _closing: threading.Lock = field(default_factory=threading.Lock)
    _finished: bool = False
    _pid: int = field(default_factory=os.getpid)

    def __post_init__(self) -> None:
        _all.add(self)

    def begin(self) -> None:
        """Start the background tasks."""
        self.expect_words()
        self.background.start(self.parts.chores, self.release)

    def change_parts(self, parts: Parts, embedder_name: str | None = None) -> None:
        """Use these parts from now on; running calls finish with the old parts."""
        self.parts = parts
        self.embedder_name = self.embedder_name if embedder_name is None else embedder_name
        self.expect_words()
        self.background.change(parts.chores)

    def change_policy(self, policy: Policy) -> None:
        """Rank by this policy from now on."""
        self.in_force.change(policy)
        self.expect_words()

    def expect_words(self) -> None:
        """Index words and names on writing if this memory's policy uses them, otherwise on their first use."""
        policy = self.in_force.policy.suited()
        channels = policy.channels
        if "lexical" in channels or "graph" in channels:
            self.parts.words.expect()
        if "graph" in channels and policy.advanced.graph.asks != "linked":
            self.parts.graph.expect()
        if "graph" in channels and policy.advanced.graph.names_alike > 0.0:
            self.parts.graph.compare_names()
        if "graph" in channels and policy.advanced.graph.form == "paper":
            self.parts.graph.embed_sentences()

    def check_scope(self, scope: Scope) -> None:
        """Raise if the ledger's role may not serve this user, for ledgers with such limits."""
        check: Callable[[Scope], None] | None = getattr(self.parts.ports.ledger, "check_scope", None)
        if check is not None:
            check(scope)

    def reranker_of(self, given: Reranker) -> Theirs:
        """The reranker that a call was given."""
        return Theirs(as_reranker(given), self.reranking.of(given))

    @contextmanager
    def call(self) -> Generator[None, None, None]:
        """Run a call, with a limit on its total waiting time."""
        with running_calls.one_call(self.keeping.wait_seconds):
            call = object()
            try:
                self.calls.begin(call)
                yield
            finally:
                self.calls.over(call)

    @property
    def workers(self) -> Workers:
        """The threads for the async methods."""
        self.checked_ports()
        with self._making:
            if self._workers is None:
                self._workers = Workers(THREADS, self.calls.paused)
            return self._workers

    def checked_ports(self) -> Ports:
        """The ports that the verbs use. Raises ClosedError if the memory was closed or belongs to another process."""
        if self.closed:
            raise ClosedError(CLOSED)
        if self._pid != os.getpid():
            raise ClosedError(INHERITED)
        return self.parts.ports

    @property
    def usable(self) -> bool:
        """Whether the memory is open and belongs to this process."""
        return not self.closed and self._pid == os.getpid()

    def check(self, *, repair: bool) -> CheckReport:
        """Check all parts for faults, and optionally repair them."""
        with self.call():
            parts = self.parts
            found = tuple(parts.whole(repair=repair))
            own = (*parts.graph.check(repair=repair), *parts.hierarchy.check(repair=repair))
            return CheckReport(found or own)

    def flush(self) -> None:
        """Write back everything that is pending."""
        with self.call():
            write_back = self.parts.ports.write_back
            write_back.flush()
            write_back.tidy()

    def reembed(self, embedder: object, progress: Callable[[int, int], object] | None) -> int:
        """Give all records vectors of this embedder, and return the number of records."""
        with self.call():
            return self.parts.reembed(self, embedder, progress)

    def sync(self) -> None:
        """Import other programs' writes to the collection."""
        with self.call():
            parts = self.parts
            parts.sync()
            parts.words.sync()  # after the comparison above, which finds overwritten records
            parts.graph.sync()
            parts.hierarchy.sync()

    def close(self) -> None:
        """Wait for the calls in progress, write back what is due, and release everything; in a fork, do nothing."""
        if self._pid == os.getpid():
            with self._closing:
                self._finish(warn_not_written_back)

    def release(self) -> None:
        """Close a memory that was dropped, in its own thread, with a log entry instead of a warning."""
        if self._closing.acquire(blocking=False):  # otherwise the closing thread is waiting for this thread
            try:
                self._finish(lambda error: error_messages.log_warning(_log, NOT_ALL_WRITTEN, error))
            finally:
                self._closing.release()

    def _finish(self, say: Callable[[Exception], None]) -> None:
        """Close everything. Each step can be repeated, because an interrupt may come between two steps."""
        if self._finished:
            return
        self.closed = True
        self.calls.end()
        self.background.stop()
        try:
            self._write_back_the_last(say)
        finally:
            if self._workers is not None:
                self._workers.shutdown(wait=True)
            self.handles.close()
        self._finished = True

    def _write_back_the_last(self, say: Callable[[Exception], None]) -> None:
        try:
            with running_calls.one_call(self.keeping.wait_seconds):
                self.parts.finish()
        except (
            ClosedError,
            EmbedderMismatchError,
        ):  # done by an earlier try, or left to memories with the new embedder
            return
        except AdaptiveMemoryError as error:
            say(error)


def warn_not_written_back(error: Exception) -> None:
    warnings.warn(
        f"Not everything could be written back into the collection: {error} {WAITS}", RuntimeWarning, stacklevel=6
    )


@atexit.register
def _close_all() -> None:
    """Close all memories at the normal end of the interpreter."""
    for one in list(_all):
        one.close()
