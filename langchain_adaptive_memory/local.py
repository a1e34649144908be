"""Embeddings without a key or network: this package's bundled embedder for LangChain."""

from __future__ import annotations

from typing import Any

from langchain_core.embeddings import Embeddings

from adaptive_memory_core import Embedder
from adaptive_memory_core.models.embedder import bundled_unless


class LocalEmbeddings(Embeddings):
    """The bundled embedder (256 dimensions, from files, microseconds) as LangChain embeddings.

    Any other embedder of this package may be given instead, e.g. `LocalEmbeddings(MiniLMEmbedder())`. `AdaptiveMemory`
    with the same embedder can use the vectors, and vice versa.

    Examples:
        `pip install "adaptive-memory-retrieval[langchain]"`

        ```python
        from langchain_adaptive_memory import LocalEmbeddings

        store = Chroma("notes", LocalEmbeddings(), collection_configuration={"hnsw": {"space": "cosine"}})
        ```
    """

    def __init__(self, embedder: Any = None) -> None:
        self._given, self._embedder = embedder, bundled_unless(embedder)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy from the same arguments, even in another process."""
        return type(self), (self._given,)

    @property
    def embedder(self) -> Embedder:
        return self._embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed_documents(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._embedder.embed_query(text).tolist()
        return vector
