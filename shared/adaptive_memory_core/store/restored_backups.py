"""A ledger and a collection from backups of different age: the newer one refills the other; gone collections are
deleted.

Rows of gone collections stay as long as the collection that was opened is empty: then Chroma's files may have been
lost, or the collection by mistake, and the ledger's copy is what it can be made again from.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.learn.after_read import larger
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.records import Metadata, ReadState, Seen
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store.chroma import chroma_database
from adaptive_memory_core.store.chroma.chroma_calls import call_chroma
from adaptive_memory_core.store.chroma.exporter import Exporter
from adaptive_memory_core.store.locations import LEDGER_NAME
from adaptive_memory_core.stored_metadata import state_of
from adaptive_memory_core.stored_owner import owner_of

if TYPE_CHECKING:
    from adaptive_memory_core.flow.ports import Ledger
    from adaptive_memory_core.learn.decay import Timeline
    from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords

SAME_SECONDS = 0.001  # the collection keeps a time to six places


def take_later_reads(store: ChromaRecords, ledger: Ledger, directory: Path | None, *, now: float) -> None:
    """Take over what the collection knows of later reads, with a warning."""
    later = later_reads(store, ledger, directory)
    if later:
        keep_later_reads(store, ledger, later, now=now)
        warnings.warn(
            f"The ledger is older than the collection, which shows later reads of {len(later)} "
            "records. The larger counts and the later reads were taken; what else happened since is not in the ledger.",
            RuntimeWarning,
            stacklevel=4,
        )


def later_reads(store: ChromaRecords, ledger: Ledger, directory: Path | None) -> dict[str, Metadata]:
    """Records that the collection shows as read later than any that the ledger knows. A read is in the ledger before
    the collection shows it, so there are none unless the ledger is an older one."""
    latest = ledger.comparison.latest_read()
    if latest is None or ledger.read_only:
        return {}
    bound, known, key = float(latest) + SAME_SECONDS, str(store.collection.id), store.fields.last_read
    found = _asked(store, bound) if directory is None else chroma_database.above(directory, known, key, bound)
    return store.metadata(ledger.comparison.met(found)) if found else {}


def keep_later_reads(store: ChromaRecords, ledger: Ledger, later: Mapping[str, Metadata], *, now: float) -> None:
    """The larger counts and the later reads hold."""
    for stored_id, metadata in later.items():
        owner, kind = owner_of(metadata, store.fields), metadata.get(store.fields.kind)
        if owner is not None:
            shown = state_of(metadata, store.fields)
            seen = Seen(shown, kind if isinstance(kind, str) else None)
            rule = partial(_larger, shown=shown)
            ledger.states.change(owner, stored_id, seen, rule, what="restored", by="collection", now=now)


def _asked(store: ChromaRecords, bound: float) -> list[str]:
    later: Any = {store.fields.last_read: {"$gt": bound}}
    return list(call_chroma(lambda: store.collection.get(where=later, include=[]))["ids"])


def _larger(seen: Seen, *, timeline: Timeline, shown: ReadState) -> ReadState:  # noqa: ARG001 - a rule of the ledger's
    return larger(seen.state, shown)


RESTORED = "restored"  # the state of copies that are newer than the collection: they are not to be made as it is
EMPTIED = "emptied"  # the same where most records are gone from it, unless somebody asks for that
PAGE = 500
NAMED = 10  # ids in a report
StoredRow = tuple[str, str | None, Metadata | None]


def noticed_restore(directory: Path | None, store: ChromaRecords, ledger: Ledger) -> str | None:
    """What is to be told, where Chroma counts fewer writes than the copies were compared with; that is noted, for with
    every further write it would show less."""
    known, last = ledger.mirror.complete_at(), _last(directory, store)
    if known == EMPTIED:
        return (
            f"Most records are gone from the collection {store.collection.name!r} at once, and the ledger keeps them."
        )
    if known == RESTORED:
        return _told(store)
    if ledger.read_only or known is None or not known.isdecimal() or last is None or last >= int(known):
        return None
    ledger.mirror.keep_complete_at(RESTORED)
    return _told(store)


def restore_findings(directory: Path | None, store: ChromaRecords, ledger: Ledger, *, repair: bool) -> list[Finding]:
    """What the collection lacks, and with `repair` has again."""
    what = noticed_restore(directory, store, ledger)
    if what is None:
        return []
    there = set(store.ids())
    lacking = [one for page in _pages(sorted(ledger.mirror.stored_ids())) for one in _differing(page, store, ledger)]
    extra = sorted(there - ledger.mirror.stored_ids())
    found = [Finding("records", f"{what} {len(lacking)} records are missing or older there.", _REMEDY, mended=repair)]
    if repair:
        ledger.due_records.mark(lacking, gone=False)
        Exporter(ledger, store.collection, Keeping(batch=PAGE)).settle()
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
        return None if directory is None else chroma_database.last_write(directory, str(store.collection.id))
    except StoreError:
        return None


def _pages(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + PAGE] for start in range(0, len(ids), PAGE))


def _differing(page: Sequence[str], store: ChromaRecords, ledger: Ledger) -> list[str]:
    """Those of the copies that the collection has otherwise, or not at all."""
    there: dict[str, StoredRow] = {row[0]: row for row in store.rows(page)}
    return [row[0] for row in ledger.mirror.rows(page) if not _same(row, there.get(row[0]))]


def _same(row: StoredRow, there: StoredRow | None) -> bool:
    return there is not None and (row[1] or "", row[2] or None) == (there[1] or "", there[2] or None)


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
        return not chroma_database.has_records(directory, collection_id)
    except StoreError:
        return True  # it is looked again when the memory is opened again


def forget_gone_collections(directory: Path, ledger: Ledger) -> None:
    """Let go of the rows of collections that Chroma's directory has no more."""
    known = ledger.retention.collections()  # before Chroma is asked: what is made in between is not gone
    if len(known) < 2:
        return
    try:
        there = chroma_database.collection_ids(directory)
    except StoreError:
        return  # it is looked again when the memory is opened again
    ledger.retention.forget_collections(known - there)
