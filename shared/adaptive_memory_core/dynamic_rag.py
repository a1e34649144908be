"""The ARM paper's own interface, `DynamicRAG`, over an AdaptiveMemory with one of the paper's profiles."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError, PolicyError
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.models.embedder import bundled_unless
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Metadata
from adaptive_memory_core.reports import PruneReceipt, Receipt
from adaptive_memory_core.user_memory import UserMemory

KINDS = ("static", "dynamic")
PROFILES = ("balanced", "ultra_efficient", "broad_adaptation", "conservative", "aggressive")


class DynamicRAG:
    """The paper's Dynamic RAG: documents that are read are remembered, the others fade.

    Without a `path` it is in RAM. `profile` is one of the paper's: "balanced", "ultra_efficient", "broad_adaptation",
    "conservative", "aggressive"; single numbers can be changed. Without an `embedder` the bundled embedder is used,
    which needs the extra `local`. Learned state is stored in the directory, but the profile and its numbers must be
    given at each opening. `memory` is the same memory with this package's full interface.

    >>> letters = lambda texts: [[1.0 + text.count(letter) for letter in "abcdefgh"] for text in texts]
    >>> with DynamicRAG(embedder=letters) as rag:
    ...     _ = rag.add_document("doc1", "a bad cab")
    ...     _ = rag.add_document("doc2", "he fed")
    ...     results = [rag.query("a cab", top_k=1)[0].id for _ in range(3)]
    ...     stats = rag.embedder.get_memory_statistics()
    >>> results, stats["remembered_tokens"]
    (['doc1', 'doc1', 'doc1'], 1)
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        collection: str = "dynamic_rag",
        profile: str = "balanced",
        remembrance_threshold: int | None = None,
        decay_grace_period: float | None = None,
        decay_rate: float | None = None,
        embedding_weights: Mapping[str, float] | None = None,
        embedder: Any = None,
    ) -> None:
        if profile not in PROFILES:
            raise PolicyError(f"profile is {shown(profile)}. The paper's profiles are: {', '.join(PROFILES)}.")
        policy = _changed(Policy.preset(profile), remembrance_threshold, decay_grace_period, decay_rate)
        if embedding_weights is not None:
            policy = policy.replace(decay={"strength_weight": _dynamic_share(embedding_weights)})
        self._adaptive = (
            _in_ram(policy, embedder)
            if path is None
            else AdaptiveMemory.open(path, collection, embedder=embedder, policy=policy)
        )
        self.memory: UserMemory = self._adaptive.for_everyone()
        self.embedder = DynamicEmbeddings(self._adaptive, self.memory)

    def add_document(self, doc_id: str, text: str, metadata: Metadata | None = None) -> str:
        """Store a document. An existing document with this id is overwritten, and its read state stays."""
        return self.memory.remember(text, id=check.name(doc_id, "doc_id"), kind="document", metadata=metadata)

    def add_documents(self, documents: Mapping[str, str]) -> list[str]:
        """Store many documents, given as id to text, in batches."""
        if not isinstance(documents, Mapping):
            raise InvalidInputError(f"documents are {shown(documents)}. Give a mapping from id to text.")
        return self.memory.remember_many(
            {"id": doc_id, "text": text, "kind": "document"} for doc_id, text in documents.items()
        )

    def query(self, text: str, top_k: int = 5) -> Recall:
        """The best `top_k` documents by similarity times strength. They count as read, and all others decay."""
        return self.memory.recall(text, k=top_k)

    def remove_document(self, doc_id: str) -> Receipt:
        """Remove a document and every trace of it."""
        return self.memory.forget(doc_id)

    def prune(self, below: float, dry_run: bool = False) -> PruneReceipt:
        """Remove the documents whose strength is below a limit."""
        return self.memory.prune(below, dry_run=dry_run)

    def close(self) -> None:
        self._adaptive.close()

    def __enter__(self) -> DynamicRAG:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class DynamicEmbeddings:
    """The paper's dynamic embedding layer: its numbers, which can be changed during use, and its statistics."""

    def __init__(self, adaptive: AdaptiveMemory, memory: UserMemory) -> None:
        self._adaptive, self._memory = adaptive, memory

    def get_memory_statistics(self, at_least: float = 0.01) -> dict[str, float]:
        """The paper's statistics; `memory_size` counts the documents of at least this strength."""
        stats = self._memory.stats(at_least)
        return {
            "total_documents": stats.records,
            "queries": stats.recalls,
            "retrievals_per_query": stats.reads_per_recall,
            "remembered_tokens": stats.remembered,  # the paper's name
            "remembered_fraction": stats.remembered_fraction,
            "mean_strength": stats.strengths.mean,
            "stale_documents": stats.strengths.stale,
            "stale_norm": stats.strengths.stale_norm,
            "memory_size": stats.strengths.size,
            "update_ms": 0.0 if stats.update_ms is None else stats.update_ms,
        }

    @property
    def embedding_weights(self) -> dict[str, float]:
        """The shares of a similarity that stay ("static") and that decay ("dynamic"); they sum to 1.

        They can be set at any time, as two numbers whose ratio counts. Invalid numbers raise PolicyError.
        """
        dynamic = self._adaptive.policy.decay.strength_weight
        return {"static": 1.0 - dynamic, "dynamic": dynamic}

    @embedding_weights.setter
    def embedding_weights(self, weights: Mapping[str, float]) -> None:
        self._adaptive.policy = self._adaptive.policy.replace(decay={"strength_weight": _dynamic_share(weights)})

    def configure(
        self,
        *,
        remembrance_threshold: int | None = None,
        decay_grace_period: float | None = None,
        decay_rate: float | None = None,
    ) -> Policy:
        """Change the paper's numbers on the live memory; learned state stays."""
        policy = _changed(self._adaptive.policy, remembrance_threshold, decay_grace_period, decay_rate)
        self._adaptive.policy = policy
        return policy


def _changed(policy: Policy, theta: int | None, gamma: float | None, alpha: float | None) -> Policy:
    given = {"remembrance_threshold": theta, "grace": gamma, "rate": alpha}
    return policy.replace(decay={name: value for name, value in given.items() if value is not None})


def _dynamic_share(weights: Mapping[str, float]) -> float:
    """The share that decays, from two weights.

    >>> _dynamic_share({"static": 1, "dynamic": 3})
    0.75
    """
    usable = isinstance(weights, Mapping) and set(weights) == set(KINDS) and all(map(_is_weight, weights.values()))
    if not usable or sum(weights.values()) <= 0:
        raise PolicyError(
            f"embedding_weights is {shown(weights)}. Give two numbers of at least 0, not both 0, "
            'e.g. {"static": 0.3, "dynamic": 0.7}.'
        )
    return float(weights["dynamic"]) / float(sum(weights.values()))


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e9


def _in_ram(policy: Policy, embedder: Any) -> AdaptiveMemory:
    """A private memory in RAM."""
    import chromadb

    embedder = bundled_unless(embedder)
    collection = chromadb.EphemeralClient().create_collection(
        f"dynamic-rag-{uuid.uuid4()}", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    return AdaptiveMemory(collection, embedder=embedder, policy=policy)
