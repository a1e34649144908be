"""Memory over a Chroma collection that learns from being read. The names here are public; all else may move."""

from adaptive_memory_core.check_report import CheckReport, Finding
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.cue.build import build_cue, drift
from adaptive_memory_core.cue.time.english import English
from adaptive_memory_core.cue.time.intent import Intent, Sign, Window
from adaptive_memory_core.dynamic_rag import DynamicRAG
from adaptive_memory_core.errors import (
    AdaptiveMemoryError,
    ClosedError,
    DamagedLedgerError,
    DamagedStoreError,
    EmbedderError,
    EmbedderMismatchError,
    FilterError,
    InvalidInputError,
    LedgerError,
    LedgerVersionError,
    MissingExtraError,
    NotFoundError,
    PartialWriteError,
    PolicyError,
    RerankerError,
    ScopeError,
    StoreError,
    StoreInUseError,
)
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.models.embedder import Embedder, as_embedder
from adaptive_memory_core.models.local import LocalEmbedder
from adaptive_memory_core.models.minilm import MiniLMEmbedder
from adaptive_memory_core.models.openai import OpenAIEmbedder
from adaptive_memory_core.models.openai_reranker import OpenAIReranker
from adaptive_memory_core.models.tokens import token_counter
from adaptive_memory_core.policy.decay import Remembrance
from adaptive_memory_core.policy.fusion import Fusion
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.policy.usefulness import Usefulness
from adaptive_memory_core.policy.weights import Weights
from adaptive_memory_core.records import (
    AgentState,
    Cue,
    Dropped,
    Fields,
    Hit,
    Neighbour,
    ReadState,
    Record,
    Scope,
    Scored,
    Verdict,
)
from adaptive_memory_core.reports import (
    Change,
    LoggedCandidate,
    LoggedRecall,
    ProjectionStats,
    PruneReceipt,
    Receipt,
    Restored,
    Sample,
    Stats,
    Strengths,
)
from adaptive_memory_core.score.nothing_found_report import Calibration, Unrelated
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.user_memory import UserMemory

__all__ = [
    "AdaptiveMemory",
    "AdaptiveMemoryError",
    "AgentState",
    "Calibration",
    "Change",
    "CheckReport",
    "ClosedError",
    "Cue",
    "DamagedLedgerError",
    "DamagedStoreError",
    "Dropped",
    "DynamicRAG",
    "Embedder",
    "EmbedderError",
    "EmbedderMismatchError",
    "English",
    "Fields",
    "FilterError",
    "Finding",
    "Fusion",
    "Hit",
    "Intent",
    "InvalidInputError",
    "Keeping",
    "LedgerError",
    "LedgerVersionError",
    "LocalEmbedder",
    "LoggedCandidate",
    "LoggedRecall",
    "MiniLMEmbedder",
    "MissingExtraError",
    "Neighbour",
    "NotFoundError",
    "OpenAIEmbedder",
    "OpenAIReranker",
    "PartialWriteError",
    "Policy",
    "PolicyError",
    "ProjectionStats",
    "PruneReceipt",
    "ReadState",
    "Recall",
    "Receipt",
    "Record",
    "Remembrance",
    "RerankerError",
    "Restored",
    "SQLiteLedger",
    "Sample",
    "Scope",
    "ScopeError",
    "Scored",
    "Sign",
    "Stats",
    "StoreError",
    "StoreInUseError",
    "Strengths",
    "Unrelated",
    "Usefulness",
    "UserMemory",
    "Verdict",
    "Weights",
    "Window",
    "as_embedder",
    "build_cue",
    "drift",
    "token_counter",
]
