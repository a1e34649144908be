"""How is any embedder called in one way? Functions, Chroma's embedding functions and models of frameworks, wrapped."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adaptive_memory_core.errors import AdaptiveMemoryError, EmbedderError, InvalidInputError
from adaptive_memory_core.let_others_run import aside
from adaptive_memory_core.models.chroma_function import function_of, is_chroma_minilm, kept_and_explained
from adaptive_memory_core.models.framework_embedders import Methods, methods_of
from adaptive_memory_core.models.naming import dimension_of, name_of
from adaptive_memory_core.models.vectors import Vectors, as_vector, as_vectors, refused

QUICK_SECONDS = 0.001  # that a query may take for others not to compute meanwhile, which costs some tenths of that


@dataclass(frozen=True, slots=True, eq=False)
class Embedder:
    """Texts to float32 vectors, each call checked: one finite vector for each text, all of one dimension.

    `documents` maps a list of texts to as many vectors, `query` one text to one vector. The dimension is what was
    declared; if nothing was, the first call settles it and every later one must keep to it. `aquery` and `adocuments`
    are `query` and `documents` as coroutines, of a model that has them: async verbs await them on the event loop.

    >>> lengths = Embedder("lengths", lambda texts: [[len(t), 1] for t in texts], lambda text: [len(text), 1])
    >>> lengths.embed_documents(["a", "bcd"]).tolist()
    [[1.0, 1.0], [3.0, 1.0]]
    >>> lengths.embed_query("ab").tolist(), lengths.dimension
    ([2.0, 1.0], 2)
    """

    name: str
    documents: Callable[[list[str]], Any] = field(repr=False)
    query: Callable[[str], Any] = field(repr=False)
    dimension: int | None = None
    aquery: Callable[[str], Awaitable[Any]] | None = field(default=None, repr=False)
    adocuments: Callable[[list[str]], Awaitable[Any]] | None = field(default=None, repr=False)
    _is_quick: bool = field(default=False, init=False, repr=False)  # the last query was

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row for each text; no text, no call.

        >>> as_embedder(lambda texts: [[1.0]] * len(texts)).embed_documents([]).shape
        (0, 0)
        """
        if len(texts) == 0:
            return np.empty((0, 0 if self.dimension is None else self.dimension), dtype=np.float32)
        try:
            given = aside(self.documents, list(texts))
        except AdaptiveMemoryError:
            raise
        except Exception as error:
            raise _failed(self.name, error, f"{len(texts)} texts") from error
        return self._all_checked(given, len(texts))

    async def aembed_documents(self, texts: Sequence[str]) -> Vectors:
        """The same from `adocuments`; without one, from `documents`, which blocks."""
        if self.adocuments is None or len(texts) == 0:
            return self.embed_documents(texts)
        try:
            given = await self.adocuments(list(texts))
        except AdaptiveMemoryError:
            raise
        except Exception as error:
            raise _failed(self.name, error, f"{len(texts)} texts") from error
        return self._all_checked(given, len(texts))

    def embed_query(self, text: str) -> Vectors:
        """The vector of what is looked for, which some models make differently from that of a document."""
        try:
            given = self._asked(text)
        except AdaptiveMemoryError:
            raise
        except Exception as error:
            raise _failed(self.name, error, "a query") from error
        return self._checked(given)

    async def aembed_query(self, text: str) -> Vectors:
        """The same from `aquery`; without one, from `query`, which blocks."""
        if self.aquery is None:
            return self.embed_query(text)
        try:
            given = await self.aquery(text)
        except AdaptiveMemoryError:
            raise
        except Exception as error:
            raise _failed(self.name, error, "a query") from error
        return self._checked(given)

    def _asked(self, text: str) -> Any:
        """What `query` gives; other calls compute meanwhile, unless it was quick the last time."""
        began = time.perf_counter()
        given = self.query(text) if self._is_quick else aside(self.query, text)
        is_quick = time.perf_counter() - began < QUICK_SECONDS
        if is_quick is not self._is_quick:
            object.__setattr__(self, "_is_quick", is_quick)
        return given

    def _all_checked(self, given: Any, count: int) -> Vectors:
        vectors = as_vectors(given, count=count, name=self.name)
        self._hold_to(vectors.shape[1])
        return vectors

    def _checked(self, given: Any) -> Vectors:
        vector = as_vector(given, name=self.name)
        self._hold_to(len(vector))
        return vector

    def _hold_to(self, dimension: int) -> None:
        if (
            self.dimension is None
        ):  # learned once; two threads that race here learn the same or are told on the next call
            object.__setattr__(self, "dimension", dimension)
        elif dimension != self.dimension:
            raise refused(self.name, f"returned vectors of dimension {dimension}, not {self.dimension} as before")


def as_embedder(thing: Any, *, name: str | None = None) -> Embedder:
    """What the user passed as `embedder=`: a callable list[str] -> vectors, a Chroma embedding function, an Embedder,
    or an embedding model of LangChain or LlamaIndex.

    Vectors are compared only within one `name`. Give one if the embedder's own says too little or is not the recorded.

    >>> def embed(texts): return [[float(len(t)), 1.0] for t in texts]
    >>> as_embedder(embed)
    Embedder(name='embed', dimension=None)
    >>> as_embedder(embed, name="lengths-2").name
    'lengths-2'
    >>> as_embedder("all-MiniLM")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    adaptive_memory_core.errors.InvalidInputError: embedder= is a str, which cannot be called with texts. Allowed: ...
    """
    if isinstance(wrapped := getattr(thing, "embedder", None), Embedder):
        thing = wrapped  # a model of a framework around one of ours, which keeps its name
    if isinstance(thing, Embedder):
        return thing if name is None else replace(thing, name=name)
    if (methods := methods_of(thing)) is not None and not _is_chromas(thing):
        return _of_framework(thing, methods, name)
    if not callable(thing) or isinstance(thing, type):
        raise _not_an_embedder(thing)
    name = name_of(thing) if name is None else name
    call = kept_and_explained(thing) if is_chroma_minilm(thing) else thing
    return Embedder(name, call, _query_of(call, name), dimension_of(thing))


def _is_chromas(thing: Any) -> bool:
    """Whether its queries are lists, as Chroma's embedding functions take them."""
    return "input" in inspect.signature(getattr(thing, "embed_query", len)).parameters


def _of_framework(thing: Any, methods: Methods, name: str | None) -> Embedder:
    name = methods.name if name is None else name
    size = dimension_of(thing)
    return Embedder(name, methods.documents, methods.query, size, methods.aquery, methods.adocuments)


def bundled_unless(given: Any) -> Embedder:
    """The embedder that was given, else the bundled one, which needs the extra `local`."""
    if given is None:
        from adaptive_memory_core.models.local import LocalEmbedder

        given = LocalEmbedder()
    return as_embedder(given)


def of_collection(collection: Any) -> Embedder:
    """The embedder a `chromadb.Collection` was made with. A collection that names none is refused, never guessed at."""
    return as_embedder(function_of(collection))


def _query_of(thing: Any, name: str) -> Callable[[str], Any]:
    """Chroma's functions take a query as a list and return a list; other callables that know queries take the text."""
    special = getattr(thing, "embed_query", None)
    if special is not None and "input" not in inspect.signature(special).parameters:
        return special  # type: ignore[no-any-return]
    many = thing if special is None else special

    def query(text: str) -> Any:
        vectors = many([text])
        if len(vectors) != 1:
            raise refused(name, f"returned {len(vectors)} vectors for a query")
        return vectors[0]

    return query


def _failed(name: str, error: Exception, given: str) -> EmbedderError:
    return refused(name, f"failed on {given} with {type(error).__name__}: {error}")


def _not_an_embedder(thing: Any) -> InvalidInputError:
    what = f"the class {thing.__name__}, not an instance of it" if isinstance(thing, type) else f"a {_type(thing)}"
    return InvalidInputError(
        f"embedder= is {what}, which cannot be called with texts. Allowed: a callable from a list of texts to as many "
        "vectors, a Chroma embedding function, an embedding model of LangChain or LlamaIndex, or an Embedder."
    )


def _type(thing: Any) -> str:
    return type(thing).__name__
