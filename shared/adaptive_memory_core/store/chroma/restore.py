"""How is a collection that Chroma has lost made again? From the ledger's copy of it, vectors included, with its reads.

It is filled under another name first, and takes its own once all of it is there: a restoring that is interrupted is
begun again by the next call, and the files that were damaged are kept.
"""

from __future__ import annotations

import shutil
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.shown_in_errors import reason
from adaptive_memory_core.store import locations
from adaptive_memory_core.store.chroma import own_database
from adaptive_memory_core.store.chroma.calls import told
from adaptive_memory_core.store.chroma.overwrite import overwrite
from adaptive_memory_core.store.chroma.rebuild import ASIDE, Progress
from adaptive_memory_core.store.embedder_check import DIMENSION_KEY, NAME_KEY
from adaptive_memory_core.store.ledger import mirror_copy
from adaptive_memory_core.store.ledger.mirror_copy import Copied
from adaptive_memory_core.store.sqlite_file import LedgerFile

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

SUFFIX = "-being-restored"
BATCH = 1_000  # records of one write


def restore_collection(directory: Path, name: str, ledger: Path | None, progress: Progress | None) -> list[Finding]:
    """Make the collection again where the ledger has a copy of it, and Chroma has not; gives what was found."""
    wrong = own_database.faults(directory) if (directory / own_database.DATABASE).exists() else ["it is gone."]
    copied = mirror_copy.copied(ledger, name)
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
    return [Finding("database" if wrong else "records", _told(name, copied, wrong, kept), mended=True)]


def _is_lost(directory: Path, name: str, copied: Copied) -> bool:
    """Whether the collection that the ledger knows is no more, and nothing, or an empty one, stands in its place."""
    known = own_database.collection_id(directory, name)
    if known is None:
        return True
    return known != copied.uuid and own_database.size(directory, known) == 0


def _move_aside(directory: Path) -> Path:
    """All of Chroma's files, for a database without its index, or the other way round, is of no use."""
    shelf = directory / ASIDE
    place = shelf / f"database-{len(list(shelf.glob('database-*'))) + 1}"
    files = [*directory.glob(f"{own_database.DATABASE}*"), *(one.parent for one in directory.glob("*/header.bin"))]
    try:
        place.mkdir(parents=True)
        for file in files:
            shutil.move(file, place / file.name)
    except OSError as error:
        raise StoreError(
            f"Chroma's files cannot be moved to {str(place)!r}: {reason(error)}. Make it writable."
        ) from error
    return place


def _filled(client: ClientAPI, name: str, ledger: Path, copied: Copied, progress: Progress | None) -> Any:
    from chromadb.errors import NotFoundError

    with suppress(NotFoundError):
        client.delete_collection(name + SUFFIX)
    notes = {NAME_KEY: copied.embedder, DIMENSION_KEY: copied.dimension}
    known = {key: value for key, value in notes.items() if isinstance(value, str | int)}
    made = locations.open_collection(client, name + SUFFIX, known)
    rows, done = mirror_copy.rows(ledger, copied.key), 0
    while batch := list(islice(rows, BATCH)):
        overwrite(made, batch, ())
        done += len(batch)
        if progress is not None:
            progress(done, copied.records)
    return made


def _attach(ledger: Path, copied: Copied, uuid: str, name: str) -> None:
    """From now on the ledger speaks for the new collection as it did for the old one."""
    with closing(LedgerFile(str(ledger))) as file, file.writing() as sql:
        sql.execute("DELETE FROM collections WHERE name = ? AND collection_key != ? AND rows = 0", (name, copied.key))
        sql.execute("UPDATE collections SET uuid = ?, replaces = NULL WHERE collection_key = ?", (uuid, copied.key))
        sql.execute("UPDATE mirror_size SET complete_at = NULL WHERE collection_key = ?", (copied.key,))


def _take_name(client: ClientAPI, made: Any, name: str) -> None:
    from chromadb.errors import NotFoundError

    with suppress(NotFoundError):
        client.delete_collection(name)  # an empty one
    told(lambda: made.modify(name=name))


def _told(name: str, copied: Copied, wrong: list[str], kept: Path | None) -> str:
    why = f"{own_database.DATABASE}: {'; '.join(wrong)}" if wrong else f"The collection {name!r} was lost."
    where = "" if kept is None else f" The old files are in {str(kept)!r}; delete them when all is well."
    return (
        f"{why} It was made again from the ledger's copy: {copied.records} records, with their vectors and reads; for "
        f"cosine distance. What other programs wrote after the ledger last compared is not in it.{where}"
    )
