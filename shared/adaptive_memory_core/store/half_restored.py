"""Was Chroma restored from an older backup than the ledger? Then the ledger's copies are newer, and refill it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.records import Metadata
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store.chroma import own_database
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.due_records import DueRecordsOfOthers

RESTORED = "restored"  # the state of copies that are newer than the collection: they are not to be made as it is
PAGE = 500
NAMED = 10  # ids in a report
Row = tuple[str, str | None, Metadata | None]


def look(directory: Path | None, store: ChromaRecords, ledger: Ledger) -> str | None:
    """What is to be told, where Chroma counts fewer writes than the copies were compared with; that is noted, for with
    every further write it would show less."""
    if ledger.mirror.complete_at() == RESTORED:
        return _told(store)
    known, last = ledger.mirror.complete_at(), _last(directory, store)
    if ledger.read_only or known is None or not known.isdecimal() or last is None or last >= int(known):
        return None
    ledger.mirror.keep_complete_at(RESTORED)
    return _told(store)


def findings(directory: Path | None, store: ChromaRecords, ledger: Ledger, *, repair: bool) -> list[Finding]:
    """What the collection lacks, and with `repair` has again."""
    what = look(directory, store, ledger)
    if what is None:
        return []
    there = set(store.ids())
    lacking = [one for page in _pages(sorted(ledger.mirror.stored_ids())) for one in _differing(page, store, ledger)]
    extra = sorted(there - ledger.mirror.stored_ids())
    found = [Finding("records", f"{what} {len(lacking)} records are missing or older there.", _REMEDY, mended=repair)]
    if repair:
        ledger.due_records.mark(lacking, gone=False)
        DueRecordsOfOthers(ledger, store.collection, lag_seconds=0.0, batch=PAGE).settle()
        ledger.mirror.keep_complete_at(None)
    return [*found, _kept(extra)] if extra else found


_REMEDY = "Call check(repair=True): they are written again from the ledger's copies; nothing is embedded."


def _told(store: ChromaRecords) -> str:
    return f"The collection {store.collection.name!r} is older than the ledger: Chroma's files are from a backup."


def _kept(extra: Sequence[str]) -> Finding:
    named = ", ".join(map(repr, extra[:NAMED])) + (", ..." if len(extra) > NAMED else "")
    return Finding(
        "records",
        f"{len(extra)} records stand there that the ledger has no copy of: {named}. They were removed after that "
        "backup, or written by another program since, and are left.",
        "Forget those that were to be gone, once more.",
        mended=True,
    )


def _last(directory: Path | None, store: ChromaRecords) -> int | None:
    try:
        return None if directory is None else own_database.last_write(directory, str(store.collection.id))
    except StoreError:
        return None


def _pages(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + PAGE] for start in range(0, len(ids), PAGE))


def _differing(page: Sequence[str], store: ChromaRecords, ledger: Ledger) -> list[str]:
    """Those of the copies that the collection has otherwise, or not at all."""
    there: dict[str, Row] = {row[0]: row for row in store.rows(page)}
    return [row[0] for row in ledger.mirror.rows(page) if not _same(row, there.get(row[0]))]


def _same(row: Row, there: Row | None) -> bool:
    return there is not None and (row[1] or "", row[2] or None) == (there[1] or "", there[2] or None)
