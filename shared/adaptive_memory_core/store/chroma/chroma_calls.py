"""Calls of Chroma that read and write, with its errors converted to this library's.

Chroma's index consists of five files and a database, and a copy of them is consistent only if nobody writes meanwhile.
Concurrent writes gain nothing: Chroma blocks the whole process during each.
"""

from __future__ import annotations

import itertools
import os
import re
import threading
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from adaptive_memory_core.error_messages import reason, shown
from adaptive_memory_core.errors import DamagedStoreError, FilterError, StoreError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.flow.ports.records import Where
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.record_metadata import belongs
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.chroma.chroma_changes import as_own_call
from adaptive_memory_core.store.process_locks import OsLock

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI

T = TypeVar("T")


class DeletedCollectionError(StoreError):
    """The collection was deleted."""


def space_of(collection: Collection) -> str:
    """The distance function that the collection was created with, from its configuration."""
    configuration: Mapping[str, Any] = collection.configuration_json or {}
    index = configuration.get("hnsw") or configuration.get("spann") or {}
    space = index.get("space") or (collection.metadata or {}).get("hnsw:space") or "l2"
    return str(space)


def distances_to(vector: Any, others: Any, *, space: str) -> Any:
    """Chroma's distances, calculated here.

    >>> distances_to([1.0, 0.0], [[0.0, 2.0], [3.0, 0.0]], space="cosine").tolist()
    [1.0, 0.0]
    >>> distances_to([1.0, 0.0], [[0.0, 2.0]], space="l2").tolist()
    [5.0]
    >>> distances_to([1.0, 0.0], [[0.5, 2.0]], space="ip").tolist()
    [0.5]
    """
    one, rows = np.asarray(vector, dtype=np.float64), np.asarray(others, dtype=np.float64)
    if space == "l2":
        return ((rows - one) ** 2).sum(axis=1)
    if space == "ip":
        return 1.0 - rows @ one
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(one)
    return 1.0 - np.divide(rows @ one, lengths, out=np.zeros(len(rows)), where=lengths > 0)


def client_of(collection: Collection) -> Any:
    """The client of a collection: the only way to get its limits and its directory."""
    return collection._client


def both_filters(one: Where | None, other: Where | None) -> Where | None:
    """Both conditions combined; several keys in one mapping must all match, as a reader would expect.

    >>> both_filters({"user_id": "a"}, {"x": 1, "y": 2})
    {'$and': [{'user_id': 'a'}, {'x': 1}, {'y': 2}]}
    >>> both_filters(None, None) is None
    True
    """
    parts = [{key: value} for where in (one, other) if where for key, value in where.items()]
    return None if not parts else parts[0] if len(parts) == 1 else {"$and": parts}


_LENGTHS = re.compile(r"expecting embedding with dimension of (?P<wanted>\d+), got (?P<given>\d+)")
_DAMAGED = re.compile("hnsw segment (reader|writer)|Error getting embedding")


def call_chroma(call: Callable[[], T], where: Where | None = None) -> T:
    """Make a call of this library; convert Chroma's errors."""
    import httpx
    from chromadb.errors import ChromaError, InvalidArgumentError, NotFoundError

    try:
        return as_own_call(call)
    except (ChromaError, httpx.HTTPError, ValueError, TypeError, OSError, RuntimeError) as error:
        if lengths := _LENGTHS.search(str(error)):
            raise StoreError(
                f"The vector has {lengths['given']} numbers, and those of the collection have {lengths['wanted']}. "
                "Give a vector of the embedder that the collection was written with, or the text alone."
            ) from error
        if where is not None and isinstance(error, ValueError | InvalidArgumentError):
            raise FilterError(
                f"The filter {shown(where)} was refused by Chroma: {reason(error)}. Give a Chroma `where` "
                'mapping, e.g. {"kind": "fact"} or {"$and": [{"kind": "fact"}, {"importance": {"$gte": 0.5}}]}.'
            ) from error
        if isinstance(error, NotFoundError):
            raise DeletedCollectionError(
                f"The collection was deleted while this memory had it open: {reason(error)}. reset_collection() and "
                "delete_collection() do that. Close what has it open, and open it again over the new collection."
            ) from error
        if _DAMAGED.search(str(error)):
            raise DamagedStoreError(
                f"Chroma cannot read its index: {reason(error)}. If Chroma is embedded, close every program that has "
                "its directory open and call AdaptiveMemory.repair(path, collection=..., embedder=...). If it is on a "
                "server, do this on the server."
            ) from error
        raise StoreError(
            f"The Chroma collection failed: {type(error).__name__}: {reason(error)}. Nothing of this call is "
            "half-done on our side. Check that the database exists and is reachable, then call again."
        ) from error


FoundRow: TypeAlias = tuple[str, str | None, Metadata | None, float]  # with its distance
PAGE = 5_000  # Chroma fails above 32,766 records with metadata in one answer


def rows_by_id(collection: Collection, stored_ids: Sequence[str]) -> Iterator[tuple[str, str | None, Metadata | None]]:
    """The records with these ids that exist, in Chroma's order."""
    for start in range(0, len(stored_ids), PAGE):
        page = list(stored_ids[start : start + PAGE])
        answer = call_chroma(lambda page=page: collection.get(ids=page, include=["metadatas", "documents"]))  # type: ignore[misc]
        yield from zip(answer["ids"], answer["documents"] or [], answer["metadatas"] or [], strict=True)


def without_deleted(collection: Collection, rows: Sequence[FoundRow]) -> list[FoundRow]:
    """The rows of a search (id, text, metadata, ...) without deleted records that are still in an index this process
    has not reloaded. Chroma returns those without text and metadata, but also records that were added with a vector
    alone, so such ids are checked."""
    bare = [row[0] for row in rows if row[1] is None and row[2] is None]
    if not bare:
        return list(rows)
    there = set(call_chroma(lambda: collection.get(ids=bare, include=[]))["ids"])
    return [row for row in rows if row[1] is not None or row[2] is not None or row[0] in there]


def own_filter(scope: Scope, fields: Fields) -> dict[str, Any] | None:
    """The filter for one user's records. None for a scope that also reads records without a user: Chroma cannot filter
    by a missing key, so those are separated afterwards.

    >>> own_filter(Scope("ana"), Fields()), own_filter(Scope("ana", over="everyone"), Fields())
    ({'user_id': 'ana'}, None)
    """
    return None if scope.sees_unowned else {fields.user_id: scope.name}


def own_rows(collection: Collection, scope: Scope, fields: Fields, stored_ids: Sequence[str]) -> list[Found]:
    """The given records that belong to this scope."""
    return [Found(*row, 1.0) for row in rows_by_id(collection, stored_ids) if belongs(row[2], scope, fields)]


def ids_where(collection: Collection, condition: Where | None, limit: int | None = None) -> list[str]:
    """The ids of the records that pass the filter, the newest last; at most the first `limit` of them."""
    where: Any = condition
    return list(call_chroma(lambda: collection.get(where=where, limit=limit, include=[]))["ids"])


def pages_where(collection: Collection, condition: Where | None, *included: str) -> Iterator[list[tuple[Any, ...]]]:
    """The records that pass the filter, a page at a time: each with its id and what is included."""
    where: Any = condition
    include: Any = list(included)
    for offset in itertools.count(0, PAGE):
        answer: Any = call_chroma(
            lambda start=offset: collection.get(limit=PAGE, offset=start, where=where, include=include)  # type: ignore[misc]
        )
        yield list(zip(answer["ids"], *(answer[name] for name in included), strict=True))
        if len(answer["ids"]) < PAGE:
            return


def own_ids(collection: Collection, scope: Scope, fields: Fields, condition: Where | None = None) -> list[str]:
    """The ids of the records of this scope that pass the filter, the newest last."""
    if (own := own_filter(scope, fields)) is not None:
        return ids_where(collection, both_filters(own, condition))
    pages = pages_where(collection, condition, "metadatas")
    return [one for page in pages for one, metadata in page if belongs(metadata, scope, fields)]


class CollectionsOfClient:
    """The collections of a client, or of another collection's client."""

    def __init__(self, one: Collection | ClientAPI) -> None:
        self._server: Any = getattr(one, "_server", None) or one._client  # type: ignore[union-attr] # a client has the first
        self._place = {"tenant": one.tenant, "database": one.database}

    def get(self, name: str) -> Collection | None:
        """The collection of that name; None if there is none."""
        from chromadb.errors import NotFoundError

        def get() -> Any:
            with suppress(NotFoundError):
                return self._server.get_collection(name=name, **self._place)

        model = call_chroma(get)
        return None if model is None else self._collection(model, None)

    def create(
        self, name: str, *, configuration: Mapping[str, Any], metadata: Mapping[str, Any], function: Any
    ) -> Collection:
        """Create a collection. `function` is an embedding function of Chroma's, which is recorded in its
        configuration."""
        given = {**configuration, **({} if function is None else {"embedding_function": function})}
        model = call_chroma(
            lambda: self._server.create_collection(
                name=name, configuration=given, metadata=dict(metadata), **self._place
            )
        )
        return self._collection(model, function)

    def delete(self, name: str) -> None:
        """Delete the collection, if it exists."""
        from chromadb.errors import NotFoundError

        def delete() -> None:
            with suppress(NotFoundError):
                self._server.delete_collection(name=name, **self._place)

        call_chroma(delete)

    def _collection(self, model: Any, function: Any) -> Collection:
        from chromadb import Collection

        return Collection(client=self._server, model=model, embedding_function=function)


LOCK_NAME = "adaptive_memory.chroma.lock"
PATIENCE_SECONDS = 600.0  # copying a large directory takes a while
_of_directories: dict[tuple[int, Path], _Gate] = {}  # kept, so that the next user releases a lock left by an interrupt


def write_chroma(collection: Collection, write: Callable[[], T]) -> T:
    """Write into the collection, with its errors converted. Embedded Chroma is locked; a server needs no lock."""
    settings = collection._client.get_settings()
    if not settings.is_persistent or "fastapi" in str(settings.chroma_api_impl).lower():
        return call_chroma(write)
    with only_writer(files_of(collection)):
        return call_chroma(write)


_files: weakref.WeakKeyDictionary[Any, Path] = weakref.WeakKeyDictionary()  # by client


def files_of(collection: Collection) -> Path:
    """The directory of an embedded persistent collection, also after the process has changed its working directory."""
    client = collection._client
    return _files.setdefault(client, Path(client.get_settings().persist_directory).absolute())


@contextmanager
def only_writer(directory: Path) -> Generator[None, None, None]:
    """Block other writers of the Chroma in this directory."""
    gate = _of_directories.get((os.getpid(), directory)) or _of_directories.setdefault(
        (os.getpid(), directory), _Gate(directory)
    )
    outermost = not gate.threads._is_owned()  # type: ignore[attr-defined] # what threading.Condition asks of a lock, too
    with gate.threads:
        if not outermost:
            yield
            return
        try:
            gate.take()
            yield
        finally:
            gate.processes.give_back()


class _Gate:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.threads = threading.RLock()
        self.processes = OsLock(directory / LOCK_NAME)

    def take(self) -> None:
        """Wait until no other process has the lock."""
        try:
            if self.processes.take(PATIENCE_SECONDS):
                return
        except OSError as error:
            raise StoreError(
                f"A lock in {str(self._directory)!r} cannot be taken: {reason(error)}. Nothing was written. Give a "
                "directory that may be written."
            ) from error
        raise StoreError(
            f"Another process has been writing or copying {str(self._directory)!r} for more than {PATIENCE_SECONDS:g} "
            "seconds. Nothing was written; end it, or wait for it, and call again."
        )


NOBODY = "adaptive_memory: no record"  # an id that no record has


def reload_index(collection: Collection) -> None:
    """Let an embedded Chroma load vectors written by another process, or by a client with a separate index. It loads
    them at its own next write, so this makes a write that changes nothing."""
    write_chroma(collection, lambda: collection.update(ids=[NOBODY], metadatas=[{"reload": True}]))


def overwrite(collection: Collection, rows: Sequence[MirrorRow], gone: Sequence[str]) -> None:
    """Write text, vector and metadata of the rows, replacing earlier values, and delete the records in `gone`."""

    def write() -> None:
        if gone:
            collection.delete(ids=list(gone))
        if rows:
            _upsert(collection, rows)

    write_chroma(collection, write)


def _upsert(collection: Collection, rows: Sequence[MirrorRow]) -> None:
    present = {stored_id: metadata for stored_id, _, metadata in rows_by_id(collection, [row[0] for row in rows])}
    metadatas: Any = [_replacing(present.get(row.stored_id), row.metadata) for row in rows]
    collection.upsert(
        ids=[row.stored_id for row in rows],
        documents=["" if row.text is None else row.text for row in rows],
        metadatas=metadatas,
        embeddings=[np.frombuffer(row.vector, dtype="<f4") for row in rows],
    )


def _replacing(present: Metadata | None, wanted: Metadata | None) -> dict[str, Any] | None:
    """The metadata to pass to Chroma, which merges, so that only `wanted` remains.

    >>> _replacing({"a": 1, "b": 2}, {"b": 3}), _replacing(None, None)
    ({'a': None, 'b': 3}, None)
    """
    return {**dict.fromkeys(present or {}), **(wanted or {})} or None
