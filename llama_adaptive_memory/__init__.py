"""Adaptive memory for LlamaIndex: a retriever, a node post-processor and a memory block over a Chroma index.

Large packages are imported only when one of the names is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adaptive_memory_core.late import loaded

if TYPE_CHECKING:
    from llama_adaptive_memory.block import AdaptiveMemoryBlock
    from llama_adaptive_memory.embedding import LocalEmbedding
    from llama_adaptive_memory.postprocessor import AdaptiveMemoryPostprocessor
    from llama_adaptive_memory.retriever import AdaptiveMemoryRetriever
    from llama_adaptive_memory.settings import EVERYONE
    from llama_adaptive_memory.tools import create_forget_tool, create_recall_tool, create_remember_tool
    from llama_adaptive_memory.turns import one_question

__all__ = [
    "AdaptiveMemoryBlock",
    "AdaptiveMemoryPostprocessor",
    "AdaptiveMemoryRetriever",
    "EVERYONE",
    "LocalEmbedding",
    "create_forget_tool",
    "create_recall_tool",
    "create_remember_tool",
    "one_question",
]

_PLACES = {
    "AdaptiveMemoryBlock": "block",
    "AdaptiveMemoryPostprocessor": "postprocessor",
    "AdaptiveMemoryRetriever": "retriever",
    "EVERYONE": "settings",
    "LocalEmbedding": "embedding",
    "create_forget_tool": "tools",
    "create_recall_tool": "tools",
    "create_remember_tool": "tools",
    "one_question": "turns",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _check_installed()
    value = loaded(f"{__name__}.{_PLACES[name]}", name)
    globals()[name] = value
    return value


def _check_installed() -> None:
    """Raise MissingExtraError if LlamaIndex is missing, without importing it, which takes seconds."""
    import importlib.util

    from adaptive_memory_core.errors import MissingExtraError

    for package in ("llama_index.core", "llama_index.vector_stores.chroma"):
        try:
            found = importlib.util.find_spec(package) is not None
        except ModuleNotFoundError:  # its parent package is missing
            found = False
        if not found:
            raise MissingExtraError.of(package, "llama-index")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
