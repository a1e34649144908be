"""May this process be a guest of the one that holds a collection? Once the ledger has a whole copy of its records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.errors import StoreError, StoreInUseError
from adaptive_memory_core.flow.ports import KnownCollection, Ledger
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.store import locations, process_lock
from adaptive_memory_core.store.gone_collections import is_beside
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI

LOOKED_SECONDS = 0.05
MADE_SECONDS = 10.0  # that a process which has just taken a directory may take to make or open the collection; guess


class HolderGoneError(StoreInUseError):
    """Nobody holds the directory any more: whoever meets this may."""


@dataclass
class Elsewhere:
    """A collection in a directory that another process holds. `collection` is the one to be used once this process
    holds it; without one, a client is opened then. `given` is what the caller gave, which says what embedder it has."""

    directory: Path
    name: str
    uuid: str = ""
    collection: Any = None
    given: Any = None

    @contextmanager
    def opened(self) -> Iterator[tuple[Collection, Callable[[], object]]]:
        """The collection itself, and what lets go of it; for the process that holds the directory now."""
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
            f"The collection {self.name!r} in {str(self.directory)!r} is another one than when this memory was opened. "
            "Close this memory and open it again."
        )


def arrived(place: Elsewhere, ledger: object, keeping: Keeping, handles: ExitStack) -> tuple[Ledger, KnownCollection]:
    """The ledger beside the collection, once all its records are copied there, and what the holder says of it."""
    if not is_beside(place.directory, ledger) or keeping.mirror_records == 0:
        process_lock.refuse(place.directory, "and this one asks for a ledger of its own, or for no mirror")
    opened = SQLiteLedger(str(place.directory / locations.LEDGER_NAME), durability=keeping.durability)
    handles.callback(opened.close)
    known = _waited_for(place, opened, keeping.wait_seconds)
    place.uuid = known.uuid
    return opened, known


def _waited_for(place: Elsewhere, ledger: Ledger, patience_seconds: float) -> KnownCollection:
    began, attached = time.monotonic(), False
    while True:
        known = _known(place, ledger)
        if known is not None and not attached:
            ledger.attach(known.uuid, place.name)
            ledger.sharing.visit()
            attached = True
        if known is not None and ledger.mirror.complete_at() is not None:
            return known
        if process_lock.claimed(place.directory):
            process_lock.release(place.directory)
            raise HolderGoneError(f"Nobody holds {str(place.directory)!r} any more. Open it again.")
        waited = time.monotonic() - began
        if known is None and waited > min(MADE_SECONDS, patience_seconds):
            process_lock.refuse(place.directory, f"and it has not opened the collection {place.name!r} with its ledger")
        if waited > patience_seconds:
            copied = f"and is still copying the records into the ledger, {ledger.mirror.size():,} so far"
            process_lock.refuse(place.directory, copied)
        time.sleep(LOOKED_SECONDS)


def _known(place: Elsewhere, ledger: Ledger) -> KnownCollection | None:
    if place.uuid:
        ledger.attach(place.uuid, place.name)
        return ledger.sharing.described()
    return ledger.sharing.find(place.name, locations.USUAL_DATABASE)
