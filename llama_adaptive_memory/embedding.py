"""Embedders: LlamaIndex's models for our queries, and the bundled embedder for LlamaIndex."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import QueryBundle

from adaptive_memory_core import AdaptiveMemoryError, Cue, Embedder, InvalidInputError, as_embedder
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.models.embedder import as_vector, broken_promise


def cue_of(asked: QueryBundle, embed_model: Any) -> Cue | None:
    """The query with its vector; None for an empty query."""
    words, texts = asked.query_str.strip(), _texts(asked)
    if asked.embedding is not None:
        return Cue(words, asked.embedding)
    if not texts:
        return None
    if isinstance(embed_model, BaseEmbedding):
        with _named(embed_model) as name:
            vector = embed_model.get_agg_embedding_from_queries(texts)
        return Cue(words, as_vector(vector, name=name))
    return Cue(words, np.mean([embed_model.embed_query(text) for text in texts], axis=0))


async def acue_of(asked: QueryBundle, embed_model: Any) -> Cue | None:
    """`cue_of`, with the model's own async call."""
    texts = _texts(asked)
    if asked.embedding is not None or not texts:
        return cue_of(asked, embed_model)
    if not isinstance(embed_model, BaseEmbedding):
        return await asyncio.to_thread(cue_of, asked, embed_model)
    with _named(embed_model) as name:
        vector = await embed_model.aget_agg_embedding_from_queries(texts)
    return Cue(asked.query_str.strip(), as_vector(vector, name=name))


@contextmanager
def _named(embed_model: BaseEmbedding) -> Iterator[str]:
    """Yield the model's name, and raise its errors as EmbedderError with that name."""
    name = as_embedder(embed_model).name
    try:
        yield name
    except AdaptiveMemoryError:
        raise
    except Exception as error:
        raise broken_promise(name, f"failed on a query with {type(error).__name__}: {error}") from error


def _texts(asked: QueryBundle) -> list[str]:
    """The texts to embed, without blank ones."""
    return [text for text in asked.embedding_strs if text.strip()]


class LocalEmbedding(BaseEmbedding):
    """The bundled embedder (256 dimensions, from files, microseconds) as a LlamaIndex embedding model.

    Any other embedder of this package may be given instead, e.g. `LocalEmbedding(MiniLMEmbedder())`. `AdaptiveMemory`
    with the same embedder can use the vectors, and vice versa.

    Examples:
        `pip install "adaptive-memory-retrieval[llama-index]"`

        ```python
        from llama_adaptive_memory import LocalEmbedding

        index = VectorStoreIndex.from_documents(documents, embed_model=LocalEmbedding())
        ```
    """

    _given: Any = PrivateAttr()
    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Any = None, *, model_name: str | None = None, **settings: Any) -> None:
        """`model_name` comes from `to_dict`; an embedder that is not bundled must be given again."""
        given = _bundled(model_name) if embedder is None else embedder
        source = as_embedder(given)
        if model_name not in (None, source.name):
            raise _another(model_name)
        super().__init__(model_name=source.name, **settings)
        self._given, self._embedder = given, source

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy from the same arguments, even in another process, without the callbacks."""
        names = type(self).model_fields.keys() - {"model_name", "callback_manager"}
        return _restored, (self._given, {name: getattr(self, name) for name in sorted(names)})

    def __deepcopy__(self, _: dict[int, Any] | None = None) -> LocalEmbedding:
        return self.model_copy()

    @classmethod
    def class_name(cls) -> str:
        return "LocalEmbedding"

    @property
    def embedder(self) -> Embedder:
        return self._embedder

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = self._embedder.embed_query(query).tolist()
        return vector

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed_documents(texts).tolist()
        return vectors


def _restored(given: Any, settings: dict[str, Any]) -> LocalEmbedding:
    return LocalEmbedding(given, **settings)


def _bundled(name: str | None) -> Any:
    """This package's embedder of that name, by default LocalEmbedder."""
    from adaptive_memory_core import LocalEmbedder, MiniLMEmbedder

    if name in (None, LocalEmbedder.name):
        return LocalEmbedder()
    if name == MiniLMEmbedder.name:
        return MiniLMEmbedder()
    raise _another(name)


def _another(name: str | None) -> InvalidInputError:
    return InvalidInputError(
        f"The embedder {shown(name)} is neither the given one nor bundled. Give it again: "
        "LocalEmbedding(your_embedder)."
    )
