"""How is a memory opened? Over the collection where this process may hold it, else over what the ledger has of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.models.embedder import as_embedder, bundled_unless, of_collection
from adaptive_memory_core.opened import Opened, Parts
from adaptive_memory_core.options import Options
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store import locations, process_lock
from adaptive_memory_core.store.chroma.damage import refuse_damaged
from adaptive_memory_core.store.chroma.forked import is_parents
from adaptive_memory_core.store.chroma.repair import repair_index
from adaptive_memory_core.store.guest.arrival import Elsewhere, HolderGoneError, arrived
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.store.place_names import check_collection_name, check_ledger, is_in_postgres
from adaptive_memory_core.wiring.common import Asked, Common
from adaptive_memory_core.wiring.guest import guest_parts
from adaptive_memory_core.wiring.holder import holder_parts
from adaptive_memory_core.wiring.reembed import ended
from adaptive_memory_core.wiring.take_over import TakingOver

if TYPE_CHECKING:
    from chromadb import Collection


def opened(collection: Collection | Elsewhere, options: Options) -> Opened:
    """All parts of a memory over a collection, at work; where one cannot be made, none is left open.

    HolderGoneError where there is no collection at hand and the process that held it ended meanwhile.
    """
    asked = Asked(options)
    if isinstance(collection, Elsewhere):
        with ExitStack() as handles:
            return _guest(collection, asked, handles)
    locations.check_collection(collection)
    directory = locations.directory_of(collection)
    while directory is not None and not process_lock.claimed(directory):
        own = None if is_parents(collection) else collection
        place = Elsewhere(directory, collection.name, str(collection.id), own, given=collection)
        try:
            with ExitStack() as handles:
                return _guest(place, asked, handles)
        except HolderGoneError:
            continue
    with ExitStack() as handles:
        return _holder(collection, directory, asked, handles)
    raise AssertionError("An ExitStack swallows nothing.")


def _holder(collection: Collection, directory: Path | None, asked: Asked, handles: ExitStack) -> Opened:
    """A memory over the collection itself; in a directory, which is claimed for this process by now."""
    if directory is not None:
        handles.callback(process_lock.release, directory)
        refuse_damaged(directory, str(collection.id), collection.name)
        collection = _of_this_process(collection, directory, handles)
    given = asked.options.get("embedder")
    embedder = of_collection(collection) if given is None else as_embedder(given)
    ledger = locations.open_ledger(collection, asked.options.get("ledger"), durability=asked.keeping.durability)
    if ledger.outlives_process:
        handles.callback(ledger.close)
    collection = ended(asked, collection, embedder, ledger, directory)
    ledger.attach(str(collection.id), collection.name)
    common = Common(asked, collection.name, embedder, ledger, directory)
    made = _opened(common, holder_parts(common, collection), handles)
    made.begin()
    return made


def _of_this_process(collection: Collection, directory: Path, handles: ExitStack) -> Collection:
    """The collection itself, or the same of a client of this process where it came over from the parent."""
    if not is_parents(collection):
        return collection
    with Elsewhere(directory, collection.name, str(collection.id)).opened() as (own, close):
        handles.callback(close)
        return own


def _guest(place: Elsewhere, asked: Asked, handles: ExitStack) -> Opened:
    """A memory over the mirror, which takes over the collection once it can."""
    ledger, known = arrived(place, asked.options.get("ledger"), asked.keeping, handles)
    given = asked.options.get("embedder")
    embedder = of_collection(place.given) if given is None else as_embedder(given)
    common = Common(asked, place.name, embedder, ledger, place.directory)
    taking_over = TakingOver(common, place)
    made = _opened(common, guest_parts(common, known.space, taking_over.chores, taking_over.finish), handles)
    taking_over.opened = made
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
        reranker=asked.options.get("reranker"),
        same_fact=asked.same_fact,
        reader=asked.reader,
        telemetry=asked.telemetry,
        in_turn=isinstance(common.ledger, SQLiteLedger),
    )
    asked.telemetry.opened(made)
    return made


def repaired(
    path: str | Path,
    collection: str,
    embedder: Any,
    ledger: str | Path | None,
    progress: Callable[[int, int], object] | None,
    *,
    anew: bool,
) -> Sequence[Finding]:
    """What was wrong with the index in a directory, and was mended."""
    directory = locations.checked(path)
    check_collection_name(collection)
    check_ledger(ledger)
    if is_in_postgres(ledger):
        raise InvalidInputError(
            "The ledger is in PostgreSQL, and repair() mends a directory with the ledger's file. Mend the "
            "directory with repair(path) alone, and the server by its own means."
        )
    if not (directory / locations.LEDGER_NAME if ledger is None else Path(ledger)).exists():
        directory = locations.there(path)
    beside = directory / locations.LEDGER_NAME if ledger is None else Path(ledger)
    return repair_index(directory, collection, partial(bundled_unless, embedder), beside, progress, anew=anew)
