"""Is every record's copy in the ledger what the collection has, whatever this memory does to it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adaptive_memory_core import AdaptiveMemory, UserMemory
from tests.conftest import Clock, Open, contents

WAYS: dict[str, Callable[[UserMemory], object]] = {
    "remember": lambda alice: alice.remember("red tea", metadata={"x": 0.1, "n": 3, "tags": ["a", "b"], "yes": True}),
    "remember many": lambda alice: alice.remember_many([{"text": f"tea {number}"} for number in range(5)]),
    "odd numbers": lambda alice: alice.remember("red", created_at=1760000000.1234567, metadata={"x": 7.038531e-26}),
    "remember anew": lambda alice: alice.remember("red tea", id="tea", metadata={"new": 1}),
    "a new one and an old one": lambda alice: alice.remember_many([{"text": "red", "id": "tea"}, "blue"]),
    "supersede": lambda alice: alice.remember("white tea", supersedes="tea"),
    "supersede and forget": lambda alice: alice.forget(alice.remember("white tea", supersedes="tea")),
    "forget": lambda alice: alice.forget("tea"),
    "pin": lambda alice: alice.pin("tea"),
    "recall": lambda alice: alice.recall("green tea"),
    "demote": lambda alice: alice.demote("tea"),
}


def copies(memory: AdaptiveMemory) -> dict[str, Any]:
    """What the mirror has of all records: text, metadata and vector."""
    rows = memory.ports().ledger.mirror
    found = rows.rows(sorted(rows.stored_ids()))
    vectors = rows.vectors([one for one, _, _ in found])
    return {one: (text, metadata, near(np.frombuffer(vectors[one], dtype="<f4"))) for one, text, metadata in found}


def near(vector: Any) -> Any:
    """Chroma makes vectors anew from their unit vectors, and misses the last digit."""
    return pytest.approx(np.asarray(vector).tolist(), rel=1e-5, abs=1e-6)


def originals(memory: AdaptiveMemory) -> dict[str, Any]:
    """What the collection has of them."""
    inside: Any = memory.ports().records
    return {one: (text, meta, list(vector)) for one, (text, meta, vector) in contents(inside.collection).items()}


@pytest.mark.parametrize("act", WAYS.values(), ids=WAYS.keys())
def test_a_copy_is_what_the_collection_has(
    open_memory: Open, clock: Clock, act: Callable[[UserMemory], object]
) -> None:
    memory = open_memory()
    alice = memory.for_user("alice")
    alice.remember_many([{"text": "green tea", "id": "tea", "importance": 0.3, "metadata": {"old": "x", "n": 1.5}}])
    memory.for_everyone().remember("beer", id="beer")
    alice.feedback(alice.recall("green tea"), helpful=["tea"])
    memory.flush()
    clock.pass_days(1)
    act(alice)
    assert copies(memory) == originals(memory)
    memory.flush()
    assert copies(memory) == originals(memory)


def test_a_copy_is_there_for_the_next_process(open_memory: Open) -> None:
    memory = open_memory()
    memory.for_user("alice").remember("green tea", id="tea")
    before = memory.ports().ledger.mirror.vectors(["tea"])
    memory.close()
    assert open_memory().ports().ledger.mirror.vectors(["tea"]) == before
    assert before.keys() == {"tea"}
