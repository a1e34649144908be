"""Does the paper's own listing run, and may its numbers be changed while it runs?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core import DynamicRAG, PolicyError
from tests.conftest import word_vectors

DOCUMENTS = {
    "doc1": "Machine learning is a method of data analysis",
    "doc2": "Deep learning uses neural networks",
    "doc3": "Sourdough needs flour and water and time",
}


@pytest.fixture
def rag() -> Iterator[DynamicRAG]:
    with DynamicRAG(embedder=word_vectors) as opened:
        opened.add_documents(DOCUMENTS)
        yield opened


def test_the_papers_listing_runs() -> None:
    rag = DynamicRAG()
    rag.add_document("doc1", "Machine learning is a method of data analysis...")
    rag.add_document("doc2", "Deep learning uses neural networks...")
    results = rag.query("What is machine learning?", top_k=3)
    stats = rag.embedder.get_memory_statistics()
    assert [one.id for one in results] == ["doc1", "doc2"]
    assert stats["remembered_tokens"] == 0
    rag.close()


def test_what_is_asked_for_is_remembered_and_the_rest_fades(rag: DynamicRAG) -> None:
    for _ in range(10):
        assert rag.query("machine learning", top_k=1)[0].id == "doc1"
    stats = rag.embedder.get_memory_statistics()
    assert (stats["total_documents"], stats["queries"], stats["remembered_tokens"]) == (3, 10, 1)
    assert stats["mean_strength"] == pytest.approx((1 + 2 * 0.95**5) / 3)
    assert stats["stale_norm"] == pytest.approx((2 * 0.95**10) ** 0.5)
    assert stats["retrievals_per_query"] == 1.0


def test_two_without_a_path_know_nothing_of_each_other(rag: DynamicRAG) -> None:
    with DynamicRAG(embedder=word_vectors) as other:
        assert len(other.query("machine learning")) == 0


def test_a_directory_keeps_it(tmp_path: Path) -> None:
    with DynamicRAG(tmp_path / "rag", embedder=word_vectors) as rag:
        rag.add_document("doc1", "tea")
        for _ in range(3):
            rag.query("tea", top_k=1)
    with DynamicRAG(tmp_path / "rag", embedder=word_vectors) as rag:
        assert rag.embedder.get_memory_statistics()["remembered_tokens"] == 1


def test_the_embedding_weights_may_be_changed_at_run_time(rag: DynamicRAG) -> None:
    rag.embedder.configure(decay_rate=0.5, decay_grace_period=0)
    for _ in range(6):
        rag.query("sourdough", top_k=1)
    rag.embedder.embedding_weights = {"static": 1, "dynamic": 0}
    static = rag.memory.recall("machine learning", k=3, reinforce=False)
    rag.embedder.embedding_weights = {"static": 1, "dynamic": 1}
    mixed = rag.memory.recall("machine learning", k=3, reinforce=False)
    rag.embedder.embedding_weights = {"static": 0, "dynamic": 1}
    dynamic = rag.memory.recall("machine learning", k=3, reinforce=False)
    assert static[0].id == "doc1"
    scores = [{one.id: one.score for one in found}["doc1"] for found in (static, mixed, dynamic)]
    assert scores[1] == pytest.approx((scores[0] + scores[2]) / 2)
    assert scores[2] == pytest.approx(scores[0] * 0.5**6)


@pytest.mark.parametrize(
    "weights",
    [
        {},
        {"static": 1},
        {"static": 0, "dynamic": 0},
        {"static": -1, "dynamic": 2},
        {"static": "1", "dynamic": 1},
        None,
        5,
        {"static": float("nan"), "dynamic": 1},
        {"static": 1, "dynamic": 1, "extra": 1},
    ],
)
def test_invalid_weights_are_refused_and_the_old_ones_stay(rag: DynamicRAG, weights: Any) -> None:
    rag.embedder.embedding_weights = {"static": 1, "dynamic": 3}
    with pytest.raises(PolicyError, match="embedding_weights"):
        rag.embedder.embedding_weights = weights
    assert rag.embedder.embedding_weights == {"static": 0.25, "dynamic": 0.75}


@pytest.mark.parametrize("numbers", [{"decay_rate": 1.5}, {"decay_grace_period": -1}, {"remembrance_threshold": 0}])
def test_invalid_numbers_are_refused_and_the_old_ones_stay(rag: DynamicRAG, numbers: Any) -> None:
    with pytest.raises(PolicyError):
        rag.embedder.configure(**numbers)
    with pytest.raises(PolicyError):
        DynamicRAG(embedder=word_vectors, **numbers)
    with pytest.raises(PolicyError, match="profiles are"):
        DynamicRAG(embedder=word_vectors, profile="bold")
    assert rag.memory.recall("tea").policy.decay.rate == 0.95


def test_documents_may_go(rag: DynamicRAG) -> None:
    rag.remove_document("doc2")
    for _ in range(100):
        rag.query("machine learning", top_k=1)
    assert rag.prune(below=0.05, dry_run=True).ids == ("doc3",)
    assert rag.prune(below=0.05).ids == ("doc3",)
    assert rag.embedder.get_memory_statistics()["total_documents"] == 1
