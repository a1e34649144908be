"""Which memory does a reader use? One for each collection, embedding model and set of options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn, TypedDict, cast

from llama_index.core import Settings, VectorStoreIndex

from adaptive_memory_core import AdaptiveMemory, Embedder, Fields, InvalidInputError, Keeping, SQLiteLedger, UserMemory
from adaptive_memory_core.cue.time.intent import Language
from adaptive_memory_core.errors import EmbedderError
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.models.callbacks import ChannelFunction, Reranker
from adaptive_memory_core.options import Options
from adaptive_memory_core.shared_memories import Share, find, share
from adaptive_memory_core.store import locations
from adaptive_memory_core.store.embedder_check import NAME_KEY
from adaptive_memory_core.store.locations import IN_MEMORY
from adaptive_memory_core.wiring import check_options
from llama_adaptive_memory.lease import Lease
from llama_adaptive_memory.scopes import ANY_SCOPE, AskedScope, check_scope
from llama_adaptive_memory.settings import unknown_argument
from llama_adaptive_memory.turns import watch

SETTINGS = (  # of the constructors
    *("similarity_top_k", "top_n", "filters", "policy", "reinforce", "score", "min_score", "min_similarity"),
    *("user_id", "fallback", "over", "memory", "collection", "embed_model"),
)


class OpeningArguments(TypedDict, total=False):
    """How a memory over a collection shall be opened: the options of `AdaptiveMemory` under their own names."""

    ledger: str | Path | Ledger | None
    fields: Fields | None
    clock: Callable[[], float]
    write: Literal["behind", "through"]
    keeping: Keeping | None
    languages: Iterable[Language] | None
    channels: Mapping[str, ChannelFunction] | None
    reranker: Reranker | None
    judge: Any
    shared: Iterable[str]


def leased(
    memory: object,
    collection: Any,
    embed_model: Any,
    opening: OpeningArguments,
    scope: AskedScope = ANY_SCOPE,
    *,
    embeds: bool = True,
) -> Lease:
    """The memory that was given, else the one over the collection, for this scope; `embeds=False` can do without a
    model. What is wrong is refused before anything is opened."""
    watch()
    _checked(opening)
    if memory is None:
        if isinstance(shared := opening.get("shared", ()), Iterator):
            shared = opening["shared"] = tuple(shared)
        check_scope(scope, shared)
    if memory is None and collection is None:
        raise InvalidInputError("Neither memory= nor collection= was given. Give one, or use from_index(index).")
    if memory is None:
        return _lease(collection, embed_model, opening, embeds=embeds)
    if collection is not None or opening:
        others = ", ".join(["collection"] * (collection is not None) + sorted(opening))
        raise InvalidInputError(f"memory= was given, and {others} as well. Give a memory, or what to open one with.")
    if not isinstance(memory, AdaptiveMemory | UserMemory):
        raise InvalidInputError(
            f"memory= is a {type(memory).__name__}. Give an AdaptiveMemory or one user's, e.g. "
            "memory.for_user('alice'); a collection goes into collection=, an index into from_index(index)."
        )
    return Lease(memory)


def _checked(opening: OpeningArguments) -> None:
    if unknown := sorted(set(opening) - set(OpeningArguments.__annotations__)):
        raise unknown_argument(unknown[0], (*SETTINGS, *OpeningArguments.__annotations__))


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


def _lease(collection: Any, embed_model: Any, opening: OpeningArguments, *, embeds: bool) -> Lease:
    """`index.as_retriever()` is cheap and made anew for each request, so what is ours is too: the memory behind is one
    for all over the collection, with one model's name and the same options."""
    locations.check_collection(collection)
    check_options(cast("Options", opening))
    model = Settings.embed_model if embed_model is None and embeds else embed_model
    if model is not None:
        one = share(collection, embedder=model, **opening)
    else:
        one = find(collection, **opening) or _without_model(collection, opening)
    return Lease(one.memory, one)


def _without_model(collection: Any, opening: OpeningArguments) -> Share:
    """A memory that makes no vectors, for re-ranking needs none; whoever brings a model does not find this one."""

    def refuse(_: object) -> NoReturn:
        raise EmbedderError(
            "No embedding model was given, and this needs one. Give embed_model=..., or use from_index."
        )

    embedder = Embedder(_recorded_name(collection, opening.get("ledger")) or "none", refuse, refuse)
    return share(collection, embedder=embedder, found_as="no model", **opening)


def _recorded_name(collection: Any, given: str | Path | Ledger | None) -> str | None:
    """The model that the collection was written with, as far as that was noted."""
    if noted := (collection.metadata or {}).get(NAME_KEY):
        return str(noted)
    ledger = locations.open_ledger(collection, given, durability="normal")
    ledger.attach(str(collection.id), collection.name)
    try:
        name = ledger.notes.embedder()[0]
    finally:
        if isinstance(ledger, SQLiteLedger) and ledger is not given and ledger.file.path != IN_MEMORY:
            ledger.close()
    return name
