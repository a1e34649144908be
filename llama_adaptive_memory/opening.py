"""Which memory stands behind a retriever, a post-processor or a block? One for each collection, however many ask."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, TypedDict

from llama_index.core import Settings, VectorStoreIndex

from adaptive_memory_core import AdaptiveMemory, Embedder, Fields, InvalidInputError, Keeping, UserMemory
from adaptive_memory_core.errors import ClosedError, EmbedderError
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.store import locations as place
from adaptive_memory_core.store.embedder_check import NAME_KEY
from llama_adaptive_memory.embedding import embedder_of
from llama_adaptive_memory.lease import Key, Lease, guard, shared
from llama_adaptive_memory.settings import UnknownArgumentError
from llama_adaptive_memory.turns import watch


@dataclass(frozen=True)
class Opening:
    """How a memory over a collection shall be opened; the arguments of `AdaptiveMemory` under their own names."""

    ledger: str | Path | Ledger | None = None
    fields: Fields | None = None
    clock: Callable[[], float] = time.time
    write: Literal["behind", "through"] = "behind"
    keeping: Keeping | None = None
    shared: tuple[str, ...] = ()


class OpeningArguments(TypedDict, total=False):
    """The same, as keywords of a constructor."""

    ledger: str | Path | Ledger | None
    fields: Fields | None
    clock: Callable[[], float]
    write: Literal["behind", "through"]
    keeping: Keeping | None
    shared: Iterable[str]


def leased(
    memory: object, collection: Any, embed_model: Any, opening: OpeningArguments, *, embeds: bool = True
) -> Lease:
    """The memory that was given, else the one over the collection; `embeds=False` can do without a model."""
    watch()
    if memory is None and collection is None:
        raise InvalidInputError("Neither memory= nor collection= was given. Give one, or use from_index(index).")
    if memory is None:
        return _lease(collection, embed_model, _checked(opening), embeds=embeds)
    if collection is not None or opening:
        others = ", ".join(["collection"] * (collection is not None) + sorted(opening))
        raise InvalidInputError(f"memory= was given, and {others} as well. Give a memory, or what to open one with.")
    if not isinstance(memory, AdaptiveMemory | UserMemory):
        raise InvalidInputError(
            f"memory= is a {type(memory).__name__}. Give an AdaptiveMemory or one user's, e.g. "
            "memory.for_user('alice'); a collection goes into collection=, an index into from_index(index)."
        )
    return Lease(memory)


def _checked(opening: OpeningArguments) -> Opening:
    unknown = sorted(set(opening) - set(OpeningArguments.__annotations__))
    if unknown:
        raise UnknownArgumentError(
            f"There is no argument {', '.join(map(repr, unknown))}. Allowed, besides those of the constructor: "
            f"{', '.join(OpeningArguments.__annotations__)}."
        )
    shared = opening.get("shared", ())
    given: Any = {**opening, "shared": shared if isinstance(shared, str) else tuple(shared)}
    return Opening(**given)


def collection_of(vector_store: Any) -> Any:
    """The collection of a `ChromaVectorStore`."""
    collection = getattr(vector_store, "client", None)
    if collection is None or not hasattr(collection, "configuration_json"):
        raise InvalidInputError(
            f"The vector store is a {type(vector_store).__name__}, which keeps nothing in Chroma. Give a "
            "ChromaVectorStore: VectorStoreIndex.from_vector_store(ChromaVectorStore(chroma_collection=...))."
        )
    return collection


def checked_index(index: Any) -> VectorStoreIndex:
    """An index over vectors; its collection is asked for apart."""
    if not isinstance(index, VectorStoreIndex):
        raise InvalidInputError(
            f"The index is a {type(index).__name__}. Give a VectorStoreIndex over a ChromaVectorStore, or use "
            "from_vector_store(vector_store)."
        )
    return index


def _lease(collection: Any, embed_model: Any, opening: Opening, *, embeds: bool) -> Lease:
    """`index.as_retriever()` is cheap and made anew for each request, so what is ours is too: the thread that writes
    back, the ledger and the lock belong to the collection. What nobody closes is closed when the interpreter ends."""
    place.check_collection(collection)
    model = Settings.embed_model if embed_model is None and embeds else embed_model
    with guard:
        key = _key(collection, model, opening)
        memory, users = shared.get(key, (None, 0))
        if memory is None or _is_closed(memory):
            memory, users = _opened(collection, model, opening), 0
        shared[key] = (memory, users + 1)
    return Lease(memory, key)


def _opened(collection: Any, model: Any, opening: Opening) -> AdaptiveMemory:
    ledger = place.open_ledger(collection, opening.ledger, durability=(opening.keeping or Keeping()).durability)
    return AdaptiveMemory(
        collection,
        embedder=_no_embedder(collection, ledger) if model is None else embedder_of(model),
        ledger=ledger,
        fields=opening.fields,
        clock=opening.clock,
        write=opening.write,
        keeping=opening.keeping,
        shared=opening.shared,
    )


def _no_embedder(collection: Any, ledger: Ledger) -> Embedder:
    """One by the right name that makes no vectors: re-ranking needs none."""
    ledger.attach(str(collection.id), collection.name)
    name = (collection.metadata or {}).get(NAME_KEY) or ledger.notes.embedder()[0] or "none"

    def refuse(_: object) -> NoReturn:
        raise EmbedderError(
            "No embedding model was given, and this needs one. Give embed_model=..., or use from_index."
        )

    return Embedder(str(name), refuse, refuse)


def _key(collection: Any, model: Any, opening: Opening) -> Key:
    """What makes two requests one. Ids of objects are safe: the memory holds on to all of them."""
    ledger = opening.ledger if isinstance(opening.ledger, str | Path | None) else id(opening.ledger)
    whose = (os.getpid(), str(collection.id), id(collection._client), str(ledger), opening.fields, id(opening.clock))
    how = (opening.write, opening.keeping, opening.shared)
    if model is None:  # any model will do
        return next((key for key in shared if (key[:6], key[7:]) == (whose, how)), (*whose, None, *how))
    return (*whose, id(model), *how)


def _is_closed(memory: AdaptiveMemory) -> bool:
    try:
        memory.ports()
    except ClosedError:
        return True
    return False
