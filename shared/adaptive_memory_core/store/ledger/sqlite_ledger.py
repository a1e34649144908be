"""How does SQLite serve as the ledger? One file, or RAM, behind the `Ledger` port."""

from __future__ import annotations

from typing import Literal

from adaptive_memory_core.store.ledger import full_check
from adaptive_memory_core.store.ledger.sql_ledger import SqlLedger
from adaptive_memory_core.store.os_lock import locks_beside
from adaptive_memory_core.store.sqlite_file import LedgerFile


class SQLiteLedger(SqlLedger):
    """The ledger of one collection in a SQLite file; several collections and processes may share the file.

    >>> ledger = SQLiteLedger(":memory:")
    >>> ledger.attach("uuid of a collection", "memories")
    >>> ledger.notes.keep_embedder("my-model", 384)
    >>> ledger.notes.embedder()
    ('my-model', 384)
    """

    def __init__(self, path: str, *, durability: Literal["normal", "full"] = "normal") -> None:
        file = LedgerFile(path, durability=durability)
        super().__init__(file, locks_beside(file.place))

    @property
    def outlives_process(self) -> bool:
        """Whether what it holds is there for the next process; False in RAM."""
        return self.file.place is not None

    def faults(self) -> list[str]:
        """What is wrong with the file and with what stands in it, one line each; this reads all of it."""
        return full_check.faults(self.file)
