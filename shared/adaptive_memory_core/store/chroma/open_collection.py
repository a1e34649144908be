"""What this process does with the collection, once it may open it: search, export, import, write back, look through."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adaptive_memory_core.errors import LedgerError, StoreError

if TYPE_CHECKING:
    from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
    from adaptive_memory_core.store.chroma.chroma_search import ChromaSearch
    from adaptive_memory_core.store.chroma.exporter import Exporter
    from adaptive_memory_core.store.chroma.importer import Importer
    from adaptive_memory_core.store.write_back import WriteBack


@dataclass(frozen=True)
class OpenCollection:
    """The parts that work on it."""

    store: ChromaRecords
    search: ChromaSearch
    exporter: Exporter
    importer: Importer
    write_back: WriteBack

    def flush(self) -> None:
        """Have it show everything now."""
        self.exporter.settle()
        self.write_back.flush()

    def finish(self) -> None:
        """At the end."""
        try:
            self.flush()
            self.write_back.tidy()
            with suppress(StoreError, LedgerError):  # then the next opening compares more
                self.importer.keep_last()
        finally:
            self.importer.is_over = True


class CollectionAccess:
    """The collection, or None in a process that may not open it: in a directory, one process does at a time, and all
    others have what they need in the ledger."""

    def __init__(self) -> None:
        self.open: OpenCollection | None = None

    def finish(self) -> None:
        """At the end: what is pending is written back, as far as that is this process's to do."""
        if self.open is not None:
            self.open.finish()

    @property
    def ready(self) -> bool:
        """Whether the ledger has all records."""
        return self.open is None or self.open.importer.ready

    def collection_asked(self) -> ChromaRecords | None:
        """The collection as it is to be asked about all records, with what is pending exported; None where the ledger
        has all of them."""
        if self.open is None or self.open.importer.ready:
            return None
        self.open.exporter.settle()
        return self.open.store

    def import_first(self, stored_ids: Sequence[str]) -> None:
        """Have the ledger know these."""
        if self.open is not None and not self.open.importer.ready:
            self.open.importer.take_in(stored_ids)

    def returned(self, stored_ids: Sequence[str]) -> None:
        """A recall returned these."""
        if self.open is not None:
            self.open.importer.returned(stored_ids)
