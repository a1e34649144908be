"""A check of everything a memory needs: Chroma's database and index, the ledger, duplicate and rewritten records; and
whether the collection or the ledger is an older one.

Rows of gone collections stay as long as the collection that was opened is empty: then Chroma's files may have been
lost, or the collection by mistake, and the ledger's copy is what it can be made again from.
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
from adaptive_memory_core.store.chroma.chroma_calls import PAGE, call_chroma
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
    """Everything that is wrong, and with `repair` mended, as far as it can be while the memory is open."""
    found: list[Finding] = []
    if directory is not None:
        found += _database(directory) or _index(directory, store, ledger, embed, repair=repair)
    found += _ledger(ledger)
    if not found:
        found += _restored(directory, store, ledger, repair=repair) + _gone(directory, store, ledger)
        found += _older(store, ledger, repair=repair, now=now)
        found += _duplicates(store, ledger, repair) + rewritten_records(store, ledger, repair=repair, now=now)
    return found


def compare_on_opening(directory: Path | None, store: ChromaRecords, ledger: Ledger, *, now: float) -> None:
    """Warn if records are gone from the collection, or if it or the ledger is an older copy; later reads that it shows
    are taken over. Skipped if the server cannot be reached."""
    try:
        found = _gone(directory, store, ledger) or noticed_restore(directory, store, ledger)
        found += _older(store, ledger, repair=True, now=now)
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
    """What there was before, where the collection is empty now."""
    name, known = store.collection.name, str(store.collection.id)
    if directory is not None and chroma_database.has_records(directory, known):
        return []
    own, earlier = ledger.comparison.records_known(name)  # first: what others write now goes to the ledger, then there
    if not (own or earlier) or ledger.due_records.waiting() or store.whole_size():
        return []
    what = f"The collection {name!r} is empty, but the ledger has {own} of its records."
    if earlier:
        what = f"The collection {name!r} is new and empty, but the ledger has {earlier} records of one that is gone."
    return [Finding("records", what, _way_back(directory, store, ledger))]


def _way_back(directory: Path | None, store: ChromaRecords, ledger: Ledger) -> str:
    """What to do about records that are gone."""
    name, file = store.collection.name, ledger.file.place if isinstance(ledger, SQLiteLedger) else None
    copied = ledger.notes.copy_of(name)
    if directory is None or file is None or copied is None or copied.uuid == str(store.collection.id):
        return "If that was not intended, restore Chroma's directory from a backup."
    where = "" if is_next_to_files(directory, file) else f", ledger={str(file)!r}"
    return (
        "If that was not intended, close the memory before anything is written, and call "
        f"AdaptiveMemory.repair({str(directory)!r}, collection={name!r}{where}): it makes the collection again from "
        f"the ledger's copy of {copied.records} records. Or restore Chroma's directory from a backup."
    )


def noticed_restore(directory: Path | None, store: ChromaRecords, ledger: Ledger) -> list[Finding]:
    """Whether Chroma counts fewer writes than the copies were compared with; that is noted, for with every further
    write it would show less. The same where the importer has noted that most records are gone."""
    name, known = store.collection.name, ledger.mirror.complete_at()
    if not ledger.read_only and directory is not None and known is not None and known.isdecimal():
        last = chroma_database.last_write(directory, str(store.collection.id))
        if last is not None and last < int(known):
            ledger.mirror.keep_complete_at(known := RESTORED)
    what = {
        RESTORED: f"The collection {name!r} is older than the ledger: Chroma's files are from a backup.",
        EMPTIED: f"Most records are gone from the collection {name!r} at once, and the ledger keeps them.",
    }.get(known or "")
    remedy = "Call check(repair=True): they are written again from the ledger's copies; nothing is embedded."
    return [] if what is None else [Finding("records", what, remedy)]


def _restored(directory: Path | None, store: ChromaRecords, ledger: Ledger, *, repair: bool) -> list[Finding]:
    """What an older collection lacks, and with `repair` has again."""
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
        f"{len(extra)} records stand there that the ledger has no copy of: {named}. They were removed after that "
        "backup, or written by another program since, and are left.",
        "Forget those that were to be gone, once more.",
        mended=True,
    )


def _differing(page: Sequence[str], store: ChromaRecords, ledger: Ledger) -> list[str]:
    """Those of the copies that the collection has otherwise, or not at all."""
    there = {stored_id: (text or "", metadata or None) for stored_id, text, metadata in store.rows(page)}
    copies = ledger.mirror.rows(page)
    return [one for one, text, metadata in copies if there.get(one) != (text or "", metadata or None)]


SAME_SECONDS = 0.001  # the collection keeps a time to six places


def _older(store: ChromaRecords, ledger: Ledger, *, repair: bool, now: float) -> list[Finding]:
    """Whether the collection shows records as read later than any read in the ledger; with `repair` the larger counts
    and the later reads hold. A read is in the ledger before the collection shows it, unless the ledger is an older
    one."""
    latest = ledger.comparison.latest_read()
    if latest is None or ledger.read_only:
        return []
    shown: Any = {store.fields.last_read: {"$gt": float(latest) + SAME_SECONDS}}
    met = ledger.comparison.met(call_chroma(lambda: store.collection.get(where=shown, include=[]))["ids"])
    later = store.metadata(met) if met else {}
    if not later:
        return []
    what = f"The ledger is older than the collection, which shows later reads of {len(later)} records."
    if not repair:
        return [Finding("ledger", what, "Call check(repair=True): the larger counts and the later reads hold.")]
    for stored_id, metadata in later.items():
        if (owner := owner_of(metadata, store.fields)) is not None:
            state = state_in_metadata(metadata, store.fields)
            seen = Seen(state, _kind(store, metadata))
            rule = partial(_larger, shown=state)
            ledger.states.change(owner, stored_id, seen, rule, what="restored", by="collection", now=now)
    taken = "The larger counts and the later reads were taken; what else happened since is not in the ledger."
    return [Finding("ledger", what, taken, mended=True)]


def _larger(seen: Seen, *, timeline: Timeline, shown: ReadState) -> ReadState:  # noqa: ARG001 - a rule of the ledger's
    return larger(seen.state, shown)


def _duplicates(store: ChromaRecords, ledger: Ledger, repair: bool) -> list[Finding]:
    pairs = list(find_duplicates(store))
    if not pairs:
        return []
    if repair:
        for pair in pairs:
            merge_duplicates(store, ledger, pair)
    named = ", ".join(f"{record_id(one.scope, one.kept)!r} of {one.scope}" for one in pairs[:10])
    what = f"{len(pairs)} records stand twice under one user and id: {named}."
    return [Finding("records", what, "Call check(repair=True): they are merged, the later text stays.", repair)]


RecordRow = tuple[str, str | None, Metadata | None]


@dataclass(frozen=True, slots=True)
class DuplicateRecords:
    """Two records of one user and id, by their ids in the collection; `same` says that their texts are equal."""

    scope: Scope
    kept: str
    gone: str
    same: bool


def find_duplicates(store: ChromaRecords) -> Iterator[DuplicateRecords]:
    """All there are: a record has its own id, and one of the same user has the id that it gets if another user's record
    took the first."""
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
    """Keep one of the two. Reads of both count if they say the same; else only those of the kept one: reads belong to
    what was said. If this is interrupted, both are still found, and merged the next time."""
    join = added if pair.same else None
    ledger.comparison.merge(pair.scope, pair.kept, pair.gone, join)
    store.remove([pair.gone])
    ledger.comparison.merge(pair.scope, pair.kept, pair.gone, join)  # what was read of it, and copied, in between


NAMED = 10  # ids in a finding


def rewritten_records(store: ChromaRecords, ledger: Ledger, *, repair: bool, now: float) -> list[Finding]:
    """A finding that names them; with `repair` each starts again."""
    names: list[str] = []
    for scope, changed in _rewritten(store, ledger):
        names += [f"{record_id(scope, one)!r} of {scope}" for one in changed]
        if repair:
            ledger.inheritance.settle(scope, Moves(anew=changed), by="check", now=now)
    if not names:
        return []
    records = "1 record was" if len(names) == 1 else f"{len(names)} records were"
    what = f"{records} written over with other words since the reads that are known: {', '.join(names[:NAMED])}."
    remedy = "The next recall that finds one resets its read state; check(repair=True) does it for all now."
    return [Finding("records", what, remedy, repair)]


def _rewritten(store: ChromaRecords, ledger: Ledger) -> Iterator[tuple[Scope, dict[str, Rewritten]]]:
    """Page by page, for each scope."""
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
    """Those whose words are others, where anything was learned of them."""
    known = ledger.states.known(scope, [row[0] for row in rows])
    met = {one: words for one, words in known.said.items() if one in known.states and words}
    changed = [row for row in rows if row[0] in met and text_digest(row[1]) not in (None, met[row[0]])]
    return {row[0]: Rewritten(met[row[0]], never_read(Seen(NEVER_READ, _kind(store, row[2])))) for row in changed}


def _kind(store: ChromaRecords, metadata: Metadata | None) -> str | None:
    kind = (metadata or {}).get(store.fields.kind)
    return kind if isinstance(kind, str) else None


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
