"""Checked options, objects that all parts of a memory share, and re-embedding."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import ClosedError, InvalidInputError, StoreInUseError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.foreign_calls import Theirs, Unanswered
from adaptive_memory_core.flow.calls.running_calls import CLOSED
from adaptive_memory_core.flow.ports.ledger_values import FileKind
from adaptive_memory_core.flow.ports.models import Telemetry
from adaptive_memory_core.in_force import PolicyInForce
from adaptive_memory_core.models.callbacks import as_extract, as_reader, as_reranker, as_rule, callers_channels
from adaptive_memory_core.models.chroma_function import stored_by_chroma
from adaptive_memory_core.models.embedder import Embedder, as_embedder
from adaptive_memory_core.models.hierarchy_roles import as_roles
from adaptive_memory_core.models.judges import as_judge
from adaptive_memory_core.opened import Opened, Parts
from adaptive_memory_core.options import Options, checked
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.sources.ask import channels_of, sources_with
from adaptive_memory_core.store import locations
from adaptive_memory_core.store.background import Background
from adaptive_memory_core.store.chroma.chroma_calls import only_writer
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.open_collection import OpenCollection
from adaptive_memory_core.store.locations import check_ledger, is_in_postgres, is_next_to_files
from adaptive_memory_core.store.postgres.postgres_ledger import reach
from adaptive_memory_core.store.reembedding import BATCH, Filling, Progress, Swap, begin_or_continue
from adaptive_memory_core.store.user_copies import UserCopies, UserFilesKeeper
from adaptive_memory_core.store.write_back import WritePace

if TYPE_CHECKING:
    from chromadb import Collection

    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

PARTS = ("verb", "sources", "ledger", "opened")


def as_telemetry(given: object) -> Telemetry | None:
    """The given telemetry; for True, OpenTelemetry as the program has configured it for the process.

    >>> as_telemetry(None) is as_telemetry(False) is None
    True
    >>> as_telemetry("on")
    Traceback (most recent call last):
    adaptive_memory_core.errors.InvalidInputError: telemetry is 'on'. Give True, or \
adaptive_memory_core.telemetry.OpenTelemetry(...).
    """
    if given is None or given is False:
        return None
    if given is True:
        return _of_the_process()
    if isinstance(given, type) or not all(callable(getattr(given, name, None)) for name in PARTS):
        raise InvalidInputError(
            f"telemetry is {shown(given)}. Give True, or adaptive_memory_core.telemetry.OpenTelemetry(...)."
        )
    return given  # type: ignore[return-value] # it has all of it


@cache
def _of_the_process() -> Telemetry:
    from adaptive_memory_core.telemetry import OpenTelemetry

    return OpenTelemetry()


class OpenRequest:
    """The options of a memory, checked before anything is opened."""

    def __init__(self, options: Options) -> None:
        self.options = options
        check_ledger(options.get("ledger"))
        if is_in_postgres(in_postgres := options.get("ledger")):
            reach(in_postgres)
        if (embedder := options.get("embedder")) is not None:
            as_embedder(embedder)
        self.unanswered: defaultdict[str, Unanswered] = defaultdict(Unanswered)
        given = callers_channels(options.get("channels"))
        self.channels = {name: Theirs(one, self.unanswered[name]) for name, one in given.items()}
        rerank = options.get("reranker")
        self.reranker = None if rerank is None else Theirs(as_reranker(rerank), self.unanswered["reranker"])
        rule = as_rule(options.get("same_fact"))
        self.same_fact = None if rule is None else Theirs(rule, self.unanswered["same_fact"])
        read = as_reader(options.get("reader"))
        self.reader = None if read is None else Theirs(read, self.unanswered["reader"])
        self.judge = as_judge(options.get("judge"))
        self.entities, self.roles = as_extract(options.get("entities")), as_roles(options.get("roles"))
        self.telemetry = as_telemetry(options.get("telemetry"))
        sources = sources_with(self.channels)
        self.sources = sources if self.telemetry is None else self.telemetry.sources(sources)
        policy = options["policy"] or Policy()
        self.in_force = PolicyInForce(policy, options["clock"], channels_of(self.sources))
        self.keeping, self.fields = options["keeping"] or Keeping(), options["fields"] or Fields()


def check_options(options: Options) -> None:
    """Raise an error for options that no memory can be opened with, before anything is created."""
    given = checked(options, usual_clock=float)  # no clock is read
    OpenRequest(given)
    check.shared(given["shared"])


@dataclass(frozen=True)
class Common:
    """The checked options, the embedder, the ledger, and the thread for background work."""

    asked: OpenRequest
    name: str  # of the collection
    embedder: Embedder
    ledger: Ledger
    directory: Path | None
    background: Background = field(default_factory=Background)
    files: UserFilesKeeper = field(default_factory=UserFilesKeeper)

    def __post_init__(self) -> None:
        self.files.wake = self.background.wake

    @property
    def keeps_copies(self) -> bool:
        """Whether the ledger stores a copy of all records."""
        return not self.ledger.read_only and self.asked.keeping.copy_limit > 0

    @property
    def is_shared(self) -> bool:
        """Whether other processes can use the memory without opening the collection, from the ledger next to it."""
        next_to_files = is_next_to_files(self.directory, self.asked.options.get("ledger"))
        return next_to_files and self.ledger.outlives_process and self.keeps_copies

    def copies_in_files(self, kind: FileKind) -> UserCopies:
        """Copies of users' rows in files next to the ledger."""
        return UserCopies(kind, self.ledger.user_files, self.files, self.asked.keeping.file_records)


_turn = threading.Lock()  # one re-embedding at a time per process: two would undo each other's work


@dataclass(frozen=True)
class Reembedding:
    """Move a memory to another embedder. `old` is the old collection; its texts come from the ledger, which is filled
    first if necessary. `parts` builds the parts of a memory over the new collection."""

    common: Common
    old: OpenCollection
    parts: Callable[[Common, Collection], Parts]

    def __call__(self, opened: Opened, given: Any, progress: Progress | None) -> int:
        """Embed all records again and return their number. If interrupted, the next call continues."""
        if not _turn.acquire(blocking=False):
            raise StoreInUseError(
                "Another call in this process is re-embedding a collection. Wait for it, then call again."
            )
        try:
            filling, keeping = self._begun(opened, given), self.common.asked.keeping
            self.old.importer.sync()
            while filling.embed(progress) > BATCH:  # records written in the meantime
                self.old.importer.sync()
            since = filling.place(WritePace(stall_ms=keeping.stall_ms, most=keeping.batch))
            with self._nobody_writes(opened):
                return self._exchange(opened, filling, since)
        finally:
            _turn.release()

    def _begun(self, opened: Opened, given: Any) -> Filling:
        ledger, embedder = self.common.ledger, replace(as_embedder(given))
        new = begin_or_continue(ledger, self.old.store.collection, embedder, stored_by_chroma(given))

        def going() -> None:
            if not opened.usable:
                raise ClosedError(f"{CLOSED} Call reembed again: it goes on where it stopped.")

        return Filling(ledger, embedder, new, going)

    @contextmanager
    def _nobody_writes(self, opened: Opened) -> Generator[None, None, None]:
        """Keep calls, the background and other processes of this library from writing into Chroma."""
        directory = self.common.directory
        with (
            opened.calls.alone(),
            self.old.write_back.paused(),
            self.old.importer.turn,
            nullcontext() if directory is None else only_writer(directory),
        ):
            yield

    def _exchange(self, opened: Opened, filling: Filling, since: int) -> int:
        common = replace(self.common, embedder=filling.embedder)
        swap = Swap(common.ledger, filling.embedder, common.directory, self.common.keeps_copies)
        total, named = swap.done(filling, since, self.old.store, self.old.importer.sync)
        locations.keep_in_ram(common.ledger, str(named.id))
        opened.change_parts(self.parts(common, named), filling.embedder.name)
        return total


def ended(
    asked: OpenRequest, collection: Collection, embedder: Embedder, ledger: Ledger, directory: Path | None
) -> Collection:
    """The collection. If a process was killed while replacing it, finish the replacement and return the new one."""
    return Swap(ledger, embedder, directory, asked.keeping.copy_limit > 0).left(
        collection, partial(ChromaRecords, fields=asked.fields)
    )
