"""Memory over a Chroma collection that learns from being read.

The public names are those listed here and in `errors`, `judges`, `languages`, `policy`, `reports` and `telemetry`.
Anything else may change without notice. Names are loaded on first use, so importing the package is fast.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adaptive_memory_core.context.answer import Recall
    from adaptive_memory_core.cue.question_kinds import build_cue, drift
    from adaptive_memory_core.cue.time.english import English
    from adaptive_memory_core.cue.time.intent import Intent, Sign, Window
    from adaptive_memory_core.dynamic_rag import DynamicRAG
    from adaptive_memory_core.errors import (
        AdaptiveMemoryError,
        InvalidInputError,
        NotFoundError,
        PolicyError,
        ScopeError,
    )
    from adaptive_memory_core.fields import Fields
    from adaptive_memory_core.memory import AdaptiveMemory
    from adaptive_memory_core.models.embedder import Embedder, as_embedder
    from adaptive_memory_core.models.local import LocalEmbedder, token_counter
    from adaptive_memory_core.models.minilm import MiniLMEmbedder
    from adaptive_memory_core.models.openai import OpenAIEmbedder, OpenAIReranker
    from adaptive_memory_core.policy import Keeping, Policy, Weights
    from adaptive_memory_core.records import AgentState, Cue, ReadState, Record, Scope, Scored, Verdict
    from adaptive_memory_core.store.ledger.sql_ledger import SQLiteLedger
    from adaptive_memory_core.user_memory import UserMemory

_HOMES = {
    "AdaptiveMemory": "memory",
    "AdaptiveMemoryError": "errors",
    "AgentState": "records",
    "Cue": "records",
    "DynamicRAG": "dynamic_rag",
    "Embedder": "models.embedder",
    "English": "cue.time.english",
    "Fields": "fields",
    "Intent": "cue.time.intent",
    "InvalidInputError": "errors",
    "Keeping": "policy",
    "LocalEmbedder": "models.local",
    "MiniLMEmbedder": "models.minilm",
    "NotFoundError": "errors",
    "OpenAIEmbedder": "models.openai",
    "OpenAIReranker": "models.openai",
    "Policy": "policy",
    "PolicyError": "errors",
    "ReadState": "records",
    "Recall": "context.answer",
    "Record": "records",
    "SQLiteLedger": "store.ledger.sql_ledger",
    "Scope": "records",
    "ScopeError": "errors",
    "Scored": "records",
    "Sign": "cue.time.intent",
    "UserMemory": "user_memory",
    "Verdict": "records",
    "Weights": "policy",
    "Window": "cue.time.intent",
    "as_embedder": "models.embedder",
    "build_cue": "cue.question_kinds",
    "drift": "cue.question_kinds",
    "token_counter": "models.local",
}

__all__ = [
    "AdaptiveMemory",
    "AdaptiveMemoryError",
    "AgentState",
    "Cue",
    "DynamicRAG",
    "Embedder",
    "English",
    "Fields",
    "Intent",
    "InvalidInputError",
    "Keeping",
    "LocalEmbedder",
    "MiniLMEmbedder",
    "NotFoundError",
    "OpenAIEmbedder",
    "OpenAIReranker",
    "Policy",
    "PolicyError",
    "ReadState",
    "Recall",
    "Record",
    "SQLiteLedger",
    "Scope",
    "ScopeError",
    "Scored",
    "Sign",
    "UserMemory",
    "Verdict",
    "Weights",
    "Window",
    "as_embedder",
    "build_cue",
    "drift",
    "token_counter",
]

_MODULES = ("errors", "judges", "languages", "policy", "reports", "telemetry")

if not TYPE_CHECKING:  # otherwise a type checker would accept any name

    def __getattr__(name):
        if name in _MODULES:
            from importlib import import_module

            return import_module(f"{__name__}.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}. It has: {', '.join(__all__)}.")
        from adaptive_memory_core.late import loaded

        found = globals()[name] = loaded(f"{__name__}.{_HOMES[name]}", name)
        return found

    def __dir__():
        return sorted({*globals(), *__all__})
