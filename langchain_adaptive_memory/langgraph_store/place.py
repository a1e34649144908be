"""Where does a store live? In RAM, in a directory, or with a client: items in SQLite, vectors in Chroma."""

from __future__ import annotations

import inspect
import os
import uuid
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chromadb

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Keeping, Policy, UserMemory
from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.identity import namespaced
from adaptive_memory_core.options import Options
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store import locations, process_locks
from adaptive_memory_core.store.embedder_check import notes_on
from adaptive_memory_core.store.locations import check_collection_name
from adaptive_memory_core.wiring import check_options
from langchain_adaptive_memory.langgraph_store.embedding import Embedding
from langchain_adaptive_memory.langgraph_store.file import IN_MEMORY, ItemsFile
from langchain_adaptive_memory.langgraph_store.items import Items

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

ITEMS_NAME = "adaptive_memory_items.sqlite3"
STORES = "langgraph store"
_in_memory: weakref.WeakValueDictionary[str, ItemsFile] = weakref.WeakValueDictionary()


@dataclass(frozen=True)
class Settings:
    """What the memory of a store is opened with."""

    collection: str
    policy: Policy | None
    keeping: Keeping | None
    clock: Callable[[], float]

    @property
    def options(self) -> Options:
        """Those of a memory."""
        return {"policy": self.policy, "keeping": self.keeping, "clock": self.clock}


class Place:
    """The items of a store and, if it has an index, its memory; opened together and closed together."""

    def __init__(self, path: str | Path | None, client: Any, embedding: Embedding | None, settings: Settings) -> None:
        self._own_collection: Any = None
        self._held = ExitStack()
        self._pid = os.getpid()
        self.memory: AdaptiveMemory | None = None
        self.scope: UserMemory | None = None
        directory = _directory(path, client)
        check_collection_name(settings.collection)
        check_options(settings.options)
        try:
            if embedding is not None and directory is not None and (client is None or path is None):
                self._held.enter_context(process_locks.held(directory))
            if embedding is not None:
                self._open_memory(directory if client is None else path, client, embedding, settings)
            self._open_items(directory, settings.collection)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close what was opened here; a client that was given stays open."""
        if self._pid != os.getpid():
            return  # the files are the parent's
        if self.memory is not None:
            self.memory.close()
        file = getattr(self, "file", None)
        if file is not None and file.path != IN_MEMORY:
            file.close()
        collection, self._own_collection = self._own_collection, None
        if collection is not None:
            _delete(collection)
        self._held.close()

    def check_process(self) -> None:
        """Raise if the process was forked."""
        if self._pid != os.getpid():
            raise ClosedError(
                "This store was opened in the parent process. Neither Chroma nor SQLite survives a fork: open it in "
                "the process that uses it, after the fork."
            )

    def _open_memory(self, path: str | Path | None, client: Any, embedding: Embedding, settings: Settings) -> None:
        options: Options = {**settings.options, "embedder": embedding.embedder}
        if client is None and path is not None:
            self.memory = AdaptiveMemory.open(path, settings.collection, **options)
            return
        name = settings.collection
        if client is None:  # every EphemeralClient of a process sees the same collections
            client, name = chromadb.EphemeralClient(), f"{name}-{uuid.uuid4().hex}"
        collection = locations.open_collection(client, name, notes_on(embedding.embedder))
        if name != settings.collection:
            self._own_collection = collection
        options["ledger"] = None if path is None else Path(path) / locations.LEDGER_NAME
        self.memory = AdaptiveMemory(collection, **options)

    def _open_items(self, directory: Path | None, name: str) -> None:
        uuid_of = None if self.memory is None else self.memory.ports().ledger.notes.uuid()
        if directory is not None:
            self.file = ItemsFile(directory / ITEMS_NAME)
        elif uuid_of is None or self._own_collection is not None:
            self.file = ItemsFile(IN_MEMORY)
        else:
            self.file = _in_memory.setdefault(uuid_of, ItemsFile(IN_MEMORY))
        self.items = Items(self.file, name)
        if self.memory is not None and uuid_of is not None:
            self.scope = UserMemory(self.memory, Scope(namespaced(STORES, name)))
            self.items.meet(uuid_of)


def _directory(path: str | Path | None, client: ClientAPI | None) -> Path | None:
    """Where the items' file belongs; None for RAM."""
    if client is None:
        return None if path is None else locations.checked_path(path)
    settings = _settings_of(client)
    embedded = "fastapi" not in str(settings.chroma_api_impl).lower()
    if embedded and path is not None:
        raise InvalidInputError(
            f"Both path={str(path)!r} and an embedded client were given, but the client already has a directory. Give "
            "one of them; path= together with client= is for a client of a server."
        )
    if embedded:
        return Path(settings.persist_directory) if settings.is_persistent else None
    if path is None:
        raise InvalidInputError(
            "The client is of a server, so there is no place for items and reads: Chroma holds only the vectors. "
            "Pass path= as well, a directory that every process using this store can open."
        )
    return locations.checked_path(path)


def _settings_of(client: Any) -> Any:
    get_settings = getattr(client, "get_settings", None)
    if get_settings is None or inspect.iscoroutinefunction(getattr(client, "get_collection", None)):
        raise InvalidInputError(
            f"The client is a {type(client).__name__}. Give a chromadb.PersistentClient, EphemeralClient or "
            "HttpClient; an AsyncHttpClient cannot be used."
        )
    return get_settings()


def _delete(collection: Any) -> None:
    """Records first: otherwise Chroma leaves lists from their metadata behind, and the next collection gets them."""
    try:
        while ids := collection.get(include=[], limit=5_000)["ids"]:
            collection.delete(ids=ids)
        collection._client.delete_collection(collection.name, tenant=collection.tenant, database=collection.database)
    except (chromadb.errors.ChromaError, ValueError, RuntimeError):
        return  # the process is ending, and RAM with it
