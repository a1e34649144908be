"""LangGraph's index configuration for this store: which parts of an item are embedded, and by which model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langgraph.store.base import IndexConfig, ensure_embeddings, get_text_at_path, tokenize_path

from adaptive_memory_core import Embedder, InvalidInputError
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import EmbedderError
from adaptive_memory_core.models.embedder import name_of_embedder
from langchain_adaptive_memory.langgraph_store.rows import clean

Vectors = Mapping[str, Any]  # from a text to its vector
_KNOWN = ("dims", "embed", "fields")
_given: ContextVar[Vectors] = ContextVar("vectors of the texts of this call")


class Embedding:
    """The model and the fields of an index configuration.

    Texts are embedded before anything is locked or written, by the model's own sync or async methods; the core then
    finds their vectors here.
    """

    def __init__(self, index: IndexConfig) -> None:
        _check(index)
        self.model = ensure_embeddings(index.get("embed"))
        self.dimension = index.get("dims")
        self.fields = list(index.get("fields") or ["$"])
        self.embedder = Embedder(
            name_of_embedder(getattr(self.model, "func", None) or getattr(self.model, "afunc", None) or self.model),
            lambda texts: [self._vector(text) for text in texts],
            self._vector,
            self.dimension,
        )

    def texts(self, value: Mapping[str, Any], fields: str) -> list[str]:
        """The texts of an item, by what was asked for when it was put (as JSON): null, false or a list of paths."""
        asked = json.loads(fields)
        if asked is False:
            return []
        paths = self.fields if asked is None else asked
        found = (get_text_at_path(dict(value), "$" if path == "$" else tokenize_path(path)) for path in paths)
        return list(dict.fromkeys(clean(text) for texts in found for text in texts if text.strip()))

    def embed(self, texts: Iterable[str], queries: Iterable[str]) -> Vectors:
        """The vectors of all these, in this thread."""
        texts, queries = list(dict.fromkeys(texts)), list(dict.fromkeys(queries))
        found = self._paired(texts, self.model.embed_documents(texts)) if texts else {}
        return found | {_query(one): self._checked(self.model.embed_query(one)) for one in queries}

    async def aembed(self, texts: Iterable[str], queries: Iterable[str]) -> Vectors:
        """`embed`, async."""
        texts, queries = list(dict.fromkeys(texts)), list(dict.fromkeys(queries))
        found = self._paired(texts, await self.model.aembed_documents(texts)) if texts else {}
        return found | {_query(one): self._checked(await self.model.aembed_query(one)) for one in queries}

    def query(self, text: str, vectors: Vectors) -> Any:
        """The vector of the query."""
        return vectors[_query(text)]

    @contextmanager
    def lent(self, vectors: Vectors) -> Iterator[None]:
        """Have these vectors ready for the writes in this block."""
        token = _given.set(vectors)
        try:
            yield
        finally:
            _given.reset(token)

    def _vector(self, text: str) -> Any:
        known = _given.get({})
        return known[text] if text in known else self._checked(self.model.embed_documents([text])[0])

    def _paired(self, texts: Sequence[str], vectors: Sequence[Any]) -> dict[str, Any]:
        if len(vectors) != len(texts):
            raise EmbedderError(
                f"The index's embed returned {len(vectors)} vectors for {len(texts)} texts. Each text must have one."
            )
        return {text: self._checked(vector) for text, vector in zip(texts, vectors, strict=True)}

    def _checked(self, vector: Any) -> Any:
        if self.dimension is not None and len(vector) != self.dimension:
            raise EmbedderError(
                f"The index's embed returned a vector of {len(vector)} dimensions, and dims is {self.dimension}. "
                "Set dims to what the model gives."
            )
        return vector


def _query(text: str) -> str:
    """Queries may be embedded differently from documents, so they have separate keys, with a prefix that no text
    has."""
    return f"\x00query {text}"


def _check(index: object) -> None:
    if not isinstance(index, Mapping):
        raise InvalidInputError(
            f'The index is {shown(index)}. Give a mapping, e.g. {{"dims": 256, "embed": embeddings}}.'
        )
    unknown = sorted(str(key) for key in index if key not in _KNOWN and not str(key).startswith("__"))
    if unknown or "embed" not in index:
        raise InvalidInputError(
            f"The index has the keys {sorted(map(str, index))}. Allowed are {', '.join(_KNOWN)}; embed is needed."
        )
    fields = index.get("fields")
    if fields is not None and (isinstance(fields, str) or not all(isinstance(one, str) for one in fields)):
        raise InvalidInputError(
            f"The index's fields are {shown(fields)}. Give a list of paths, e.g. ['text'], or leave out."
        )
