"""Check a whole memory: Chroma's database and index, the ledger, duplicate and rewritten records, and whether the
collection or the ledger is an older copy.

Rows of deleted collections are kept as long as the opened collection is empty: Chroma's files may have been lost, or
the collection deleted by mistake, and it can be rebuilt from the ledger's copy.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports.ledger_values import Moves, Rewritten, never_read
from adaptive_memory_core.identity import MARK, record_id, scoped_id, text_digest
from adaptive_memory_core.learn.after_read import added, larger
from adaptive_memory_core.record_metadata import created_at, owner_of, state_in_metadata
from adaptive_memory_core.records import NEVER_READ, Metadata, ReadState, Scope, Seen
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store.chroma import chroma_database, index_files
from adaptive_memory_core.store.chroma.chroma_calls import PAGE, ids_where
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.collection_repair import refill, write_vectors
from adaptive_memory_core.store.ledger.mirror_rows import EMPTIED, RESTORED
from adaptive_memory_core.store.ledger.sql_ledger import SQLiteLedger
from adaptive_memory_core.store.locations import is_next_to_files

if TYPE_CHECKING:
    from adaptive_memory_core.learn.decay import Timeline
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

Embed = Callable[[Sequence[str]], Any]


def check_whole_memory(
    directory: Path | None, store: ChromaRecords, ledger: Ledger, embed: Embed, *, repair: bool, now: float
) -> list[Finding]:
    """All faults found. `repair` fixes those that can be fixed while the memory is open."""
    found: list[Finding] = []
    if directory is not None:
        found += _database(directory) or _index(directory, store, ledger, embed, repair=repair)
    found += _ledger(ledger)
    if not found:
        found += _restored(directory, store, ledger, repair=repair) + _gone(directory, store, ledger)
        found += _older(directory, store, ledger, repair=repair, now=now)
        found += _duplicates(store, ledger, repair) + rewritten_records(store, ledger, repair=repair, now=now)
    return found


def compare_on_opening(directory: Path | None, store: ChromaRecords, ledger: Ledger, *, now: float) -> None:
    """Warn if records are missing from the collection, or if the collection or the ledger is an older copy. Later reads
    in the collection's metadata are added to the ledger. Skipped if the server cannot be reached."""
    try:
        found = _gone(directory, store, ledger) or noticed_restore(directory, store, ledger)
        found += _older(directory, store, ledger, repair=True, now=now)
    except StoreError:
        return
    for one in found:
        warnings.warn(f"{one.what} {one.remedy}", RuntimeWarning, stacklevel=4)


def _database(directory: Path) -> list[Finding]:
    wrong = chroma_database.database_faults(directory)
    remedy = (
        "Close the memory and call AdaptiveMemory.repair(path): it rebuilds a collection from the ledger's "
        "copy. If the ledger has none, restore a backup."
    )
    return [Finding("database", f"{chroma_database.DATABASE}: {'; '.join(wrong)}", remedy)] if wrong else []


def _index(directory: Path, store: ChromaRecords, ledger: Ledger, embed: Embed, *, repair: bool) -> list[Finding]:
    name, known = store.collection.name, str(store.collection.id)
    wrong = index_files.index_damage(directory, known)
    if not wrong:
        return []
    remedy = (
        f"Close this memory and call AdaptiveMemory.repair({str(directory)!r}, collection={name!r}, embedder=...): it "
        "rebuilds the index and keeps the old files."
    )
    found = Finding("index", " ".join(wrong), remedy)
    held = chroma_database.contents(directory, known)
    lost = [] if held is None else index_files.missing(held)
    if not repair or held is None or not lost:
        return [found]
    done = write_vectors(store.collection, held, lost, ledger, embed)
    return [replace(found, what=f"{found.what} {done}", mended=not index_files.index_damage(directory, known))]


def _ledger(ledger: Ledger) -> list[Finding]:
    wrong = ledger.faults()
    remedy = "Close this memory, put the ledger's file aside and open it again: reads go on from the collection."
    return [Finding("ledger", " ".join(wrong), remedy)] if wrong else []


def _gone(directory: Path | None, store: ChromaRecords, ledger: Ledger) -> list[Finding]:
    """A finding if the collection is empty but the ledger has records of it, or of a deleted collection of its name."""
    name, known = store.collection.name, str(store.collection.id)
    if directory is not None and chroma_database.has_records(directory, known):
        return []
    own, earlier = ledger.comparison.records_known(name)  # first: new writes reach the ledger before the collection
    if not (own or earlier) or ledger.due_records.waiting() or store.whole_size():
        return []
    what = f"The collection {name!r} is empty, but the ledger has {own} of its records."
    if earlier:
        what = f"The collection {name!r} is new and empty, but the ledger has {earlier} records of one that is gone."
    return [Finding("records", what, _way_back(directory, store, ledger))]


def _way_back(directory: Path | None, store: ChromaRecords, ledger: Ledger) -> str:
    """How to restore records that are gone."""
    name, file = store.collection.name, ledger.file.place if isinstance(ledger, SQLiteLedger) else None
    copied = ledger.notes.copy_of(name)
    if directory is None or file is None or copied is None or copied.uuid == str(store.collection.id):
        return "If that was not intended, restore Chroma's directory from a backup."
    where = "" if is_next_to_files(directory, file) else f", ledger={str(file)!r}"
    return (
        "If that was not intended, close the memory before anything is written, and call "
        f"AdaptiveMemory.repair({str(directory)!r}, collection={name!r}{where}): it rebuilds the collection from "
        f"the ledger's copy of {copied.records} records. Or restore Chroma's directory from a backup."
    )


def noticed_restore(directory: Path | None, store: ChromaRecords, ledger: Ledger) -> list[Finding]:
    """A finding if Chroma counts fewer writes than at the last comparison with the ledger, so its files are from a
    backup. This is recorded, because later writes would hide it. Also reports that the importer found most records
    gone."""
    name, known = store.collection.name, ledger.mirror.complete_at()
    if not ledger.read_only and directory is not None and known is not None and known.isdecimal():
        last = chroma_database.last_write(directory, str(store.collection.id))
        if last is not None and last < int(known):
            ledger.mirror.keep_complete_at(known := RESTORED)
    what = {
        RESTORED: f"The collection {name!r} is older than the ledger: Chroma's files are from a backup.",
        EMPTIED: f"Most records are gone from the collection {name!r} at once, and the ledger keeps them.",
    }.get(known or "")
    remedy = "Call check(repair=True): it writes them again from the ledger's copies, without embedding anything."
    return [] if what is None else [Finding("records", what, remedy)]


def _restored(directory: Path | None, store: ChromaRecords, ledger: Ledger, *, repair: bool) -> list[Finding]:
    """The records that an older collection lacks; `repair` writes them again."""
    noticed = noticed_restore(directory, store, ledger)
    if not noticed:
        return []
    copied = ledger.mirror.stored_ids()
    pages = [sorted(copied)[start : start + PAGE] for start in range(0, len(copied), PAGE)]
    lacking = [one for page in pages for one in _differing(page, store, ledger)]
    extra = sorted(set(store.ids()) - copied)
    what = f"{noticed[0].what} {len(lacking)} records are missing or older there."
    found = [replace(noticed[0], what=what, mended=repair)]
    if repair:
        ledger.due_records.mark(lacking, gone=False)
        refill(ledger, store.collection)
        ledger.mirror.keep_complete_at(None)
    return [*found, _kept(extra)] if extra else found


def _kept(extra: Sequence[str]) -> Finding:
    named = ", ".join(map(repr, extra[:NAMED])) + (", ..." if len(extra) > NAMED else "")
    return Finding(
        "records",
        f"The collection has {len(extra)} records without a copy in the ledger: {named}. They were removed after that "
        "backup, or written by another program since, and are left unchanged.",
        "Forget again those that should be gone.",
        mended=True,
    )


def _differing(page: Sequence[str], store: ChromaRecords, ledger: Ledger) -> list[str]:
    """The ids whose copy in the ledger differs from the collection, or is missing there."""
    there = {stored_id: (text or "", metadata or None) for stored_id, text, metadata in store.rows(page)}
    copies = ledger.mirror.rows(page)
    return [one for one, text, metadata in copies if there.get(one) != (text or "", metadata or None)]


SAME_SECONDS = 0.001  # the collection stores times with six decimals


def _older(directory: Path | None, store: ChromaRecords, ledger: Ledger, *, repair: bool, now: float) -> list[Finding]:
    """A finding if the collection shows later reads than the ledger has. A read reaches the ledger before the
    collection, so the ledger is an older copy. With `repair`, the larger counts and the later reads are taken."""
    latest = ledger.comparison.latest_read()
    if latest is None or ledger.read_only:
        return []
    bound, key = float(latest) + SAME_SECONDS, store.fields.last_read
    if directory is not None:
        shown = chroma_database.above(directory, str(store.collection.id), key, bound)
    else:
        shown = ids_where(store.collection, {key: {"$gt": bound}})
    met = ledger.comparison.met(shown)
    later = store.metadata(met) if met else {}
    if not later:
        return []
    what = f"The ledger is older than the collection, which shows later reads of {len(later)} records."
    if not repair:
        return [Finding("ledger", what, "Call check(repair=True): it takes the larger counts and the later reads.")]
    for stored_id, metadata in later.items():
        if (owner := owner_of(metadata, store.fields)) is not None:
            state = state_in_metadata(metadata, store.fields)
            seen = Seen(state, _kind(store, metadata))
            rule = partial(_larger, shown=state)
            ledger.states.change(owner, stored_id, seen, rule, what="restored", by="collection", now=now)
    taken = "The larger counts and the later reads were taken. Other changes since then are not in the ledger."
    return [Finding("ledger", what, taken, mended=True)]


def _larger(seen: Seen, *, timeline: Timeline, shown: ReadState) -> ReadState:  # noqa: ARG001 - a ledger rule's signature
    return larger(seen.state, shown)


def _duplicates(store: ChromaRecords, ledger: Ledger, repair: bool) -> list[Finding]:
    pairs = list(find_duplicates(store))
    if not pairs:
        return []
    if repair:
        for pair in pairs:
            merge_duplicates(store, ledger, pair)
    named = ", ".join(f"{record_id(one.scope, one.kept)!r} of {one.scope}" for one in pairs[:10])
    what = f"{len(pairs)} records are stored twice under one user and id: {named}."
    return [Finding("records", what, "Call check(repair=True): it merges them and keeps the later text.", repair)]


RecordRow = tuple[str, str | None, Metadata | None]


@dataclass(frozen=True, slots=True)
class DuplicateRecords:
    """Two records with the same user and id, given by their ids in the collection; `same` means equal texts."""

    scope: Scope
    kept: str
    gone: str
    same: bool


def find_duplicates(store: ChromaRecords) -> Iterator[DuplicateRecords]:
    """Find records that are stored under both their plain id and their scoped id. A user's record gets a scoped id if
    another user's record has the plain id."""
    marked = [one for one in store.ids() if MARK in one]
    for start in range(0, len(marked), PAGE):
        page = marked[start : start + PAGE]
        plain = {one: one.rpartition(MARK)[0] for one in page}
        rows = {row[0]: row for row in store.rows([*page, *set(plain.values())])}
        for scoped, own in plain.items():
            found = _duplicates_of(store, rows.get(own), rows.get(scoped))
            if found is not None:
                yield found


def _duplicates_of(store: ChromaRecords, own: RecordRow | None, scoped: RecordRow | None) -> DuplicateRecords | None:
    if own is None or scoped is None:
        return None
    scope = owner_of(own[2], store.fields)
    if scope is None or scope != owner_of(scoped[2], store.fields):
        return None
    if scoped_id(scope, record_id(scope, scoped[0])) != scoped[0]:
        return None
    later = (created_at(scoped[2], store.fields) or 0.0) > (created_at(own[2], store.fields) or 0.0)
    kept, gone = (scoped, own) if later else (own, scoped)
    return DuplicateRecords(scope, kept[0], gone[0], own[1] == scoped[1])


def merge_duplicates(store: ChromaRecords, ledger: Ledger, pair: DuplicateRecords) -> None:
    """Keep one of the two records. If their texts are equal, the reads of both count; else only those of the kept
    record, because reads belong to a text. If this is interrupted, both are still found and merged the next time."""
    join = added if pair.same else None
    ledger.comparison.merge(pair.scope, pair.kept, pair.gone, join)
    store.remove([pair.gone])
    ledger.comparison.merge(pair.scope, pair.kept, pair.gone, join)  # once more, for reads and copies in between


NAMED = 10  # ids in a finding


def rewritten_records(store: ChromaRecords, ledger: Ledger, *, repair: bool, now: float) -> list[Finding]:
    """A finding that names records whose text was replaced; `repair` resets their read state."""
    names: list[str] = []
    for scope, changed in _rewritten(store, ledger):
        names += [f"{record_id(scope, one)!r} of {scope}" for one in changed]
        if repair:
            ledger.inheritance.settle(scope, Moves(rewritten=changed), by="check", now=now)
    if not names:
        return []
    records = "1 record was" if len(names) == 1 else f"{len(names)} records were"
    what = f"{records} written over with other words since the reads that are known: {', '.join(names[:NAMED])}."
    remedy = "The next recall that finds one resets its read state; check(repair=True) does it for all now."
    return [Finding("records", what, remedy, repair)]


def _rewritten(store: ChromaRecords, ledger: Ledger) -> Iterator[tuple[Scope, dict[str, Rewritten]]]:
    """The rewritten records of each scope, page by page."""
    ids = store.ids()
    for start in range(0, len(ids), PAGE):
        owners: dict[Scope, list[RecordRow]] = {}
        for row in store.rows(ids[start : start + PAGE]):
            scope = owner_of(row[2], store.fields)
            if scope is not None:
                owners.setdefault(scope, []).append(row)
        for scope, rows in owners.items():
            if changed := _of_scope(store, ledger, scope, rows):
                yield scope, changed


def _of_scope(store: ChromaRecords, ledger: Ledger, scope: Scope, rows: Sequence[RecordRow]) -> dict[str, Rewritten]:
    """The scope's records whose text has changed since something was learned about them."""
    known = ledger.states.known(scope, [row[0] for row in rows])
    met = {one: words for one, words in known.text_digests.items() if one in known.states and words}
    changed = [row for row in rows if row[0] in met and text_digest(row[1]) not in (None, met[row[0]])]
    return {row[0]: Rewritten(met[row[0]], never_read(Seen(NEVER_READ, _kind(store, row[2])))) for row in changed}


def _kind(store: ChromaRecords, metadata: Metadata | None) -> str | None:
    kind = (metadata or {}).get(store.fields.kind)
    return kind if isinstance(kind, str) else None


def may_be_lost(directory: Path, collection_id: str) -> bool:
    """Whether Chroma may have lost the collection's records: it has none for this collection."""
    try:
        return not chroma_database.has_records(directory, collection_id)
    except StoreError:
        return True  # checked again at the next opening


def forget_gone_collections(directory: Path, ledger: Ledger) -> None:
    """Delete the rows of collections that no longer exist in Chroma's directory."""
    known = ledger.retention.collections()  # before Chroma is asked: a collection created in between still exists
    if len(known) < 2:
        return
    try:
        there = chroma_database.collection_ids(directory)
    except StoreError:
        return  # checked again at the next opening
    ledger.retention.forget_collections(known - there)
