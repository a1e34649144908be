"""A collection repaired that can't be opened: its index rebuilt, or the collection made again from the ledger's
copy.

The directory is locked, and no other client may have it open. A lost collection is filled under another name first, and
takes its own once it is complete: what is interrupted is begun again by the next call, and damaged files are kept.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import EmbedderMismatchError, NotFoundError, StoreError, StoreInUseError
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store import locations, process_locks
from adaptive_memory_core.store.chroma import chroma_database, index_files
from adaptive_memory_core.store.chroma.chroma_calls import call_chroma, overwrite
from adaptive_memory_core.store.chroma.chroma_database import DatabaseContents
from adaptive_memory_core.store.chroma.index_rebuild import ASIDE, Progress, Rebuilt, finish, move_aside, rebuild
from adaptive_memory_core.store.embedder_check import DIMENSION_KEY, NAME_KEY, same_model
from adaptive_memory_core.store.ledger import mirror_rows
from adaptive_memory_core.store.ledger.mirror_rows import LedgerCopy, copied_vectors
from adaptive_memory_core.store.sqlite_file import LedgerFile

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


def repair_index(
    directory: Path,
    name: str,
    embedder: Callable[[], Embedder],
    ledger: Path | None,
    progress: Progress | None,
    *,
    asked: bool = False,
) -> list[Finding]:
    """Rebuild the collection's index if it is damaged, or if asked to; gives what was found. The embedder is made only
    if it is needed."""
    with process_locks.held(directory):
        _refuse_other_clients(directory)
        restored = restore_collection(directory, name, ledger, progress)
        if restored:
            return restored
        known = _known(directory, name)
        found, held = index_files.index_damage(directory, known), chroma_database.contents(directory, known)
        if held is None or not (found or asked):
            return [] if held is None else _finished(held)
        done = _rebuilt(directory, name, held, embedder, ledger, progress)
        what = f"{' '.join(found)} {_told(done)}".strip()
        return [Finding("index", what, mended=not index_files.index_damage(directory, known))]


def _known(directory: Path, name: str) -> str:
    """The collection's id."""
    known = chroma_database.collection_id(directory, name)
    if known is None:
        raise NotFoundError(f"There is no collection {name!r} in {str(directory)!r}. Give the name of one that is.")
    return known


def _rebuilt(
    directory: Path,
    name: str,
    held: DatabaseContents,
    embedder: Callable[[], Embedder],
    ledger: Path | None,
    progress: Progress | None,
) -> Rebuilt:
    aside = move_aside(held)
    client = locations.open_client(directory)
    try:
        collection = client.get_collection(name, embedding_function=None)
        noted = _noted(ledger, held.collection_id)
        embed = _Checked(embedder, held, [(collection.metadata or {}).get(NAME_KEY), noted])
        return rebuild(collection, held, aside, embed, progress, partial(copied_vectors, ledger, held.collection_id))
    finally:
        locations.close_client(client)


def _finished(held: DatabaseContents) -> list[Finding]:
    finish(held)
    return []


class _Checked:
    """Texts to vectors, by the embedder that the collection was written with and by no other."""

    def __init__(self, embedder: Callable[[], Embedder], held: DatabaseContents, names: Sequence[str | None]) -> None:
        self._make, self._held, self._names = embedder, held, [one for one in names if one is not None]
        self._embedder: Embedder | None = None

    def __call__(self, texts: Sequence[str]) -> Any:
        if self._embedder is None:
            self._embedder = self._make()
            strange = [one for one in self._names if not same_model(one, self._embedder.name)]
            if strange:
                raise self._mismatch(f"{strange[0]!r}")
        made = self._embedder.embed_documents(texts)
        if made.shape[1] != self._held.dimension:
            raise self._mismatch(f"another embedder ({self._held.dimension} dimensions)")
        return made

    def _mismatch(self, recorded: str) -> EmbedderMismatchError:
        given = "None" if self._embedder is None else f"{self._embedder.name!r} ({self._embedder.dimension} dimensions)"
        return EmbedderMismatchError(
            f"The collection was written with {recorded}; given is {given}. Vectors have to be made again: pass the "
            "embedder it was written with. Nothing is lost; the old files are kept."
        )


def _told(done: Rebuilt) -> str:
    lost = f" {len(done.without_vector)} have neither a vector nor a text: {', '.join(done.without_vector[:10])}."
    return (
        f"It was rebuilt: {done.kept} vectors could still be read or were in the ledger, "
        f"{done.embedded} were embedded again."
        + (lost if done.without_vector else "")
        + (f" The old files are in {str(done.aside[0].parent)!r}; delete them when all is well." if done.aside else "")
    )


def _refuse_other_clients(directory: Path) -> None:
    """A client that has the old index in RAM would write it over the new one."""
    from chromadb.api.shared_system_client import SharedSystemClient

    taken = {Path(str(one)).resolve() for one in SharedSystemClient._identifier_to_system}
    if directory.resolve() in taken:
        raise StoreInUseError(
            f"This process has a Chroma client over {str(directory)!r}, which may hold the damaged index. Close it "
            "(client.close()), or call repair from another process."
        )


def _noted(ledger: Path | None, collection_id: str) -> str | None:
    """The embedder that the ledger says the collection was written with."""
    if ledger is None or not ledger.exists():
        return None
    try:
        connection = sqlite3.connect(f"{ledger.resolve().as_uri()}?mode=ro", uri=True)
        try:
            query = "SELECT embedder FROM collections WHERE uuid = ?"
            row = connection.execute(query, (collection_id,)).fetchone()
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError):
        return None  # what is wrong with the ledger is told on opening it
    return None if row is None else row[0]


SUFFIX = "-being-restored"
BATCH = 1_000  # records of one write


def restore_collection(directory: Path, name: str, ledger: Path | None, progress: Progress | None) -> list[Finding]:
    """Make the collection again where the ledger has a copy of it, and Chroma has not; gives what was found."""
    wrong = (
        chroma_database.database_faults(directory)
        if (directory / chroma_database.DATABASE).exists()
        else ["it is gone."]
    )
    copied = mirror_rows.find_copy(ledger, name)
    if copied is None or ledger is None or not (wrong or _is_lost(directory, name, copied)):
        return []
    kept = _move_aside(directory) if wrong else None
    client = locations.open_client(directory)
    try:
        made = _filled(client, name, ledger, copied, progress)
        _attach(ledger, copied, str(made.id), name)
        _take_name(client, made, name)
    finally:
        locations.close_client(client)
    return [Finding("database" if wrong else "records", _report_filled(name, copied, wrong, kept), mended=True)]


def _is_lost(directory: Path, name: str, copied: LedgerCopy) -> bool:
    """Whether the collection that the ledger belongs to is gone, replaced by nothing or by an empty one."""
    known = chroma_database.collection_id(directory, name)
    if known is None:
        return True
    return known != copied.uuid and chroma_database.size(directory, known) == 0


def _move_aside(directory: Path) -> Path:
    """All of Chroma's files, for a database without its index, or the other way round, is of no use."""
    shelf = directory / ASIDE
    place = shelf / f"database-{len(list(shelf.glob('database-*'))) + 1}"
    files = [*directory.glob(f"{chroma_database.DATABASE}*"), *(one.parent for one in directory.glob("*/header.bin"))]
    try:
        place.mkdir(parents=True)
        for file in files:
            shutil.move(file, place / file.name)
    except OSError as error:
        raise StoreError(
            f"Chroma's files cannot be moved to {str(place)!r}: {reason(error)}. Make it writable."
        ) from error
    return place


def _filled(client: ClientAPI, name: str, ledger: Path, copied: LedgerCopy, progress: Progress | None) -> Any:
    from chromadb.errors import NotFoundError

    with suppress(NotFoundError):
        client.delete_collection(name + SUFFIX)
    notes = {NAME_KEY: copied.embedder, DIMENSION_KEY: copied.dimension}
    known = {key: value for key, value in notes.items() if isinstance(value, str | int)}
    made = locations.open_collection(client, name + SUFFIX, known)
    rows, done = mirror_rows.copied_rows(ledger, copied.key), 0
    while batch := list(islice(rows, BATCH)):
        overwrite(made, batch, ())
        done += len(batch)
        if progress is not None:
            progress(done, copied.records)
    return made


def _attach(ledger: Path, copied: LedgerCopy, uuid: str, name: str) -> None:
    """From now on the ledger speaks for the new collection as it did for the old one."""
    with closing(LedgerFile(str(ledger))) as file, file.writing() as sql:
        sql.execute("DELETE FROM collections WHERE name = ? AND collection_key != ? AND rows = 0", (name, copied.key))
        sql.execute("UPDATE collections SET uuid = ?, replaces = NULL WHERE collection_key = ?", (uuid, copied.key))
        sql.execute("UPDATE mirror_size SET complete_at = NULL WHERE collection_key = ?", (copied.key,))


def _take_name(client: ClientAPI, made: Any, name: str) -> None:
    from chromadb.errors import NotFoundError

    with suppress(NotFoundError):
        client.delete_collection(name)  # an empty one
    call_chroma(lambda: made.modify(name=name))


def _report_filled(name: str, copied: LedgerCopy, wrong: list[str], kept: Path | None) -> str:
    why = f"{chroma_database.DATABASE}: {'; '.join(wrong)}" if wrong else f"The collection {name!r} was lost."
    where = "" if kept is None else f" The old files are in {str(kept)!r}; delete them when all is well."
    return (
        f"{why} It was made again from the ledger's copy: {copied.records} records, with their vectors and reads; for "
        f"cosine distance. What other programs wrote after the ledger last compared is not in it.{where}"
    )
