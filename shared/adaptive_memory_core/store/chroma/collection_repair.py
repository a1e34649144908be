"""Rebuild Chroma: its index from the collection's own records, or a lost collection from the ledger's copy.

A torn index loses only vectors. Its files are moved aside, so that Chroma creates a new index, and every record gets
its vector again; text and metadata stay unchanged. A lost collection is replaced by an empty one, and all of the
ledger's records are exported into it. If either is interrupted, call it again. The directory is locked, and no other
client may have it open.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import LedgerError, NotFoundError, StoreError, StoreInUseError
from adaptive_memory_core.flow.ports.ledger_values import LedgerCopy
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store import locations, process_locks
from adaptive_memory_core.store.chroma import chroma_database, index_files
from adaptive_memory_core.store.chroma.chroma_calls import client_of, rows_by_id, space_of, write_chroma
from adaptive_memory_core.store.chroma.chroma_database import DatabaseContents
from adaptive_memory_core.store.chroma.exporter import Exporter
from adaptive_memory_core.store.embedder_check import DIMENSION_KEY, NAME_KEY, CheckedEmbedder
from adaptive_memory_core.store.ledger.sql_ledger import Ledger, SQLiteLedger

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI

ASIDE = "adaptive_memory_damaged"
BATCH = 1_000  # records per write: each costs the same number of fsyncs whatever its size
Embed = Callable[[Sequence[str]], Any]
Progress = Callable[[int, int], object]
Vectors = Mapping[str, Any]
_log = logging.getLogger(__name__)


def repair_collection(
    directory: Path,
    name: str,
    embedder: Callable[[], Embedder],
    ledger: Path,
    progress: Progress | None,
    *,
    asked: bool = False,
) -> list[Finding]:
    """Rebuild the collection if it is lost, or its index if that is damaged or `asked` for; return what was found. The
    embedder is created only if needed."""
    place = str(ledger) if ledger.exists() else locations.IN_MEMORY
    with process_locks.held(directory), closing(SQLiteLedger(place)) as opened:
        _refuse_other_clients(directory)
        return _lost(directory, name, opened, progress) or _damaged(
            directory, name, embedder, opened, progress, asked=asked
        )


def _lost(directory: Path, name: str, ledger: Ledger, progress: Progress | None) -> list[Finding]:
    """Rebuild the collection if the ledger has a copy of it and Chroma does not."""
    file = directory / chroma_database.DATABASE
    wrong = chroma_database.database_faults(directory) if file.exists() else ["it is gone."]
    copied = ledger.notes.copy_of(name)
    if copied is None or not (wrong or _is_lost(directory, name, copied)):
        return []
    kept = ""
    if wrong:  # a database without its index, or the reverse, is useless
        files = [*directory.glob(f"{file.name}*"), *(one.parent for one in directory.glob("*/header.bin"))]
        kept = _note_on_old_files(_move_aside(directory, "database", files))
    with _client(directory) as client:
        notes = {NAME_KEY: copied.embedder, DIMENSION_KEY: copied.dimension}
        known = {key: value for key, value in notes.items() if isinstance(value, str | int)}
        made = locations.open_collection(client, name, known)
        ledger.notes.give_copy(copied, str(made.id), name)
        ledger.attach(str(made.id), name)
        refill(ledger, made, progress)
    why = f"{file.name}: {'; '.join(wrong)}" if wrong else f"The collection {name!r} was lost."
    what = (
        f"{why} It was rebuilt from the ledger's copy: {copied.records} records, with their vectors and reads; for "
        f"cosine distance. What other programs wrote after the ledger last compared is not in it.{kept}"
    )
    return [Finding("database" if wrong else "records", what, mended=True)]


def _is_lost(directory: Path, name: str, copied: LedgerCopy) -> bool:
    """Whether the collection that the ledger belongs to is missing, or replaced by an empty one."""
    known = chroma_database.collection_id(directory, name)
    return known is None or (known != copied.uuid and not chroma_database.has_records(directory, known))


def refill(ledger: Ledger, collection: Collection, progress: Progress | None = None) -> None:
    """Export all pending records into the collection. If some fail, the next memory opened over it exports them."""
    exporter = Exporter(ledger, collection, Keeping(batch=BATCH))
    due = ledger.due_records.ids(exporter.pending())
    for start in range(0, len(due), BATCH):
        exporter.settle(due[start : start + BATCH])
        _report(progress, min(start + BATCH, len(due)), len(due))


def _damaged(
    directory: Path,
    name: str,
    embedder: Callable[[], Embedder],
    ledger: Ledger,
    progress: Progress | None,
    *,
    asked: bool,
) -> list[Finding]:
    """Rebuild the index if it is damaged, or if `asked` to."""
    known = chroma_database.collection_id(directory, name)
    if known is None:
        raise NotFoundError(f"There is no collection {name!r} in {str(directory)!r}. Give an existing one's name.")
    found, held = index_files.index_damage(directory, known), chroma_database.contents(directory, known)
    if held is None or not (found or asked):
        return []
    with suppress(LedgerError):  # it was moved, or is damaged: opening the memory reports it
        ledger.attach(known, name)
    is_labelled = (held.folder / index_files.NAMES).exists()
    lacking, aside = index_files.missing(held) if is_labelled and not asked else [], None
    if held.folder.exists() and not lacking:
        aside = _move_aside(directory, held.folder.name, [held.folder])
    with _client(directory) as client:
        collection = client.get_collection(name, embedding_function=None)
        noted = (collection.metadata or {}).get(NAME_KEY, ledger.notes.embedder()[0])
        checked = cache(lambda: CheckedEmbedder(embedder(), name, ledger, (noted, held.dimension)))
        ids, old = lacking or held.ids, None if aside is None else aside / held.folder.name
        done = write_vectors(
            collection, held, ids, ledger, lambda texts: checked().embed_documents(texts), old, progress
        )
    what = f"{' '.join(found)} {done}{_note_on_old_files(aside)}".strip()
    return [Finding("index", what, mended=not index_files.index_damage(directory, known))]


def write_vectors(
    collection: Collection,
    held: DatabaseContents,
    stored_ids: Sequence[str],
    ledger: Ledger,
    embed: Embed,
    old: Path | None = None,
    progress: Progress | None = None,
) -> str:
    """Write these records' vectors into Chroma again: from its log, the ledger, its `old` files if they are readable,
    or else from `embed`. Return a description."""
    cosine = space_of(collection) == "cosine"
    files = {} if old is None else index_files.readable_vectors(held, old, cosine=cosine)
    logged = chroma_database.logged_vectors(held.folder.parent, held.collection_id)
    embedded, without = 0, list[str]()
    size = min(BATCH, client_of(collection).get_max_batch_size())
    for start in range(0, len(stored_ids), size):
        page = list(stored_ids[start : start + size])
        texts = {one: text or "" for one, text, _ in rows_by_id(collection, page)}
        read = [files, _copies(ledger, texts), logged]
        vectors = {one: row for known in read for one in page if len(row := known.get(one, ())) == held.dimension}
        left = [one for one in page if one not in vectors and texts.get(one)]
        if left:
            vectors |= zip(left, embed([texts[one] for one in left]), strict=True)
        embedded += len(left)
        without += [one for one in page if one not in vectors]
        vectors |= {one: np.zeros(held.dimension or 1) for one in page if one not in vectors}
        _write(collection, vectors)
        _report(progress, start + len(page), len(stored_ids))
    lost = f" {len(without)} have neither a vector nor a text: {', '.join(without[:10])}." if without else ""
    kept = len(stored_ids) - embedded - len(without)
    old_ones = f"{kept} vectors could still be read or were in the ledger"
    return f"It was rebuilt: {old_ones}, {embedded} were embedded again.{lost}"


def _copies(ledger: Ledger, texts: Mapping[str, str]) -> Vectors:
    """The ledger's vectors of the records whose text is unchanged."""
    same = [one for one, text, _ in ledger.mirror.rows(list(texts)) if (text or "") == texts[one]]
    return {one: np.frombuffer(row, dtype="<f4") for one, row in ledger.mirror.vectors(same).items()}


def _write(collection: Collection, vectors: Vectors) -> None:
    """Write vectors with `upsert`, the only call that restores a vector missing from the index. Text and metadata stay
    unchanged."""
    rows: Any = [np.asarray(vector, dtype=np.float32) for vector in vectors.values()]
    write_chroma(collection, lambda: collection.upsert(ids=list(vectors), embeddings=rows))


def _report(progress: Progress | None, done: int, total: int) -> None:
    _log.info("The collection is being rebuilt: %d of %d records.", done, total)
    if progress is not None:
        progress(done, total)


def _move_aside(directory: Path, name: str, files: Sequence[Path]) -> Path:
    """Move files to a directory where nothing is lost and Chroma does not look; return it."""
    shelf = directory / ASIDE
    place = shelf / f"{name}-{len(list(shelf.glob(f'{name}-*'))) + 1}"
    try:
        place.mkdir(parents=True)
        for file in files:
            shutil.move(file, place / file.name)
    except OSError as error:
        raise StoreError(
            f"Chroma's files cannot be moved to {str(place)!r}: {reason(error)}. Make it writable."
        ) from error
    return place


def _note_on_old_files(place: Path | None) -> str:
    return "" if place is None else f" The old files are in {str(place)!r}; delete them when all is well."


@contextmanager
def _client(directory: Path) -> Generator[ClientAPI, None, None]:
    client = locations.open_client(directory)
    try:
        yield client
    finally:
        locations.close_client(client)


def _refuse_other_clients(directory: Path) -> None:
    """Raise if this process has a client over the directory, which would write the old index over the new one."""
    from chromadb.api.shared_system_client import SharedSystemClient

    taken = {Path(str(one)).resolve() for one in SharedSystemClient._identifier_to_system}
    if directory.resolve() in taken:
        raise StoreInUseError(
            f"This process has a Chroma client over {str(directory)!r}, which may hold the damaged index. Close it "
            "(client.close()), or call repair from another process."
        )
