"""Which embedding model needs no key and no network? This package's bundled embedder, for LlamaIndex."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr

from adaptive_memory_core import Embedder, InvalidInputError, as_embedder
from adaptive_memory_core.error_messages import shown


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

    _given: Any = PrivateAttr()
    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Any = None, *, model_name: str | None = None, **settings: Any) -> None:
        """`model_name` is what `to_dict` says of an embedder; one that is not bundled must be given again."""
        given = _bundled(model_name) if embedder is None else embedder
        source = as_embedder(given)
        if model_name not in (None, source.name):
            raise _another(model_name)
        super().__init__(model_name=source.name, **settings)
        self._given, self._embedder = given, source

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is made anew of what it was made of, also in another process; callbacks stay where they are."""
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
    """The embedder of this package that is called so; without a name the usual one."""
    from adaptive_memory_core import LocalEmbedder, MiniLMEmbedder

    if name in (None, LocalEmbedder.name):
        return LocalEmbedder()
    if name == MiniLMEmbedder.name:
        return MiniLMEmbedder()
    raise _another(name)


def _another(name: str | None) -> InvalidInputError:
    return InvalidInputError(
        f"The embedder {shown(name)} is not the one given, and not bundled. Give it again: "
        "LocalEmbedding(your_embedder)."
    )
