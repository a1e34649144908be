"""Opening a memory: over the collection if this process may hold it, otherwise over the ledger's copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.running_calls import waiting_at_most
from adaptive_memory_core.models.embedder import as_embedder, bundled_unless, of_collection
from adaptive_memory_core.opened import Opened, Parts
from adaptive_memory_core.options import Options
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store import locations, process_locks
from adaptive_memory_core.store.chroma.collection_repair import repair_collection
from adaptive_memory_core.store.chroma.index_files import refuse_damaged_index
from adaptive_memory_core.store.chroma.open_collection import is_parents
from adaptive_memory_core.store.held_elsewhere import (
    HeldElsewhere,
    HolderGoneError,
    open_as_guest,
    open_briefly,
    open_for_reading,
)
from adaptive_memory_core.store.locations import check_collection_name, check_ledger, is_in_postgres
from adaptive_memory_core.whole_file import expanded
from adaptive_memory_core.wiring.common import Common, OpenRequest, ended
from adaptive_memory_core.wiring.parts import parts_over_collection, parts_over_ledger

if TYPE_CHECKING:
    from chromadb import Collection


def opened(collection: Collection | HeldElsewhere, options: Options) -> Opened:
    """Open and start all parts of a memory over a collection; if one fails, none is left open.

    Raises HolderGoneError if the collection is not available and the process that held it has ended in the meantime,
    and CollectionNeededError if a brief call needs the collection. It waits for other writers of the ledger for as long
    as a call does.
    """
    asked = OpenRequest(options)
    return waiting_at_most(asked.keeping.wait_seconds, _made, collection, asked)


def _made(collection: Collection | HeldElsewhere, asked: OpenRequest) -> Opened:
    if isinstance(collection, HeldElsewhere):
        with ExitStack() as handles:
            return _guest(collection, asked, handles)
    locations.check_collection(collection)
    directory = locations.directory_of(collection)
    while directory is not None and not process_locks.claimed(directory):
        own = None if is_parents(collection) else collection
        place = HeldElsewhere(directory, collection.name, str(collection.id), own, given=collection)
        try:
            with ExitStack() as handles:
                return _guest(place, asked, handles)
        except HolderGoneError:
            continue
    with ExitStack() as handles:
        return _holder(collection, directory, asked, handles)
    raise AssertionError("An ExitStack swallows nothing.")


def _holder(collection: Collection, directory: Path | None, asked: OpenRequest, handles: ExitStack) -> Opened:
    """A memory over the collection itself. A directory has already been claimed for this process."""
    if directory is not None:
        handles.callback(process_locks.release, directory)
        refuse_damaged_index(directory, str(collection.id), collection.name)
        collection = _of_this_process(collection, directory, handles)
    given = asked.options.get("embedder")
    embedder = of_collection(collection) if given is None else as_embedder(given)
    ledger = locations.open_ledger(collection, asked.options.get("ledger"), durability=asked.keeping.durability)
    if ledger.outlives_process:
        handles.callback(ledger.close)
    collection = ended(asked, collection, embedder, ledger, directory)
    ledger.attach(str(collection.id), collection.name)
    common = Common(asked, collection.name, embedder, ledger, directory)
    made = _opened(common, parts_over_collection(common, collection), handles)
    made.begin()
    return made


def _of_this_process(collection: Collection, directory: Path, handles: ExitStack) -> Collection:
    """The collection; if it was inherited from the parent process, the same one opened by a client of this process."""
    if not is_parents(collection):
        return collection
    with HeldElsewhere(directory, collection.name, str(collection.id)).opened() as (own, close):
        handles.callback(close)
        return own


def _guest(place: HeldElsewhere, asked: OpenRequest, handles: ExitStack) -> Opened:
    """A memory over the ledger's copy, which opens the collection as soon as it can, unless it is read-only."""
    given_ledger = asked.options.get("ledger")
    if place.read_only:
        ledger, known = open_for_reading(place, given_ledger, handles)
    elif place.brief:
        ledger, known = open_briefly(place, asked.keeping, handles)
    else:
        ledger, known = open_as_guest(place, given_ledger, asked.keeping, handles)
    given = asked.options.get("embedder")
    embedder = of_collection(place.given) if given is None else as_embedder(given)
    common = Common(asked, place.name, embedder, ledger, place.directory)
    parts, taking_over = parts_over_ledger(common, known.space, place)
    made = taking_over.opened = _opened(common, parts, handles)
    made.begin()
    return made


def _opened(common: Common, parts: Parts, handles: ExitStack) -> Opened:
    asked = common.asked
    made = Opened(
        parts=parts,
        in_force=asked.in_force,
        fields=asked.fields,
        keeping=asked.keeping,
        embedder_name=common.embedder.name,
        background=common.background,
        handles=handles.pop_all(),
        reranker=asked.reranker,
        same_fact=asked.same_fact,
        reader=asked.reader,
        judge=asked.judge,
        telemetry=asked.telemetry,
    )
    if asked.telemetry is not None:
        asked.telemetry.opened(made)
    return made


def repaired(
    path: str | Path,
    collection: str,
    embedder: Any,
    ledger: str | Path | None,
    progress: Callable[[int, int], object] | None,
    *,
    rebuild: bool,
) -> Sequence[Finding]:
    """Repair a collection in a directory; return what was wrong."""
    directory = locations.checked_path(path)
    check_collection_name(collection)
    check_ledger(ledger)
    if is_in_postgres(ledger):
        raise InvalidInputError(
            "The ledger is in PostgreSQL, and repair() only repairs a directory with the ledger's file. Repair the "
            "directory with repair(path) alone, and the server with its own tools."
        )
    ledger_file = directory / locations.LEDGER_NAME if ledger is None else expanded(ledger)
    if not ledger_file.exists():
        directory = locations.existing_path(path)
    return repair_collection(
        directory, collection, partial(bundled_unless, embedder), ledger_file, progress, asked=rebuild
    )
