"""What does a ledger in a SQL database consist of? Its parts, over what SQLite and PostgreSQL have in common."""

from __future__ import annotations

from collections.abc import Callable, Generator

from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.store.ledger.audit import LedgerAudit
from adaptive_memory_core.store.ledger.comparison import LedgerComparison
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.due_records import LedgerDueRecords
from adaptive_memory_core.store.ledger.floors import LedgerFloors
from adaptive_memory_core.store.ledger.graph_rows import LedgerGraph
from adaptive_memory_core.store.ledger.hierarchy_rows import LedgerHierarchy
from adaptive_memory_core.store.ledger.id_locks import IdLocks, Lock
from adaptive_memory_core.store.ledger.inherited_state import LedgerInheritance
from adaptive_memory_core.store.ledger.judged_questions import LedgerJudgedQuestions
from adaptive_memory_core.store.ledger.log import LedgerLog
from adaptive_memory_core.store.ledger.mirror_pages import LedgerMirrorPages
from adaptive_memory_core.store.ledger.mirror_rows import LedgerMirror
from adaptive_memory_core.store.ledger.moved import refuse_moved
from adaptive_memory_core.store.ledger.new_vectors import LedgerNewVectors
from adaptive_memory_core.store.ledger.notes import LedgerNotes
from adaptive_memory_core.store.ledger.outbox import LedgerOutbox
from adaptive_memory_core.store.ledger.own_policies import LedgerPolicies
from adaptive_memory_core.store.ledger.recalls import LedgerRecalls
from adaptive_memory_core.store.ledger.removal import LedgerRemoval
from adaptive_memory_core.store.ledger.retention import LedgerRetention
from adaptive_memory_core.store.ledger.sharing import LedgerSharing
from adaptive_memory_core.store.ledger.states import LedgerStates
from adaptive_memory_core.store.ledger.statistics import LedgerStatistics
from adaptive_memory_core.store.ledger.user_files import LedgerUserFiles
from adaptive_memory_core.store.ledger.verdicts import LedgerVerdicts
from adaptive_memory_core.store.ledger.word_rows import LedgerWords
from adaptive_memory_core.store.sqlite_file import LedgerFile


class SqlLedger:
    """The ledger of one collection; several collections and processes may share the database."""

    def __init__(self, file: LedgerFile, lock: Callable[[str], Lock | None]) -> None:
        self.file = file
        shared = self._shared = LedgerContext(file)
        self.id_locks = IdLocks(lock)
        self.notes, self.audit = LedgerNotes(shared), LedgerAudit(shared)
        self.inheritance = LedgerInheritance(shared)
        self.states = LedgerStates(shared, self.inheritance)
        self.log = LedgerLog(shared)
        self.recalls = LedgerRecalls(shared, self.log)
        self.verdicts, self.removal = LedgerVerdicts(shared), LedgerRemoval(shared)
        self.statistics, self.floors = LedgerStatistics(shared), LedgerFloors(shared)
        self.user_files = LedgerUserFiles(shared)
        self.outbox = LedgerOutbox(shared)
        self.words, self.mirror = LedgerWords(shared, self.user_files), LedgerMirror(shared, self.user_files)
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
        """Whether the file may not be written: then nothing is counted or learned."""
        return self.file.read_only

    def attach(self, uuid: str, name: str) -> None:
        """Speak for this collection from now on."""
        with self._shared.reading() as sql:
            refuse_moved(self.file, sql)
        self._shared.attach(uuid, name)

    @interruptible
    def transaction(self) -> Generator[None, None, None]:
        """All that this thread asks of the ledger within it is kept together, or none of it."""
        with self._shared.writing():
            yield

    def afterwards(self, call: Callable[[], object]) -> None:
        """Call this once the thread's transaction is kept; at once where there is none."""
        self.file.afterwards(call)

    def close(self) -> None:
        self.file.close()
