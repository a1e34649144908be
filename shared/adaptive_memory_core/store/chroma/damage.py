"""Is it safe for Chroma to load this collection? Asked first, because a torn index can end the process."""

from __future__ import annotations

import time
from pathlib import Path

from adaptive_memory_core.errors import DamagedStoreError
from adaptive_memory_core.store.chroma import index_files, own_database

LOOKS = 3  # a client of this process may be writing the files just now
PAUSE_SECONDS = 0.2


def damage(directory: Path, collection_id: str) -> list[str]:
    """What is wrong with the collection's index, each fault in a sentence; looked at again before it is believed."""
    found: list[str] = []
    for look in range(LOOKS):
        if look:
            time.sleep(PAUSE_SECONDS)
        held = own_database.contents(directory, collection_id)
        found = [] if held is None else index_files.faults(held)
        if not found:
            break
    return found


def refuse_damaged(directory: Path, collection_id: str, name: str) -> None:
    """Raise where the index is damaged, and say how it is made anew."""
    found = damage(directory, collection_id)
    if found:
        raise DamagedStoreError(
            f"Chroma's index of the collection {name!r} in {str(directory)!r} is damaged: {' '.join(found)} A process "
            "that is killed while Chroma writes its index leaves it so. Texts, metadata and reads are whole. Close "
            f"what has the directory open and call AdaptiveMemory.repair({str(directory)!r}, collection={name!r}, "
            "embedder=<the one it was written with>): it makes the index anew and keeps the old files."
        )
