"""The open collection of a process, and guards around its calls.

The threads of an embedded Chroma are missing in a forked child, and two processes over one directory damage it. Chroma
itself would return the parent's client when the child opens the same directory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from adaptive_memory_core.errors import LedgerError, StoreError
from adaptive_memory_core.store.embedder_check import EmbedderVersion
from adaptive_memory_core.store.process_locks import never_claim

if TYPE_CHECKING:
    from chromadb import Collection

    from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
    from adaptive_memory_core.store.chroma.chroma_search import ChromaSearch
    from adaptive_memory_core.store.chroma.exporter import Exporter
    from adaptive_memory_core.store.chroma.importer import Importer
    from adaptive_memory_core.store.write_back import WriteBack

CALLS = frozenset({"add", "count", "delete", "get", "query", "update", "upsert"})


class _Replaceable:
    """A collection that checks, when a call fails, whether it was replaced."""

    def __init__(self, collection: Collection, embedder_version: EmbedderVersion) -> None:
        self._collection, self._embedder_version = collection, embedder_version

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._collection, name)
        return partial(_checked, found, self._embedder_version) if name in CALLS else found


def replaceable(collection: Collection, embedder_version: EmbedderVersion) -> Collection:
    """The collection; if a call fails because another collection replaced it, the error is that of
    `EmbedderVersion.check`."""
    return cast("Collection", _Replaceable(collection, embedder_version))


def _checked(call: Callable[..., Any], embedder_version: EmbedderVersion, *args: Any, **named: Any) -> Any:
    from chromadb.errors import NotFoundError

    try:
        return call(*args, **named)
    except NotFoundError:
        embedder_version.check()
        raise


_parents: list[Any] = []  # kept alive: freeing them would stop them in a process that did not start them


def is_parents(collection: Collection) -> bool:
    """Whether the collection's client was created before this process was forked."""
    return any(one is collection._client for system in _parents for one in system._instances.values())


def _forked() -> None:
    """In the child: forget the parent's embedded clients, and never open one."""
    module = sys.modules.get("chromadb.api.shared_system_client")
    if module is None:
        return
    registry = module.SharedSystemClient
    for name, system in list(registry._identifier_to_system.items()):
        if "fastapi" in str(system.settings.chroma_api_impl).lower():
            continue
        never_claim()
        if system.settings.is_persistent:
            _parents.append(registry._identifier_to_system.pop(name))
            registry._identifier_to_refcount.pop(name, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@dataclass(frozen=True)
class OpenCollection:
    """The collection's parts: reading, search, export, import and write-back."""

    store: ChromaRecords
    search: ChromaSearch
    exporter: Exporter
    importer: Importer
    write_back: WriteBack

    def flush(self) -> None:
        """Write everything into the collection now."""
        self.exporter.settle()
        self.write_back.flush()

    def finish(self) -> None:
        """Write everything on closing, and record up to which write the ledger equals the collection."""
        try:
            self.flush()
            self.write_back.tidy()
            with suppress(StoreError, LedgerError):  # the next opening then has more to compare
                self.importer.keep_last()
        finally:
            self.importer.is_over = True


class CollectionAccess:
    """The collection, or None in a process that may not open it. One process at a time opens a directory's collection;
    all others use only the ledger."""

    def __init__(self) -> None:
        self.open: OpenCollection | None = None

    def finish(self) -> None:
        """Write pending changes on closing, if this process has the collection open."""
        if self.open is not None:
            self.open.finish()

    def collection_asked(self) -> ChromaRecords | None:
        """The collection, after exporting pending records, for questions about all records; None if the ledger has all
        of them."""
        if self.open is None or self.open.importer.ready:
            return None
        self.open.exporter.settle()
        return self.open.store

    def import_first(self, stored_ids: Sequence[str]) -> None:
        """Import these records into the ledger, if it does not have all records."""
        if self.open is not None and not self.open.importer.ready:
            self.open.importer.take_in(stored_ids)
