"""Which collections in the ledger are gone? Their rows are deleted, if no other directory shares the ledger."""

from __future__ import annotations

from pathlib import Path

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.store.chroma import own_database
from adaptive_memory_core.store.locations import LEDGER_NAME


def is_beside(directory: Path | None, ledger: object) -> bool:
    """Whether the ledger that was asked for is the one beside the collection's files, which knows no other directory.

    >>> is_beside(Path("memory"), None), is_beside(Path("memory"), "shared.sqlite3"), is_beside(None, None)
    (True, False, False)
    """
    if directory is None or not isinstance(ledger, str | Path | None):
        return False
    return ledger is None or Path(ledger).resolve() == (directory / LEDGER_NAME).resolve()


def forget_gone_collections(directory: Path, ledger: Ledger) -> None:
    """Let go of the rows of collections that Chroma's directory has no more."""
    known = ledger.retention.collections()  # before Chroma is asked: what is made in between is not gone
    if len(known) < 2:
        return
    try:
        there = own_database.collection_ids(directory)
    except StoreError:
        return  # it is looked again when the memory is opened again
    ledger.retention.forget_collections(known - there)
