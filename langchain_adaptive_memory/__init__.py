"""Adaptive memory for LangChain and LangGraph. The names here are public; anything else may change.

Names are loaded on first use, so importing the package is fast and does not import LangChain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adaptive_memory_core.late import loaded
from adaptive_memory_core.models.extras import require

if TYPE_CHECKING:
    from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
    from langchain_adaptive_memory.langgraph_store.store import AdaptiveMemoryStore
    from langchain_adaptive_memory.local import LocalEmbeddings
    from langchain_adaptive_memory.retriever import AdaptiveMemoryRetriever
    from langchain_adaptive_memory.tools import create_forget_tool, create_recall_tool, create_remember_tool
    from langchain_adaptive_memory.user import EVERYONE
    from langchain_adaptive_memory.vector_store import AdaptiveMemoryVectorStore

__all__ = [
    "AdaptiveMemoryMiddleware",
    "AdaptiveMemoryRetriever",
    "AdaptiveMemoryStore",
    "AdaptiveMemoryVectorStore",
    "EVERYONE",
    "LocalEmbeddings",
    "create_forget_tool",
    "create_recall_tool",
    "create_remember_tool",
]

_HOMES = {
    "AdaptiveMemoryMiddleware": ("agents.middleware", "langchain"),
    "AdaptiveMemoryRetriever": ("retriever", "langchain_core"),
    "AdaptiveMemoryStore": ("langgraph_store.store", "langgraph"),
    "AdaptiveMemoryVectorStore": ("vector_store", "langchain_core"),
    "EVERYONE": ("user", "langchain_core"),
    "LocalEmbeddings": ("local", "langchain_core"),
    "create_forget_tool": ("tools", "langchain_core"),
    "create_recall_tool": ("tools", "langchain_core"),
    "create_remember_tool": ("tools", "langchain_core"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}. It has: {', '.join(__all__)}.")
    file, package = _HOMES[name]
    require([package], extra="langchain")
    thing = loaded(f"{__name__}.{file}", name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
