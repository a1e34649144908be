"""Embedding functions named in Chroma collections, and errors of Chroma's default function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adaptive_memory_core.errors import EmbedderError
from adaptive_memory_core.models.extras import silence_onnxruntime

Function = Callable[[list[str]], Any]


def function_of(collection: Any) -> Function:
    """The function passed with the collection, or else the one in its configuration. Raises EmbedderError if none.

    A collection opened without the argument has Chroma's default function, however its vectors were made. So does the
    schema that Chroma fills in on the client. Nobody chose these defaults, so only the configuration counts.
    """
    from chromadb.api.types import DefaultEmbeddingFunction

    carried = getattr(collection, "_embedding_function", None)
    if carried is not None and not isinstance(carried, DefaultEmbeddingFunction):
        return carried  # type: ignore[no-any-return]
    stored = (collection.configuration_json or {}).get("embedding_function")
    if stored is None or stored.get("type") == "legacy":
        raise EmbedderError(_nobody_knows(collection.name))
    try:
        return collection.configuration["embedding_function"]  # type: ignore[no-any-return]
    except ValueError as error:
        raise EmbedderError(_cannot_be_built(collection.name, stored.get("name"), error)) from error


def stored_by_chroma(thing: Any) -> Any:
    """The embedder itself if a collection's configuration can store it, else None.

    >>> stored_by_chroma(len) is None
    True
    """
    from chromadb.api.types import EmbeddingFunction

    return thing if isinstance(thing, EmbeddingFunction) and not getattr(thing, "is_legacy", bool)() else None


def is_chroma_minilm(thing: Any) -> bool:
    """Whether an object is one of Chroma's two functions that download all-MiniLM-L6-v2 on their first call.

    >>> is_chroma_minilm(len)
    False
    """
    kind = type(thing)
    return kind.__module__.startswith("chromadb.") and kind.__name__ in {"DefaultEmbeddingFunction", "ONNXMiniLM_L6_V2"}


def loaded_once(thing: Any) -> Function:
    """Chroma's MiniLM with helpful errors, loaded once (the default function loads it on every call)."""
    loaded: list[Any] = []

    def call(texts: list[str]) -> Any:
        silence_onnxruntime()
        from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2

        if not loaded:
            loaded.append(thing if isinstance(thing, ONNXMiniLM_L6_V2) else ONNXMiniLM_L6_V2())
        try:
            return loaded[0](texts)
        except Exception as error:
            if (ONNXMiniLM_L6_V2.DOWNLOAD_PATH / ONNXMiniLM_L6_V2.EXTRACTED_FOLDER_NAME / "model.onnx").exists():
                raise
            raise EmbedderError(_not_downloaded(ONNXMiniLM_L6_V2, error)) from error

    return call


def _nobody_knows(name: str) -> str:
    return (
        f"embedder=None, and the collection {name!r} does not record its embedder: it was created without an "
        "embedding function, or with one that Chroma could not store. Chroma's default model is not used instead, "
        "because its vectors cannot be compared with others. Allowed: the embedder these vectors were made with. "
        "Pass it as embedder=."
    )


def _cannot_be_built(name: str, function: Any, error: ValueError) -> str:
    return (
        f"embedder=None, and the embedding function {function!r} of the collection {name!r} cannot be built: {error} "
        "Allowed: a function that Chroma can build from its configuration. Import the module that registers it (or set "
        "the key it needs) first, or pass it as embedder=."
    )


def _not_downloaded(model: Any, error: Exception) -> str:
    return (
        f"Chroma's default embedder could not fetch its model from {model.MODEL_DOWNLOAD_URL} into "
        f"{model.DOWNLOAD_PATH} ({type(error).__name__}: {error}). It needs the network once, or that folder filled. "
        "Without: pass embedder=LocalEmbedder() "
        '(pip install "adaptive-memory-retrieval[local]"), embedder=MiniLMEmbedder(), or any callable from texts to '
        "vectors. A collection that already holds vectors of this default takes the same model from another "
        'place: as_embedder(MiniLMEmbedder(), name="default").'
    )
