"""Backups: made, and recognised when an older one was restored.

Rows of gone collections stay as long as the collection that was opened is empty: then Chroma's files may have been
lost, or the collection by mistake, and the ledger's copy is what it can be made again from.

A backup gets its name only once all of it is there, on disk, and has been read again. The ledger is copied last: a read
is in it before the collection shows it, so a ledger must never be older than its collection.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import AdaptiveMemoryError, InvalidInputError, StoreError
from adaptive_memory_core.learn.after_read import larger
from adaptive_memory_core.record_metadata import owner_of, state_in_metadata
from adaptive_memory_core.records import Metadata, ReadState, Seen
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store.chroma import chroma_database, index_files
from adaptive_memory_core.store.chroma.chroma_calls import call_chroma, only_writer
from adaptive_memory_core.store.chroma.collection_repair import ASIDE, refill
from adaptive_memory_core.store.ledger.sql_ledger import SQLiteLedger
from adaptive_memory_core.store.locations import LEDGER_NAME

if TYPE_CHECKING:
    from adaptive_memory_core.learn.decay import Timeline
    from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

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
    """Records that the collection shows as read later than any read in the ledger. A read is in the ledger before the
    collection shows it, so there are none unless the ledger is an older one."""
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
            shown = state_in_metadata(metadata, store.fields)
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
        refill(ledger, store.collection)
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


def is_next_to_files(directory: Path | None, ledger: object) -> bool:
    """Whether the requested ledger is the one next to the collection's files, which belongs to no other directory.

    >>> is_next_to_files(Path("memory"), None), is_next_to_files(Path("memory"), "shared.sqlite3")
    (True, False)
    >>> is_next_to_files(None, None)
    False
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


DATABASES = (".sqlite3", ".sqlite", ".db")
LEFT_OUT = (
    ".lock",
    ".locks",
    "-wal",
    "-shm",
    "-journal",
    ".torn",
    ".copies",
)  # of processes that run, in a database's copy, or made anew from it
UNFINISHED = ".unfinished"
LOOKS = 3  # another program that writes into the collection cannot be kept out
Progress = Callable[[int, int], object]


def back_up(directory: Path, ledger: Path, target: Path, progress: Progress | None = None) -> Path:
    """Copy a directory with its ledger to a new one, which may be opened in its place; gives the copy.

    `progress` is called with the number of bytes copied and the total. If anything fails, nothing is left under the
    target's name.
    """
    _check(directory, target)
    aside = target.with_name(target.name + UNFINISHED)
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        _copy_whole(directory, ledger, aside, progress)
        if target.exists():
            target.rmdir()
        aside.rename(target)
        _sync(target.parent)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"The memory cannot be backed up to {str(target)!r}: {reason(error)}. Nothing stands there. Give a "
            "directory on a disk that has room and may be written."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target


def _check(directory: Path, target: Path) -> None:
    inside = target.resolve().is_relative_to(directory.resolve())
    if inside or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise InvalidInputError(
            f"{str(target)!r} {'is within the memory itself' if inside else 'is there already'}. Give a directory that "
            "does not exist yet, or is empty, outside of the memory's own."
        )


def _copy_whole(directory: Path, ledger: Path, aside: Path, progress: Progress | None) -> None:
    """Until the copy is whole: what others write into the collection may have come in between."""
    for look in range(1, LOOKS + 1):
        with only_writer(directory):
            _copy(directory, ledger, aside, _Counted(progress, _size(directory, ledger)))
        wrong = _faults(aside)
        if not wrong:
            return
        if look == LOOKS:
            raise StoreError(
                f"The copy of {str(directory)!r} is not whole: {' '.join(wrong)} Nothing stands there. Where the "
                "memory itself is damaged (memory.check() says so), repair it first; else another program writes into "
                "the collection all the time: pause it."
            )


def _copy(directory: Path, ledger: Path, aside: Path, copied: _Counted) -> None:
    for file in _files(directory, ledger):
        place = aside / file.relative_to(directory)
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix in DATABASES:
            _copy_database(file, place)
        else:
            shutil.copy2(file, place)
        _sync(place)
        copied(file)
    _copy_database(ledger, aside / LEDGER_NAME)
    _sync(aside / LEDGER_NAME)
    copied(ledger)


def _files(directory: Path, ledger: Path) -> Iterator[Path]:
    """All of the directory but the ledger, what has been put aside, and what belongs to processes that run. Chroma's
    database comes before its index, which may be ahead of it but not behind."""
    found = [one for one in sorted(directory.rglob("*")) if one.is_file() and not _is_left_out(one, directory)]
    found = [one for one in found if one.resolve() != ledger.resolve() and one.name != LEDGER_NAME]
    yield from sorted(found, key=lambda one: one.suffix not in DATABASES)


def _is_left_out(file: Path, directory: Path) -> bool:
    parts = file.relative_to(directory).parts
    return parts[0] == ASIDE or any(one.endswith(LEFT_OUT) for one in parts)


def _size(directory: Path, ledger: Path) -> int:
    return sum(one.stat().st_size for one in [*_files(directory, ledger), ledger])


def _copy_database(file: Path, place: Path) -> None:
    """As of one moment, even if others write to it meanwhile."""
    place.unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=rw", uri=True, timeout=10.0)) as source,
        closing(sqlite3.connect(place)) as copy,
    ):
        source.backup(copy, pages=-1)
        copy.execute("PRAGMA journal_mode = DELETE")


def _faults(copy: Path) -> list[str]:
    """What is wrong with the copy: all of it is read."""
    wrong = chroma_database.database_faults(copy)
    for one in [] if wrong else chroma_database.collection_ids(copy):
        held = chroma_database.contents(copy, one)
        wrong += [] if held is None else index_files.index_faults(held)
    try:
        ledger = SQLiteLedger(str(copy / LEDGER_NAME))
    except AdaptiveMemoryError as error:
        return [*wrong, str(error)]
    with closing(ledger):
        return [*wrong, *ledger.faults()]


def _sync(place: Path) -> None:
    with suppress(PermissionError):  # a directory, on some systems
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class _Counted:
    """Says how many bytes of how many are copied."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self, file: Path) -> None:
        self._done += file.stat().st_size
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)
