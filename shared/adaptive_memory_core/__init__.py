"""Memory over a Chroma collection that learns from being read.

Public are the names here, and those of `errors`, `judges`, `languages`, `policy`, `reports` and `telemetry`. All else
may move without notice.
"""

from typing import TYPE_CHECKING, Any

from adaptive_memory_core import errors, policy, reports
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.cue.build import build_cue, drift
from adaptive_memory_core.cue.time.english import English
from adaptive_memory_core.cue.time.intent import Intent, Sign, Window
from adaptive_memory_core.dynamic_rag import DynamicRAG
from adaptive_memory_core.errors import AdaptiveMemoryError, InvalidInputError, NotFoundError, PolicyError, ScopeError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.models.embedder import Embedder, as_embedder
from adaptive_memory_core.models.local import LocalEmbedder
from adaptive_memory_core.models.minilm import MiniLMEmbedder
from adaptive_memory_core.models.openai import OpenAIEmbedder
from adaptive_memory_core.models.openai_reranker import OpenAIReranker
from adaptive_memory_core.models.tokens import token_counter
from adaptive_memory_core.policy import Keeping, Policy, Weights
from adaptive_memory_core.records import AgentState, Cue, ReadState, Record, Scope, Scored, Verdict
from adaptive_memory_core.renamed import PLACES_OF_TOP_NAMES as _PLACES
from adaptive_memory_core.renamed import warn_renamed as _warn_renamed
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.user_memory import UserMemory

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

if not TYPE_CHECKING:  # or type checkers would believe in any name

    def __getattr__(name: str) -> Any:
        """What stood here in the version before, with a warning that says where it is now."""
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = {"errors": errors, "policy": policy, "reports": reports}[_PLACES[name]]
        _warn_renamed(f"{__name__}.{name}", f"{module.__name__}.{name}")
        return getattr(module, name)
