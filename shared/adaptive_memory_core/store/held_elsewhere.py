"""Memories over a collection that another process holds, or for one short call: they use only the ledger."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError, StoreError, StoreInUseError
from adaptive_memory_core.flow.ports.ledger_values import KnownCollection
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.store import locations, process_locks
from adaptive_memory_core.store.chroma import chroma_database
from adaptive_memory_core.store.chroma.chroma_calls import NOBODY
from adaptive_memory_core.store.ledger.sql_ledger import SQLiteLedger
from adaptive_memory_core.store.sqlite_connection import for_reading

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI

    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

LOOKED_SECONDS = 0.05
MADE_SECONDS = 10.0  # for a new holder to create or open the collection; guess


class HolderGoneError(StoreInUseError):
    """The directory has no holder any more, so the process that gets this error may take it."""


@dataclass
class HeldElsewhere:
    """A collection in a directory that another process holds.

    `collection` is used once this process holds the directory; without it, a client is opened then. `given` is the
    caller's argument, which shows the embedder. `brief` marks a memory for a single call: it leaves the collection to
    longer-lived memories, and needs no holder.
    """

    directory: Path
    name: str
    uuid: str = ""
    collection: Any = None
    given: Any = None
    read_only: bool = False
    brief: bool = False

    @contextmanager
    def opened(self) -> Iterator[tuple[Collection, Callable[[], object]]]:
        """The collection and the function that releases it, once this process holds the directory."""
        if self.collection is not None:
            yield self.collection, int
            return
        client = locations.open_client(self.directory)
        try:
            yield self._same(client), lambda: locations.close_client(client)
        except BaseException:
            locations.close_client(client)
            raise

    def _same(self, client: ClientAPI) -> Collection:
        collection = client.get_collection(self.name, embedding_function=None)
        if str(collection.id) == self.uuid:
            return collection
        raise StoreError(
            f"The collection {self.name!r} in {str(self.directory)!r} was replaced after this memory was opened. "
            "Close this memory and open it again."
        )


def open_as_guest(
    place: HeldElsewhere, ledger: object, keeping: Keeping, handles: ExitStack
) -> tuple[Ledger, KnownCollection]:
    """Open the ledger next to the collection once all records are copied there; return it with what the holder recorded
    about the collection."""
    if not locations.is_next_to_files(place.directory, ledger) or keeping.copy_limit == 0:
        process_locks.refuse(place.directory, "and this one asks for another ledger, or for no mirror")
    opened = SQLiteLedger(str(place.directory / locations.LEDGER_NAME), durability=keeping.durability)
    handles.callback(opened.close)
    known = _waited_for(place, opened, keeping.wait_seconds)
    place.uuid = known.uuid
    return opened, known


MOST_STATES = 100  # states pending for the collection that brief calls may leave to others; guess


class CollectionNeededError(StoreError):
    """A brief call cannot use the ledger alone: the collection may have more records, or be too far behind."""


def open_briefly(place: HeldElsewhere, keeping: Keeping, handles: ExitStack) -> tuple[Ledger, KnownCollection]:
    """Open the ledger next to the collection if its records equal the collection's.

    Importing Chroma and opening the collection would take longer than the rest of a single recall. A process that has
    imported Chroma gains nothing, and must not open Chroma's file separately.
    """
    file = place.directory / locations.LEDGER_NAME
    if "chromadb" not in sys.modules and file.exists() and locations.is_writable(place.directory):
        opened = SQLiteLedger(str(file), durability=keeping.durability)
        handles.callback(opened.close)
        known = _known(place, opened)
        if known is not None and _has_all(place, opened, known):
            place.uuid = known.uuid
            return opened, known
    raise CollectionNeededError(f"The ledger in {str(place.directory)!r} is incomplete. Open the collection.")


def _has_all(place: HeldElsewhere, ledger: Ledger, known: KnownCollection) -> bool:
    """Whether the collection has no writes since it was last compared, and few states wait to be written into it."""
    ledger.attach(known.uuid, place.name)
    if ledger.due_records.waiting() or ledger.outbox.waiting() > MOST_STATES:
        return False
    if ledger.new_vectors.unfinished(place.name) is not None:
        return False
    at = ledger.mirror.complete_at() or ""
    try:
        return at.isdecimal() and ledger.mirror.size() == chroma_database.size_as_of(
            place.directory, known.uuid, int(at), apart=NOBODY
        )
    except StoreError:  # opening the collection reports the fault
        return False


def open_for_reading(place: HeldElsewhere, ledger: object, handles: ExitStack) -> tuple[Ledger, KnownCollection]:
    """Open the ledger next to the collection for reading; it must have a complete copy of the collection's records."""
    file = place.directory / locations.LEDGER_NAME
    if not locations.is_next_to_files(place.directory, ledger):
        raise InvalidInputError(
            f"The ledger is {shown(ledger)}, and a memory that is open for reading only reads the one in its own "
            f"directory, {str(place.directory)!r}. Leave ledger out, or open the memory where it may be written."
        )
    if not file.exists():
        raise InvalidInputError(f"There is no memory in {str(place.directory)!r}. Give the directory that holds one.")
    opened = SQLiteLedger(for_reading(file))
    handles.callback(opened.close)
    known = _known(place, opened)
    if known is not None:
        opened.attach(known.uuid, place.name)
    if known is None or opened.mirror.complete_at() is None:
        raise StoreError(
            f"The collection {place.name!r} in {str(place.directory)!r} cannot be read, because the ledger there has "
            "no whole copy of its records and Chroma opens only what it may write. Open the memory once where it may "
            "be written, e.g. in a copy of the directory."
        )
    place.uuid = known.uuid
    return opened, known


def _waited_for(place: HeldElsewhere, ledger: Ledger, patience_seconds: float) -> KnownCollection:
    began, attached = time.monotonic(), False
    while True:
        known = _known(place, ledger)
        if known is not None and not attached:
            ledger.attach(known.uuid, place.name)
            attached = True
        if known is not None and ledger.mirror.complete_at() is not None:
            return known
        if process_locks.claimed(place.directory):
            process_locks.release(place.directory)
            raise HolderGoneError(f"Nobody holds {str(place.directory)!r} any more. Open it again.")
        waited = time.monotonic() - began
        if known is None and waited > min(MADE_SECONDS, patience_seconds):
            process_locks.refuse(
                place.directory, f"and it has not opened the collection {place.name!r} with its ledger"
            )
        if waited > patience_seconds:
            copied = f"and is still copying the records into the ledger, {ledger.mirror.size():,} so far"
            process_locks.refuse(place.directory, copied)
        time.sleep(LOOKED_SECONDS)


def _known(place: HeldElsewhere, ledger: Ledger) -> KnownCollection | None:
    if place.uuid:
        ledger.attach(place.uuid, place.name)
        return ledger.sharing.described()
    return ledger.sharing.find(place.name, locations.USUAL_DATABASE)
