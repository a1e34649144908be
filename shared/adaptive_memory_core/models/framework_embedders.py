"""How is an embedding model of LangChain or LlamaIndex called? By its methods; neither framework is imported."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from adaptive_memory_core.models.naming import name_of

LANGCHAINS_DEFAULT = "langchain_core.embeddings.embeddings"  # its async methods are the blocking ones in a thread


class Methods(NamedTuple):
    """What a model is called by. The coroutines are those of its own, where it has some."""

    name: str
    documents: Callable[[list[str]], Any]
    query: Callable[[str], Any]
    aquery: Callable[[str], Awaitable[Any]] | None = None
    adocuments: Callable[[list[str]], Awaitable[Any]] | None = None


def methods_of(thing: Any) -> Methods | None:
    """The methods of a framework's model; None for anything else.

    >>> class Lengths:
    ...     model = "lengths-1"
    ...     def embed_documents(self, texts): return [[float(len(text)), 1.0] for text in texts]
    ...     def embed_query(self, text): return [float(len(text)), 1.0]
    >>> methods_of(Lengths()).name, methods_of(len)
    ('Lengths:lengths-1', None)
    """
    if isinstance(thing, type):
        return None
    if hasattr(thing, "get_text_embedding_batch") and hasattr(thing, "get_query_embedding"):
        return Methods(_llama_index_name(thing), thing.get_text_embedding_batch, thing.get_query_embedding)
    if hasattr(thing, "embed_documents") and hasattr(thing, "embed_query"):
        own = (_own_coroutine(thing, "aembed_query"), _own_coroutine(thing, "aembed_documents"))
        return Methods(name_of(thing), thing.embed_documents, thing.embed_query, *own)
    return None


def _own_coroutine(thing: Any, name: str) -> Any:
    method = getattr(type(thing), name, None)
    return None if method is None or method.__module__ == LANGCHAINS_DEFAULT else getattr(thing, name)


def _llama_index_name(thing: Any) -> str:
    kind, model = type(thing).__name__, getattr(thing, "model_name", None)
    return f"{kind}:{model}" if isinstance(model, str) and model and model != "unknown" else kind
