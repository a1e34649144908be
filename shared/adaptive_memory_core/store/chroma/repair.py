"""How is a collection repaired that cannot be opened? With its directory locked, and no other client over it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import EmbedderMismatchError, NotFoundError, StoreInUseError
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store import locations, process_lock
from adaptive_memory_core.store.chroma import damage, own_database
from adaptive_memory_core.store.chroma.own_database import Contents
from adaptive_memory_core.store.chroma.rebuild import Progress, Rebuilt, finish, move_aside, rebuild
from adaptive_memory_core.store.chroma.restore import restore_collection
from adaptive_memory_core.store.embedder_check import NAME_KEY, same_model
from adaptive_memory_core.store.ledger.mirror_copy import vectors


def repair_index(
    directory: Path,
    name: str,
    embedder: Callable[[], Embedder],
    ledger: Path | None,
    progress: Progress | None,
    *,
    anew: bool = False,
) -> list[Finding]:
    """Make the collection's index anew if it is damaged, or asked for; gives what was found. The embedder is made only
    if it is needed."""
    with process_lock.held(directory):
        _refuse_other_clients(directory)
        restored = restore_collection(directory, name, ledger, progress)
        if restored:
            return restored
        known = _known(directory, name)
        found, held = damage.damage(directory, known), own_database.contents(directory, known)
        if held is None or not (found or anew):
            return [] if held is None else _finished(held)
        done = _rebuilt(directory, name, held, embedder, ledger, progress)
        what = f"{' '.join(found)} {_told(done)}".strip()
        return [Finding("index", what, mended=not damage.damage(directory, known))]


def _known(directory: Path, name: str) -> str:
    """The collection's id."""
    known = own_database.collection_id(directory, name)
    if known is None:
        raise NotFoundError(f"There is no collection {name!r} in {str(directory)!r}. Give the name of one that is.")
    return known


def _rebuilt(
    directory: Path,
    name: str,
    held: Contents,
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
        return rebuild(collection, held, aside, embed, progress, partial(vectors, ledger, held.collection_id))
    finally:
        locations.close_client(client)


def _finished(held: Contents) -> list[Finding]:
    finish(held)
    return []


class _Checked:
    """Texts to vectors, by the embedder that the collection was written with and by no other."""

    def __init__(self, embedder: Callable[[], Embedder], held: Contents, names: Sequence[str | None]) -> None:
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
        f"It was made anew: {done.kept} vectors could still be read or stood in the ledger, "
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
            "(client.close()), or call repair from a process of its own."
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
