"""Who writes into an embedded Chroma just now? One at a time, of all processes, and nobody while it is being copied.

Chroma's index is five files and a database that belong together. A copy is whole only if nobody writes meanwhile.
Threads gain nothing by writing at once: Chroma holds the whole process still while one of them does.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.shown_in_errors import reason
from adaptive_memory_core.store.chroma.calls import told
from adaptive_memory_core.store.os_lock import OsLock

if TYPE_CHECKING:
    from chromadb import Collection

T = TypeVar("T")
LOCK_NAME = "adaptive_memory.chroma.lock"
PATIENCE_SECONDS = 600.0  # a large directory takes a while to be copied
_of_directories: dict[tuple[int, Path], _Gate] = {}  # kept: what an interrupt left taken, the next user gives back


def told_alone(collection: Collection, write: Callable[[], T]) -> T:
    """What a write into the collection gives, its errors in our words. One on a server is not ours to guard."""
    settings = collection._client.get_settings()
    if not settings.is_persistent or "fastapi" in str(settings.chroma_api_impl).lower():
        return told(write)
    with alone(Path(settings.persist_directory)):
        return told(write)


@interruptible
def alone(directory: Path) -> Generator[None, None, None]:
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
            try:
                gate.processes.give_back()
            finally:
                gate.processes.give_back()  # again, where an interrupt broke that off


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
