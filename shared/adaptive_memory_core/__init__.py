"""Memory over a Chroma collection that learns from being read.

Public are the names here, and those of `errors`, `judges`, `languages`, `policy`, `reports` and `telemetry`. All else
may move without notice.
"""

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.cue.question_kinds import build_cue, drift
from adaptive_memory_core.cue.time.english import English
from adaptive_memory_core.cue.time.intent import Intent, Sign, Window
from adaptive_memory_core.dynamic_rag import DynamicRAG
from adaptive_memory_core.errors import AdaptiveMemoryError, InvalidInputError, NotFoundError, PolicyError, ScopeError
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
