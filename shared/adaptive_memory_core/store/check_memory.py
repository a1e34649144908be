"""Is everything a memory stands on whole? Chroma's database and index, the ledger, and what stands in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import DamagedStoreError
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store.chroma import damage, index_files, own_database
from adaptive_memory_core.store.chroma.rebuild import rebuild
from adaptive_memory_core.store.chroma.records import ChromaStore

Embed = Callable[[Sequence[str]], Any]


def whole_memory(
    directory: Path | None, store: ChromaStore, ledger: Ledger, embed: Embed, *, repair: bool
) -> list[Finding]:
    """Everything that is wrong, and with `repair` mended, as far as it can be while the memory is open."""
    found: list[Finding] = []
    if directory is not None:
        found += _database(directory) or _index(directory, store, embed, repair=repair)
    found += _ledger(ledger)
    return found


def _database(directory: Path) -> list[Finding]:
    wrong = own_database.faults(directory)
    remedy = "Restore Chroma's directory from a backup: it holds the texts."
    return [Finding("database", f"{own_database.DATABASE}: {'; '.join(wrong)}", remedy)] if wrong else []


def _index(directory: Path, store: ChromaStore, embed: Embed, *, repair: bool) -> list[Finding]:
    name, known = store.collection.name, str(store.collection.id)
    wrong = damage.damage(directory, known)
    if not wrong:
        return []
    remedy = (
        f"Close this memory and call AdaptiveMemory.repair({str(directory)!r}, collection={name!r}, embedder=...): it "
        "makes the index anew and keeps the old files."
    )
    found = Finding("index", " ".join(wrong), remedy)
    held = own_database.contents(directory, known)
    lost = [] if held is None else index_files.missing(held)
    if not repair or held is None or not lost:
        return [found]
    done = rebuild(store.collection, replace(held, ids=tuple(lost)), None, embed, None)
    what = f"{found.what} Their vectors were made again from their texts ({done.embedded})."
    return [replace(found, what=what, mended=not damage.damage(directory, known))]


def _ledger(ledger: Ledger) -> list[Finding]:
    try:
        wrong = ledger.faults()
    except DamagedStoreError as error:
        wrong = [str(error)]
    remedy = "Close this memory, put the ledger's file aside and open it again: reads go on from the collection."
    return [Finding("ledger", "; ".join(wrong), remedy)] if wrong else []
