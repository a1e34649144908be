"""A check of everything a memory needs: Chroma's database and index, the ledger, duplicate and rewritten records."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports.ledger_values import Moves, Rewritten, never_read
from adaptive_memory_core.identity import MARK, record_id, scoped_id, text_digest
from adaptive_memory_core.learn.after_read import added
from adaptive_memory_core.record_metadata import created_at, owner_of
from adaptive_memory_core.records import NEVER_READ, Metadata, Scope, Seen
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store import backup
from adaptive_memory_core.store.backup import is_next_to_files, keep_later_reads, later_reads, take_later_reads
from adaptive_memory_core.store.chroma import chroma_database, index_files
from adaptive_memory_core.store.chroma.chroma_calls import PAGE
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.collection_repair import write_vectors
from adaptive_memory_core.store.ledger.sql_ledger import SQLiteLedger

if TYPE_CHECKING:
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
        found += backup.restore_findings(directory, store, ledger, repair=repair)
        found += _gone(directory, store, ledger) + _older(directory, store, ledger, repair=repair, now=now)
        found += _duplicates(store, ledger, repair) + rewritten_records(store, ledger, repair=repair, now=now)
    return found


def compare_on_opening(directory: Path | None, store: ChromaRecords, ledger: Ledger, *, now: float) -> None:
    """Warn if the ledger has more records than the collection, or fewer; skipped if the server cannot be reached."""
    try:
        what = _what_is_gone(directory, store, ledger)
        older = None if what is not None else backup.noticed_restore(directory, store, ledger)
        take_later_reads(store, ledger, directory, now=now)
    except StoreError:
        return
    if what is not None:
        warnings.warn(f"{what}. {_way_back(directory, store, ledger)}", RuntimeWarning, stacklevel=4)
    if older is not None:
        warnings.warn(f"{older} check(repair=True) brings it up to date.", RuntimeWarning, stacklevel=4)


def _what_is_gone(directory: Path | None, store: ChromaRecords, ledger: Ledger) -> str | None:
    """What there was before, where the collection is empty now."""
    name, known = store.collection.name, str(store.collection.id)
    if directory is not None and chroma_database.has_records(directory, known):
        return None
    own, earlier = ledger.comparison.records_known(name)  # first: what others write now goes to the ledger, then there
    if ledger.due_records.waiting() or store.whole_size():
        return None
    if earlier:
        return f"The collection {name!r} is new and empty, but the ledger has {earlier} records of one that is gone"
    return f"The collection {name!r} is empty, but the ledger has {own} of its records" if own else None


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
    what = _what_is_gone(directory, store, ledger)
    return [] if what is None else [Finding("records", f"{what}.", _way_back(directory, store, ledger))]


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


def _older(directory: Path | None, store: ChromaRecords, ledger: Ledger, *, repair: bool, now: float) -> list[Finding]:
    later = later_reads(store, ledger, directory)
    if not later:
        return []
    if repair:
        keep_later_reads(store, ledger, later, now=now)
    what = f"The collection shows later reads of {len(later)} records than the ledger: the ledger is an older copy."
    return [Finding("ledger", what, "Call check(repair=True): the larger counts and the later reads hold.", repair)]


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
    return {row[0]: Rewritten(met[row[0]], never_read(Seen(NEVER_READ, _kind(store, row)))) for row in changed}


def _kind(store: ChromaRecords, row: RecordRow) -> str | None:
    kind = (row[2] or {}).get(store.fields.kind)
    return kind if isinstance(kind, str) else None
