"""Which embedder does a name stand for, on a command line or in a file? A bundled one, a server's, or one's own."""

from __future__ import annotations

from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.models.local import LocalEmbedder
from adaptive_memory_core.models.minilm import MiniLMEmbedder
from adaptive_memory_core.models.named_object import named_object
from adaptive_memory_core.models.openai import OpenAIEmbedder
from adaptive_memory_core.shown_in_errors import reason, shown


def embedder_of(name: str) -> Any:
    """The embedder of that name, made: local, minilm, openai:MODEL, or MODULE:NAME of a function.

    >>> embedder_of("local").name
    'wordllama-l2-supercat-256'
    """
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
            f"The embedder {shown(name)} is not there: {reason(error)}. Give local, minilm, openai:MODEL, or "
            "MODULE:NAME of a function from texts to vectors that Python can import."
        ) from error
