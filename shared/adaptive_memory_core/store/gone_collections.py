"""Which collections in the ledger are gone? Their rows are deleted, if no other directory shares the ledger.

Not as long as the collection that was opened is empty: then Chroma's files may have been lost, or the collection by
mistake, and the ledger's copy is what it can be made again from.
"""

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


def may_be_lost(directory: Path, collection_id: str) -> bool:
    """Whether Chroma may have lost what there was: it has nothing of the collection that is being opened."""
    try:
        return not own_database.has_records(directory, collection_id)
    except StoreError:
        return True  # it is looked again when the memory is opened again


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
