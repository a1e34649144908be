"""One interface for embedders: functions, Chroma's embedding functions, models of frameworks, or names."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adaptive_memory_core.error_messages import reason, shown
from adaptive_memory_core.errors import AdaptiveMemoryError, EmbedderError, InvalidInputError
from adaptive_memory_core.models.chroma_function import function_of, is_chroma_minilm, loaded_once
from adaptive_memory_core.models.extras import named_object

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Embedder:
    """Maps texts to float32 vectors. Each call is checked: one finite vector for each text, all of one dimension.

    `documents` maps a list of texts to as many vectors, `query` one text to one vector. If no dimension is declared,
    the first call sets it and later calls must match it. `aquery` and `adocuments` are the coroutines of a model that
    has them: async methods await them on the event loop.

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

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row for each text. Without texts, the model is not called.

        >>> as_embedder(lambda texts: [[1.0]] * len(texts)).embed_documents([]).shape
        (0, 0)
        """
        if len(texts) == 0:
            return np.empty((0, 0 if self.dimension is None else self.dimension), dtype=np.float32)
        try:
            given = self.documents(list(texts))
        except AdaptiveMemoryError:
            raise
        except Exception as error:
            raise _failed(self.name, error, f"{len(texts)} texts") from error
        return self._checked(given, len(texts))

    async def aembed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row for each text, from `adocuments` if given, else from `documents`, which blocks."""
        if self.adocuments is None or len(texts) == 0:
            return self.embed_documents(texts)
        try:
            given = await self.adocuments(list(texts))
        except AdaptiveMemoryError:
            raise
        except Exception as error:
            raise _failed(self.name, error, f"{len(texts)} texts") from error
        return self._checked(given, len(texts))

    def embed_query(self, text: str) -> Vectors:
        """The vector of a query; some models embed queries differently from documents."""
        try:
            given = self.query(text)
        except AdaptiveMemoryError:
            raise
        except Exception as error:
            raise _failed(self.name, error, "a query") from error
        return self._checked(given)

    async def aembed_query(self, text: str) -> Vectors:
        """The vector of a query, from `aquery` if given, else from `query`, which blocks."""
        if self.aquery is None:
            return self.embed_query(text)
        try:
            given = await self.aquery(text)
        except AdaptiveMemoryError:
            raise
        except Exception as error:
            raise _failed(self.name, error, "a query") from error
        return self._checked(given)

    def _checked(self, given: Any, count: int | None = None) -> Vectors:
        """Check the vectors of `count` texts, or the vector of a query if there is no count."""
        vectors = as_vector(given, name=self.name) if count is None else as_vectors(given, count=count, name=self.name)
        dimension = vectors.shape[-1]
        if self.dimension is None:  # if two threads race and differ, the next call raises
            object.__setattr__(self, "dimension", dimension)
        elif dimension != self.dimension:
            what = f"returned vectors of dimension {dimension}, not {self.dimension} as before"
            raise broken_promise(self.name, what)
        return vectors


def as_embedder(thing: Any, *, name: str | None = None) -> Embedder:
    """Wrap the user's `embedder=`: a callable list[str] -> vectors, a Chroma embedding function, an Embedder, or an
    embedding model of LangChain or LlamaIndex.

    Vectors are compared only within one `name`. Give a name if the embedder's own is not specific enough or differs
    from the recorded name.

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
        thing = wrapped  # a framework's model around our own embedder, which keeps its name
    if isinstance(thing, Embedder):
        return thing if name is None else replace(thing, name=name)
    if (made := of_framework(thing)) is not None and not _is_chromas(thing):
        return made if name is None else replace(made, name=name)
    if not callable(thing) or isinstance(thing, type):
        raise _not_an_embedder(thing)
    name = name_of_embedder(thing) if name is None else name
    call = loaded_once(thing) if is_chroma_minilm(thing) else thing
    return Embedder(name, call, _query_of(call, name), dimension_of(thing))


def _is_chromas(thing: Any) -> bool:
    """Whether `embed_query` takes a list, as in Chroma's embedding functions."""
    return "input" in inspect.signature(getattr(thing, "embed_query", len)).parameters


def bundled_unless(given: Any) -> Embedder:
    """The given embedder, or else the bundled embedder, which needs the extra `local`."""
    if given is None:
        from adaptive_memory_core.models.local import LocalEmbedder

        given = LocalEmbedder()
    return as_embedder(given)


def of_collection(collection: Any) -> Embedder:
    """The embedder of a `chromadb.Collection`. Raises EmbedderError if the collection names none; it is never
    guessed."""
    return as_embedder(function_of(collection))


def _query_of(thing: Any, name: str) -> Callable[[str], Any]:
    """A function from a query to its vector. Chroma's functions take and return lists; other `embed_query` methods take
    the text."""
    special = getattr(thing, "embed_query", None)
    if special is not None and "input" not in inspect.signature(special).parameters:
        return special  # type: ignore[no-any-return]
    many = thing if special is None else special

    def query(text: str) -> Any:
        vectors = many([text])
        if len(vectors) != 1:
            raise broken_promise(name, f"returned {len(vectors)} vectors for a query")
        return vectors[0]

    return query


def _failed(name: str, error: Exception, given: str) -> EmbedderError:
    return broken_promise(name, f"failed on {given} with {type(error).__name__}: {error}")


def _not_an_embedder(thing: Any) -> InvalidInputError:
    what = f"the class {thing.__name__}, not an instance of it" if isinstance(thing, type) else f"a {_type(thing)}"
    return InvalidInputError(
        f"embedder= is {what}, which cannot be called with texts. Allowed: a callable from a list of texts to as many "
        "vectors, a Chroma embedding function, an embedding model of LangChain or LlamaIndex, or an Embedder."
    )


def _type(thing: Any) -> str:
    return type(thing).__name__


def embedder_named(name: str) -> Any:
    """Create an embedder by name: local, minilm, openai:MODEL, or MODULE:NAME of a function.

    >>> embedder_named("local").name
    'wordllama-l2-supercat-256'
    """
    from adaptive_memory_core.models.local import LocalEmbedder
    from adaptive_memory_core.models.minilm import MiniLMEmbedder
    from adaptive_memory_core.models.openai import OpenAIEmbedder

    if name == "local":
        return LocalEmbedder()
    if name == "minilm":
        return MiniLMEmbedder()
    if name.startswith("openai:"):
        return OpenAIEmbedder(name.removeprefix("openai:"))
    try:
        return named_object(name)
    except ImportError as error:
        raise InvalidInputError(
            f"The embedder {shown(name)} is not available: {reason(error)}. Give local, minilm, openai:MODEL, or "
            "MODULE:NAME of a function from texts to vectors that Python can import."
        ) from error


LANGCHAINS_DEFAULT = "langchain_core.embeddings.embeddings"  # its async methods run the blocking methods in a thread


def of_framework(thing: Any) -> Embedder | None:
    """An embedder around a framework's model, with the model's own coroutines if any; None for other objects.

    >>> class Lengths:
    ...     model = "lengths-1"
    ...     def embed_documents(self, texts): return [[float(len(text)), 1.0] for text in texts]
    ...     def embed_query(self, text): return [float(len(text)), 1.0]
    >>> of_framework(Lengths()).name, of_framework(len)
    ('Lengths:lengths-1', None)
    """
    if isinstance(thing, type):
        return None
    if hasattr(thing, "get_text_embedding_batch") and hasattr(thing, "get_query_embedding"):
        name, many, one = _llama_index_name(thing), thing.get_text_embedding_batch, thing.get_query_embedding
        return Embedder(name, many, one, dimension_of(thing))
    if hasattr(thing, "embed_documents") and hasattr(thing, "embed_query"):
        own = (_own_coroutine(thing, "aembed_query"), _own_coroutine(thing, "aembed_documents"))
        name, size = name_of_embedder(thing), dimension_of(thing)
        return Embedder(name, thing.embed_documents, thing.embed_query, size, *own)
    return None


def _own_coroutine(thing: Any, name: str) -> Any:
    method = getattr(type(thing), name, None)
    return None if method is None or method.__module__ == LANGCHAINS_DEFAULT else getattr(thing, name)


def _llama_index_name(thing: Any) -> str:
    kind, model = type(thing).__name__, getattr(thing, "model_name", None)
    return f"{kind}:{model}" if isinstance(model, str) and model and model != "unknown" else kind


def name_of_embedder(thing: Any) -> str:
    """The embedder's own name, or else the name of its function or class, followed by its model if any.

    >>> def embed(texts): ...
    >>> name_of_embedder(embed)
    'embed'
    >>> class Hosted:
    ...     model_name, dimensions = "text-embedding-3-small", 512
    ...     def name(self): return "openai"
    >>> name_of_embedder(Hosted())
    'openai:text-embedding-3-small:512'
    """
    if isinstance(thing, functools.partial):
        return name_of_embedder(thing.func)
    own = _own_name(thing)
    model = _non_empty_text(getattr(thing, "model_name", None)) or _non_empty_text(getattr(thing, "model", None))
    if own is None:
        own = _non_empty_text(getattr(thing, "__qualname__", None)) or type(thing).__qualname__
    if model is None or model in own:
        return own
    asked = _size(getattr(thing, "dimensions", None))
    return f"{own}:{model}" if asked is None else f"{own}:{model}:{asked}"


def dimension_of(thing: Any) -> int | None:
    """The declared length of the embedder's vectors, or None.

    >>> class Short: dimension = 64
    >>> dimension_of(Short()), dimension_of(len)
    (64, None)
    """
    declared = _size(getattr(thing, "dimension", None))
    return _size(getattr(thing, "dimensions", None)) if declared is None else declared


def _own_name(thing: Any) -> str | None:
    name = getattr(thing, "name", None)
    if not callable(name):
        return _non_empty_text(name)
    with warnings.catch_warnings():  # chromadb's base class warns about a missing name and returns NotImplemented
        warnings.simplefilter("ignore")
        try:
            return _non_empty_text(name())
        except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError):
            return None


def _non_empty_text(value: Any) -> str | None:
    return value if isinstance(value, str) and value and value != "NotImplemented" else None


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


Vectors: TypeAlias = "npt.NDArray[np.float32]"


def as_vectors(given: Any, *, count: int, name: str) -> Vectors:
    """The embedder's result for `count` texts, as float32 of shape (count, dimension).

    >>> as_vectors([[1, 0], (0.5, 2)], count=2, name="mine").tolist()
    [[1.0, 0.0], [0.5, 2.0]]
    >>> as_vectors([[1.0, 0.0]], count=2, name="mine")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    adaptive_memory_core.errors.EmbedderError: The embedder 'mine' returned shape (1, 2) for 2 texts. Allowed: ...
    """
    vectors = _as_float32(given, name)
    if vectors.ndim != 2 or len(vectors) != count or vectors.shape[1] == 0:
        raise broken_promise(name, f"returned shape {vectors.shape} for {count} texts")
    if not np.isfinite(vectors).all():
        raise _not_finite(vectors, name)
    return vectors


def as_vector(given: Any, *, name: str) -> Vectors:
    """The embedder's result for one query, as float32 of shape (dimension,).

    >>> as_vector((1, 2), name="mine").tolist()
    [1.0, 2.0]
    >>> as_vector([1.0, float("nan")], name="mine")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    adaptive_memory_core.errors.EmbedderError: The embedder 'mine' returned NaN or infinity in 1 of 1 vectors ...
    """
    vector = given if type(given) is np.ndarray and given.dtype == np.float32 else _as_float32(given, name)
    if vector.ndim != 1 or len(vector) == 0:
        raise broken_promise(name, f"returned shape {vector.shape} for a query")
    if not np.isfinite(vector).all():
        raise _not_finite(vector, name)
    return vector


def broken_promise(name: str, what_happened: str) -> EmbedderError:
    """The error for an embedder that returned something invalid."""
    return EmbedderError(
        f"The embedder {shown(name)} {what_happened}. Allowed: one finite vector for each text, all of one length. "
        "Correct the embedder, or pass another as embedder=."
    )


def _as_float32(given: Any, name: str) -> Vectors:
    try:
        with np.errstate(over="ignore"):  # values beyond float32 become infinity, which raises below
            return np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        what = f"returned a {type(given).__name__} that is not an array of numbers ({error})"
        raise broken_promise(name, what) from error


def _not_finite(vectors: Vectors, name: str) -> EmbedderError:
    rows = np.atleast_2d(vectors)
    broken = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    what = f"returned NaN or infinity in {len(broken)} of {len(rows)} vectors (the first is number {broken[0]})"
    return broken_promise(name, what)
