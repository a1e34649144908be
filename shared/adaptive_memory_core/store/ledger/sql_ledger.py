"""The ledger of one collection in a SQL database: its parts, and the one in a SQLite file or in RAM."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal

from adaptive_memory_core.store.ledger import ledger_statistics
from adaptive_memory_core.store.ledger.cached_copies import LedgerUserFiles
from adaptive_memory_core.store.ledger.collection_notes import LedgerFloors, LedgerNotes, LedgerPolicies, LedgerSharing
from adaptive_memory_core.store.ledger.counted_recalls import LedgerRecalls
from adaptive_memory_core.store.ledger.graph_rows import LedgerGraph
from adaptive_memory_core.store.ledger.hierarchy_rows import LedgerHierarchy
from adaptive_memory_core.store.ledger.judged_question_rows import LedgerJudgedQuestions
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.ledger_statistics import LedgerComparison, LedgerStatistics
from adaptive_memory_core.store.ledger.mirror_rows import LedgerMirror, LedgerMirrorPages
from adaptive_memory_core.store.ledger.new_vectors import LedgerNewVectors
from adaptive_memory_core.store.ledger.outbox import LedgerDueRecords, LedgerExports, LedgerOutbox
from adaptive_memory_core.store.ledger.read_states import LedgerStates
from adaptive_memory_core.store.ledger.recall_log import LedgerLog
from adaptive_memory_core.store.ledger.removal import LedgerRemoval
from adaptive_memory_core.store.ledger.retention import LedgerRetention
from adaptive_memory_core.store.ledger.schema import refuse_moved
from adaptive_memory_core.store.ledger.text_changes import LedgerInheritance
from adaptive_memory_core.store.ledger.verdict_rows import LedgerAudit, LedgerVerdicts
from adaptive_memory_core.store.ledger.word_rows import LedgerWords
from adaptive_memory_core.store.sqlite_file import LedgerFile
from adaptive_memory_core.whole_file import expanded

PARTS = (  # of a ledger; their methods are its interface
    *("states", "inheritance", "recalls", "log", "verdicts", "removal", "audit", "statistics", "floors"),
    *("own_policies", "judged_questions", "notes", "outbox", "exports", "words", "graph", "hierarchy", "mirror"),
    *("user_files", "mirror_pages", "new_vectors", "due_records", "sharing", "retention", "comparison"),
)


class Ledger(ABC):
    """The ledger of one collection, which `attach` sets; other collections may share the same database."""

    outlives_process: bool  # whether its content is stored for the next process; False in RAM

    def __init__(self, file: LedgerFile) -> None:
        self.file = file
        shared = self._shared = LedgerContext(file)
        self.notes, self.audit = LedgerNotes(shared), LedgerAudit(shared)
        self.inheritance = LedgerInheritance(shared)
        self.states = LedgerStates(shared, self.inheritance)
        self.log = LedgerLog(shared)
        self.recalls = LedgerRecalls(shared)
        self.verdicts, self.removal = LedgerVerdicts(shared), LedgerRemoval(shared)
        self.statistics, self.floors = LedgerStatistics(shared), LedgerFloors(shared)
        self.user_files = LedgerUserFiles(shared)
        self.outbox, self.exports = LedgerOutbox(shared), LedgerExports(shared)
        self.words, self.mirror = LedgerWords(shared), LedgerMirror(shared, self.user_files)
        self.mirror_pages, self.due_records = LedgerMirrorPages(shared), LedgerDueRecords(shared)
        self.new_vectors, self.graph, self.sharing = (
            LedgerNewVectors(shared),
            LedgerGraph(shared),
            LedgerSharing(shared),
        )
        self.hierarchy = LedgerHierarchy(shared)
        self.own_policies, self.judged_questions = LedgerPolicies(shared), LedgerJudgedQuestions(shared)
        self.retention, self.comparison = LedgerRetention(shared, self.user_files), LedgerComparison(shared)

    @property
    def read_only(self) -> bool:
        """Whether the file is read-only, so that nothing is counted or learned."""
        return self.file.read_only

    def attach(self, uuid: str, name: str) -> None:
        """Use this ledger for the given collection."""
        with self._shared.reading() as sql:
            refuse_moved(self.file, sql)
        self._shared.attach(uuid, name)

    @contextmanager
    def transaction(self, *, unheard: bool = False) -> Generator[None, None, None]:
        """A block whose writes to the ledger by this thread are committed together or not at all. With `unheard`, no
        rows change that others cache, except rows of the mirror."""
        with self._shared.writing(announced=unheard, unheard=unheard):
            yield

    def afterwards(self, call: Callable[[], object]) -> None:
        """Make this call after the thread's transaction is committed, or at once if there is none."""
        self.file.afterwards(call)

    @abstractmethod
    def faults(self) -> list[str]:
        """The faults in the ledger's content, one line each; this reads everything."""

    def close(self) -> None:
        self.file.close()


class SQLiteLedger(Ledger):
    """The ledger of one collection in a SQLite file; several collections and processes may share the file.

    >>> ledger = SQLiteLedger(":memory:")
    >>> ledger.attach("uuid of a collection", "memories")
    >>> ledger.notes.keep_embedder("my-model", 384)
    >>> ledger.notes.embedder()
    ('my-model', 384)
    """

    def __init__(self, path: str, *, durability: Literal["normal", "full"] = "normal") -> None:
        named = path == ":memory:" or path.startswith("file:")
        file = LedgerFile(path if named else str(expanded(path).absolute()), durability=durability)
        super().__init__(file)
        self.outlives_process = file.place is not None

    def faults(self) -> list[str]:
        """The faults of the file and its content, one line each; this reads everything."""
        return ledger_statistics.faults(self.file)
