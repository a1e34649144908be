"""Sources for a memory: a Chroma collection, or LangChain's vector store over it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast

from langchain_core.retrievers import LangSmithRetrieverParams

from adaptive_memory_core import AdaptiveMemory, Embedder, InvalidInputError, UserMemory, as_embedder
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.flow.calls.workers import in_worker
from adaptive_memory_core.shared_memories import Share, share
from adaptive_memory_core.store.chroma.chroma_calls import space_of as space_of_collection
from langchain_adaptive_memory.user import EVERYONE, Default, checked_memory

P = ParamSpec("P")
T = TypeVar("T")
LOOKED_AT = 100  # records, to see whether they name users


def memory_over(source: Any, embeddings: Any = None, **arguments: Any) -> Share:
    """A share of the memory over a `chromadb.Collection` or a `langchain_chroma.Chroma`, which stays unchanged.

    `embeddings` are LangChain's, or any embedder that `AdaptiveMemory` accepts. Omitted: those of the vector store, or
    the collection's own.
    """
    if is_vectorstore(source) and embeddings is None:
        embeddings = source.embeddings
    return share(collection_of(source), embedder=None if embeddings is None else embedder_of(embeddings), **arguments)


def is_vectorstore(source: Any) -> bool:
    """Whether the source is LangChain's Chroma or a subclass, without importing that package."""
    return any(kind.__name__ == "Chroma" and hasattr(kind, "similarity_search") for kind in type(source).__mro__)


def embedder_of(embeddings: Any) -> Embedder:
    """LangChain's embeddings as an embedder of the core, named after their class and model.

    >>> class Lengths:
    ...     model = "lengths-1"
    ...     def embed_documents(self, texts): return [[float(len(text)), 1.0] for text in texts]
    ...     def embed_query(self, text): return [float(len(text)), 1.0]
    >>> embedder_of(Lengths()).name
    'Lengths:lengths-1'
    """
    if hasattr(embeddings, "embed_documents") and not hasattr(embeddings, "embed_query"):
        raise InvalidInputError(
            f"embeddings is {shown(embeddings)}. Give an object with embed_documents and embed_query, e.g. "
            "OpenAIEmbeddings(), or an Embedder of adaptive_memory_core."
        )
    return as_embedder(embeddings)


def is_source(thing: Any) -> bool:
    """Whether a memory can be opened over this object."""
    return is_vectorstore(thing) or (hasattr(thing, "configuration_json") and hasattr(thing, "query"))


def collection_of(source: Any) -> Any:
    """The collection of a vector store; other sources are returned unchanged."""
    return source._collection if is_vectorstore(source) else source


def space_of(source: Any) -> str:
    """The distance space of the collection behind a source, a memory or one user's memory."""
    if is_source(source):
        return space_of_collection(collection_of(source))
    return whole_memory(checked_memory(source)).ports().records.space


def usual_user(source: Any, memory: AdaptiveMemory) -> Default:
    """The default user for a collection: EVERYONE, or None if its records name users.

    If records have users, a call without one is more likely a mistake than a request for the few without a user.
    """
    key = memory.fields.user_id
    found = collection_of(source).get(limit=LOOKED_AT, include=["metadatas"])["metadatas"] or []
    return None if any(key in (metadata or {}) for metadata in found) else EVERYONE


def whole_memory(memory: AdaptiveMemory | UserMemory) -> AdaptiveMemory:
    """The whole memory that one user's memory is part of."""
    whole: Any = memory.memory if isinstance(memory, UserMemory) else memory
    return cast("AdaptiveMemory", whole)


async def in_threads(memory: AdaptiveMemory | UserMemory, step: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """The result of the step, run in the memory's threads and not on the event loop, so that nothing queues behind the
    loop's default threads."""
    doing, opened = partial(step, *args, **named), whole_memory(memory).opened
    try:
        workers = opened.workers
    except ClosedError:  # the step itself raises the error
        return await asyncio.to_thread(doing)

    def in_one_call() -> T:
        with opened.call():
            return doing()

    return await in_worker(workers, in_one_call)


def tracing_names(memory: AdaptiveMemory | UserMemory) -> LangSmithRetrieverParams:
    """The names of the store and the embedder in a trace."""
    provider, _, model = whole_memory(memory).embedder_name.partition(":")
    names: LangSmithRetrieverParams = {"ls_vector_store_provider": "Chroma", "ls_embedding_provider": provider}
    if model:
        names["ls_embedding_model"] = model
    return names
