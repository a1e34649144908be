"""What does an index embed with when there is no key and no network? This package's bundled embedder."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr

from adaptive_memory_core import Embedder, as_embedder


class LocalEmbedding(BaseEmbedding):
    """The bundled embedder (256 dimensions, from files, microseconds) as an embedding model of LlamaIndex.

    Any other embedder of this package may be given instead, e.g. `LocalEmbedding(MiniLMEmbedder())`. What it writes
    can be read by `AdaptiveMemory` with the same embedder, and the other way round.

    Examples:
        `pip install "adaptive-memory-retrieval[llama-index]"`

        ```python
        from llama_adaptive_memory import LocalEmbedding

        index = VectorStoreIndex.from_documents(documents, embed_model=LocalEmbedding())
        ```
    """

    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Any = None, **settings: Any) -> None:
        from adaptive_memory_core import LocalEmbedder

        source = as_embedder(LocalEmbedder() if embedder is None else embedder)
        super().__init__(model_name=source.name, **settings)
        self._embedder = source

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
