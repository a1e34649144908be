"""Who is held on to, and who decided so? Pins, demotions, the audit trail, the numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from chromadb import Collection

from adaptive_memory_core import (
    AdaptiveMemory,
    Keeping,
    UserMemory,
)
from tests.behaviour.fading_memory import ARM, alice, memory
from tests.conftest import word_vectors

if TYPE_CHECKING:
    from tests.conftest import Clock, Open


__all__ = ["alice", "memory"]  # fixtures


def test_the_remembered_and_the_pinned_are_listed_as_they_stand(alice: UserMemory) -> None:
    assert [one.id for one in alice.remembered()] == ["tea"]
    assert [one.id for one in alice.pinned()] == ["milk"]
    alice.unpin("milk")
    alice.demote("tea")
    assert alice.remembered() == alice.pinned() == []


def test_a_copied_collection_still_lists_its_remembered_records(
    alice: UserMemory, memory: AdaptiveMemory, new_collection: Callable[..., Collection]
) -> None:
    memory.flush()
    source: Any = memory.ports().records
    copy = new_collection()
    found = source.collection.get(include=["documents", "metadatas", "embeddings"])
    copy.add(**{key: found[key] for key in ("ids", "documents", "metadatas", "embeddings")})
    with closing(AdaptiveMemory(copy, embedder=word_vectors, policy=ARM)) as other:
        assert [one.id for one in other.for_user("alice").remembered()] == ["tea"]
        assert [one.id for one in other.for_user("alice").pinned()] == ["milk"]
        assert other.for_user("bob").remembered() == []


def test_the_audit_trail_says_who_and_when(alice: UserMemory, clock: Clock) -> None:
    recall = alice.recall("tea", k=1)
    alice.feedback(recall, helpful=["tea"])
    clock.pass_days(1)
    alice.demote("tea", by="ops@example.org")
    alice.unpin("tea")  # was not pinned: nothing happened
    lines = alice.changes("tea")
    assert [(one.what, one.by.partition(" ")[0]) for one in lines] == [
        ("demoted", "ops@example.org"),
        ("helpful", "recall"),
        ("remembered", "recall"),
    ]
    assert lines[0].at == clock()
    assert (lines[0].step, lines[2].step) == (6, 3)
    assert [one.what for one in alice.changes("milk")] == ["pinned"]
    assert len(alice.changes(limit=2)) == 2


def test_forgetting_a_record_takes_its_lines_of_the_trail_along(alice: UserMemory) -> None:
    alice.forget("milk")
    assert alice.changes("milk") == []


def test_stats_are_the_papers(alice: UserMemory) -> None:
    stats = alice.stats(at_least=0.5)
    assert (stats.remembered, stats.remembered_fraction, stats.reads_per_recall) == (1, 0.25, 1.0)
    strengths = stats.strengths
    assert (strengths.stale, strengths.size) == (2, 2)
    assert strengths.stale_norm == pytest.approx((2 * 0.5**10) ** 0.5)
    assert strengths.histogram == (2, 0, 0, 0, 0, 0, 0, 0, 0, 2)
    assert strengths.mean == pytest.approx((2 + 2 * 0.5**5) / 4)
    assert stats.update_ms is not None
    assert stats.update_ms > 0


def test_samples_over_time_are_kept(open_memory: Open) -> None:
    keeping = Keeping(sample_recalls=2)
    memory = open_memory(policy=ARM, keeping=keeping)
    alice = memory.for_user("alice")
    alice.remember_many(["tea", "coffee"])
    for _ in range(3):
        for _ in range(2):
            alice.recall("tea", k=1)
        memory.flush()
    memory.close()
    samples = open_memory(policy=ARM, keeping=keeping).for_user("alice").history()
    assert [one.step for one in samples] == [2, 4, 6]
    assert [one.remembered for one in samples] == [0, 1, 1]
    assert [one.strengths.stale_norm for one in samples] == [0.5**2, 0.5**4, 0.5**6]
    assert samples[-1].remembered_fraction == 0.5


async def test_upkeep_is_async_too(alice: UserMemory) -> None:
    assert len(await alice.aprune(below=0.1)) == 2
    assert [one.id for one in await alice.aremembered()] == ["tea"]
    assert [one.id for one in await alice.apinned()] == ["milk"]
    assert (await alice.achanges())[0].what == "pruned"
    assert list(await alice.ahistory()) == []
