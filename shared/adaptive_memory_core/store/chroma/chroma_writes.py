"""Our writes into Chroma: one writer at a time among all processes.

Chroma's index is five files and a database that belong together. A copy is whole only if nobody writes meanwhile.
Threads gain nothing by writing together: Chroma holds the whole process still while one of them does.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import MirrorRow
from adaptive_memory_core.records import Metadata
from adaptive_memory_core.shown_in_errors import reason
from adaptive_memory_core.store.chroma.chroma_calls import call_chroma, rows_by_id
from adaptive_memory_core.store.process_locks import OsLock

if TYPE_CHECKING:
    from chromadb import Collection


T = TypeVar("T")
LOCK_NAME = "adaptive_memory.chroma.lock"
PATIENCE_SECONDS = 600.0  # a large directory takes a while to be copied
_of_directories: dict[tuple[int, Path], _Gate] = {}  # kept: what an interrupt left taken, the next user gives back


def write_chroma(collection: Collection, write: Callable[[], T]) -> T:
    """What a write into the collection gives, its errors in our words. One on a server is not ours to guard."""
    settings = collection._client.get_settings()
    if not settings.is_persistent or "fastapi" in str(settings.chroma_api_impl).lower():
        return call_chroma(write)
    with only_writer(Path(settings.persist_directory)):
        return call_chroma(write)


@contextmanager
def only_writer(directory: Path) -> Generator[None, None, None]:
    """Nobody else writes into the Chroma of this directory."""
    gate = _of_directories.get((os.getpid(), directory)) or _of_directories.setdefault(
        (os.getpid(), directory), _Gate(directory)
    )
    outermost = not gate.threads._is_owned()  # type: ignore[attr-defined] # what threading.Condition asks of a lock, too
    with gate.threads:
        if not outermost:
            yield
            return
        try:
            gate.take()
            yield
        finally:
            gate.processes.give_back()


class _Gate:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.threads = threading.RLock()
        self.processes = OsLock(directory / LOCK_NAME)

    def take(self) -> None:
        """Wait until no other process is in here."""
        try:
            if self.processes.take(PATIENCE_SECONDS):
                return
        except OSError as error:
            raise StoreError(
                f"A lock in {str(self._directory)!r} cannot be taken: {reason(error)}. Nothing was written. Give a "
                "directory that may be written."
            ) from error
        raise StoreError(
            f"Another process has been writing or copying {str(self._directory)!r} for more than {PATIENCE_SECONDS:g} "
            "seconds. Nothing was written; end it, or wait for it, and call again."
        )


NOBODY = "adaptive_memory: no record"  # an id that none has


def reload_index(collection: Collection) -> None:
    """Have an embedded Chroma see the vectors that another process, or another client with an index of its own, has
    written: it reads them with its own next write. This one changes nothing."""
    write_chroma(collection, lambda: collection.update(ids=[NOBODY], metadatas=[{"reload": True}]))


def overwrite(collection: Collection, rows: Sequence[MirrorRow], gone: Sequence[str]) -> None:
    """Text, vector and metadata as the rows have them, whatever stood there; what is gone is deleted."""

    def write() -> None:
        if gone:
            collection.delete(ids=list(gone))
        if rows:
            _upsert(collection, rows)

    write_chroma(collection, write)


def _upsert(collection: Collection, rows: Sequence[MirrorRow]) -> None:
    present = {stored_id: metadata for stored_id, _, metadata in rows_by_id(collection, [row[0] for row in rows])}
    metadatas: Any = [_replacing(present.get(row.stored_id), row.metadata) for row in rows]
    collection.upsert(
        ids=[row.stored_id for row in rows],
        documents=["" if row.text is None else row.text for row in rows],
        metadatas=metadatas,
        embeddings=[np.frombuffer(row.vector, dtype="<f4") for row in rows],
    )


def _replacing(present: Metadata | None, wanted: Metadata | None) -> dict[str, Any] | None:
    """What Chroma, which merges, is to be given so that it shows this and no more.

    >>> _replacing({"a": 1, "b": 2}, {"b": 3}), _replacing(None, None)
    ({'a': None, 'b': 3}, None)
    """
    return {**dict.fromkeys(present or {}), **(wanted or {})} or None
