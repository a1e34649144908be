"""Is everything that a memory needs whole? Chroma's database and index, the ledger, and the records in them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store import half_restored
from adaptive_memory_core.store.chroma import damage, index_files, own_database
from adaptive_memory_core.store.chroma.rebuild import rebuild
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.gone_collections import is_beside
from adaptive_memory_core.store.ledger import mirror_copy
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.store.older_ledger import catch_up, read_later, take_over
from adaptive_memory_core.store.rewritten_records import rewritten_records
from adaptive_memory_core.store.twins import merge_twins, twins

PAUSES_SECONDS = (0.05, 0.2, 0.75)  # between the looks at a server's collection before it is called empty

Embed = Callable[[Sequence[str]], Any]


def whole_memory(
    directory: Path | None, store: ChromaRecords, ledger: Ledger, embed: Embed, *, repair: bool, now: float
) -> list[Finding]:
    """Everything that is wrong, and with `repair` mended, as far as it can be while the memory is open."""
    found: list[Finding] = []
    if directory is not None:
        found += _database(directory) or _index(directory, store, ledger, embed, repair=repair)
    found += _ledger(ledger)
    if not found:
        found += half_restored.findings(directory, store, ledger, repair=repair)
        found += _gone(directory, store, ledger) + _older(directory, store, ledger, repair=repair, now=now)
        found += _twins(store, ledger, repair) + rewritten_records(store, ledger, repair=repair, now=now)
    return found


def compare_on_opening(directory: Path | None, store: ChromaRecords, ledger: Ledger, *, now: float) -> None:
    """Warn where the ledger knows of more than the collection holds, or of less; a server that is away can wait."""
    try:
        what = _what_is_gone(directory, store, ledger)
        older = None if what is not None else half_restored.look(directory, store, ledger)
        catch_up(store, ledger, directory, now=now)
    except StoreError:
        return
    if what is not None:
        warnings.warn(f"{what}. {_way_back(directory, store, ledger)}", RuntimeWarning, stacklevel=4)
    if older is not None:
        warnings.warn(f"{older} check(repair=True) brings it up to date.", RuntimeWarning, stacklevel=4)


def _what_is_gone(directory: Path | None, store: ChromaRecords, ledger: Ledger) -> str | None:
    """What there was before, where the collection is empty now."""
    name, known = store.collection.name, str(store.collection.id)
    if (directory is not None and own_database.has_records(directory, known)) or store.whole_size():
        return None
    own, earlier = ledger.comparison.records_known(name)
    if own and directory is None and _arrives(store):
        return None
    if earlier:
        return f"The collection {name!r} is new and empty, and the ledger knows {earlier} records of one that is gone"
    return f"The collection {name!r} is empty, and the ledger knows {own} records of it" if own else None


def _arrives(store: ChromaRecords) -> bool:
    """Does a server get records after all? Another machine writes its first ones: to the ledger, then there."""
    for seconds in PAUSES_SECONDS:
        if store.whole_size():
            return True
        time.sleep(seconds)
    return store.whole_size() > 0


def _database(directory: Path) -> list[Finding]:
    wrong = own_database.faults(directory)
    remedy = (
        "Close the memory and call AdaptiveMemory.repair(path): it makes a collection again of which the ledger has a "
        "copy. Where it has none, restore a backup."
    )
    return [Finding("database", f"{own_database.DATABASE}: {'; '.join(wrong)}", remedy)] if wrong else []


def _index(directory: Path, store: ChromaRecords, ledger: Ledger, embed: Embed, *, repair: bool) -> list[Finding]:
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
    done = rebuild(store.collection, replace(held, ids=tuple(lost)), (), embed, None, partial(_copies, ledger))
    what = f"{found.what} Their vectors were copied from the ledger ({done.kept}) or made again ({done.embedded})."
    return [replace(found, what=what, mended=not damage.damage(directory, known))]


def _copies(ledger: Ledger, texts: Mapping[str, str | None]) -> dict[str, Any]:
    """The mirror's vectors of those of the records that still say the same."""
    same = [one for one, text, _ in ledger.mirror.rows(list(texts)) if (text or "") == (texts[one] or "")]
    return {one: np.frombuffer(row, dtype="<f4") for one, row in ledger.mirror.vectors(same).items()}


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
    copied = None if directory is None else mirror_copy.copied(file, name)
    if directory is None or file is None or copied is None or copied.uuid == str(store.collection.id):
        return "Where that was not meant, restore Chroma's directory from a backup."
    where = "" if is_beside(directory, file) else f", ledger={str(file)!r}"
    return (
        "Where that was not meant, close the memory before anything is written, and call "
        f"AdaptiveMemory.repair({str(directory)!r}, collection={name!r}{where}): it makes the collection again from "
        f"the ledger's copy of {copied.records} records. Or restore Chroma's directory from a backup."
    )


def _older(directory: Path | None, store: ChromaRecords, ledger: Ledger, *, repair: bool, now: float) -> list[Finding]:
    later = read_later(store, ledger, directory)
    if not later:
        return []
    if repair:
        take_over(store, ledger, later, now=now)
    what = f"The collection shows later reads of {len(later)} records than the ledger knows: it is an older one."
    return [Finding("ledger", what, "Call check(repair=True): the larger counts and the later reads hold.", repair)]


def _twins(store: ChromaRecords, ledger: Ledger, repair: bool) -> list[Finding]:
    pairs = list(twins(store))
    if not pairs:
        return []
    if repair:
        for pair in pairs:
            merge_twins(store, ledger, pair)
    named = ", ".join(f"{record_id(one.scope, one.kept)!r} of {one.scope}" for one in pairs[:10])
    what = f"{len(pairs)} records stand twice under one user and id: {named}."
    return [Finding("records", what, "Call check(repair=True): they are merged, the later text stays.", repair)]
