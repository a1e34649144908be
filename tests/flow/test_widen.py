"""Is the strong record found behind hundreds of faded ones that are more alike - exactly, without a walk past all?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.flow import widen
from adaptive_memory_core.store.ledger import state_rows
from tests.conftest import Clock, Open

ARM = Policy.preset("balanced").replace(decay={"grace": 0, "rate": 0.5})
DIMENSIONS = 8


def embed(texts: Any) -> list[list[float]]:
    """`crowd N`: near the first axis; `loner N`: nearer the second; anything else: on the first axis."""
    found = []
    for text in texts:
        word, _, number = text.partition(" ")
        noise = np.random.default_rng(int(number or 0) + 1).normal(size=DIMENSIONS) * 0.05
        away = {"crowd": 0.0, "loner": 1.2}.get(word, 0.0)
        vector = np.eye(DIMENSIONS)[0] + away * np.eye(DIMENSIONS)[1] + (noise if number else 0.0)
        found.append((vector / np.linalg.norm(vector)).tolist())
    return found


@pytest.fixture
def memory(over: Open) -> AdaptiveMemory:
    return over(embedder=embed, policy=ARM)


@pytest.fixture
def asked(memory: AdaptiveMemory) -> list[int]:
    """How many candidates the collection was asked for, query by query."""
    store: Any = memory.ports().search
    real, limits = store.compare, []

    def compare(scope: Any, vector: Any, limit: int, *others: Any, **named: Any) -> Any:
        limits.append(limit)
        return real(scope, vector, limit, *others, **named)

    store.compare = compare
    return limits


def faded_crowd(user: UserMemory, size: int = 300, **arguments: Any) -> None:
    """Many records close to the cue, all but faded, then three strong ones further away."""
    user.remember_many([{"text": f"crowd {n}", "id": f"{user.user}-crowd-{n}"} for n in range(1, size)])
    user.remember("loner 999", id=f"{user.user}-read")
    for _ in range(12):
        user.recall("loner 999", k=1)
    user.remember_many([{"text": f"loner {n}", "id": f"{user.user}-loner-{n}", **arguments} for n in (1, 2)])


def test_the_strong_ones_win_and_the_search_stays_narrow(memory: AdaptiveMemory, asked: list[int]) -> None:
    alice = memory.for_user("alice")
    faded_crowd(alice)
    asked.clear()
    found = alice.recall("cue", k=3)
    assert set(found.ids) == {"alice-read", "alice-loner-1", "alice-loner-2"}
    assert asked == [20]
    assert found.candidates == 20


def test_a_filter_holds_for_them_too(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    faded_crowd(alice, metadata={"colour": "red"})
    red = alice.recall("cue", k=3, filter={"colour": "red"}, reinforce=False)
    assert set(red.ids) == {"alice-loner-1", "alice-loner-2"}
    assert {"alice-loner-1", "alice-loner-2"}.isdisjoint(alice.recall("cue", k=3, filter={"colour": "blue"}).ids)


def test_nobody_elses_strong_records_come_along(memory: AdaptiveMemory) -> None:
    for name in ("alice", "bob"):
        faded_crowd(memory.for_user(name))
    found = memory.for_user("bob").recall("cue", k=5)
    assert all(one.startswith("bob-") for one in found.ids)
    assert set(found.ids[:3]) == {"bob-read", "bob-loner-1", "bob-loner-2"}


def test_what_others_wrote_is_met_once_and_decays_from_then_on(
    memory: AdaptiveMemory, collection: Collection, asked: list[int]
) -> None:
    alice = memory.for_user("alice")
    names = [f"crowd {n}" for n in range(1, 200)] + ["loner 1"]
    collection.add(
        ids=[f"foreign-{n}" for n in range(200)],
        documents=names,
        embeddings=np.array(embed(names), dtype=np.float32),
        metadatas=[{"user_id": "alice"}] * 200,
    )
    alice.recall("crowd 1", k=1)
    assert asked == [20]  # nothing has decayed that the ledger knows of
    assert alice.get("foreign-100").read.strength == 1.0
    for number in range(12):  # the nearest fade away while the ledger has not met the rest
        alice.recall(f"crowd {number + 1}", k=1)
    found = alice.recall("cue", k=5, reinforce=False)
    best = sorted((alice.get(f"foreign-{n}") for n in range(200)), key=lambda one: -_left(one))[:5]
    assert [one.score for one in found] == pytest.approx([_left(one) for one in best], abs=1e-6)


def _left(record: Any) -> float:
    similarity = float(np.dot(embed(["cue"])[0], embed([record.text])[0]))
    return max(0.0, similarity) * float(record.read.strength)


@pytest.mark.parametrize("limit", [5, 2_000])
def test_it_is_the_true_top_k_by_either_way(
    new_collection: Callable[..., Collection], clock: Clock, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a low limit the ledger names too many, and the search widens instead; the answer is the same."""
    random = np.random.default_rng(7)
    policy = Policy.preset("aggressive").replace(decay={"grace": 1})
    monkeypatch.setattr(widen, "MOST_CANDIDATES", limit)
    with closing(AdaptiveMemory(new_collection(), embedder=embed, clock=clock, policy=policy)) as memory:
        alice = memory.for_user("alice")
        for number in range(60):
            word = "crowd" if number % 3 else "loner"
            alice.remember_many([{"text": f"{word} {10 * number + n}", "id": f"{number}-{n}"} for n in range(10)])
            found = alice.recall("cue" if random.random() < 0.5 else f"{word} {random.integers(600)}", k=4)
            assert len(found) == 4
        found = alice.recall("cue", k=10, reinforce=False)
        everything = [alice.get(f"{number}-{n}") for number in range(60) for n in range(10)]
        best = sorted((_left(one) for one in everything), reverse=True)[:10]
        assert [one.score for one in found] == pytest.approx(best, abs=1e-6)


def test_a_memory_that_never_decayed_asks_once(over: Open, embed: Any) -> None:
    alice = over(embedder=embed).for_user("alice")
    alice.remember_many(f"the same text {n}" for n in range(60))
    assert len(alice.recall("the same text", k=5, policy=Policy(channels=("dense",))).dropped) == 15


def test_the_strong_are_found_by_index(memory: AdaptiveMemory) -> None:
    faded_crowd(memory.for_user("alice"), size=30)
    ledger: Any = memory.ports().ledger
    values = (1, 0, 0.0, 0.5, 1, 0.5, 10)
    with ledger.file.reading() as sql:
        plan = [row[3] for row in sql.execute("EXPLAIN QUERY PLAN " + state_rows._STRONG, values)]
    assert any("records_by_settling (user_key=? AND settled_step>?)" in line for line in plan)
    assert any("records_kept (user_key=?)" in line for line in plan)
    assert not any(line.startswith("SCAN records") for line in plan)


def test_what_others_swap_one_for_one_is_found(memory: AdaptiveMemory, collection: Collection) -> None:
    """As a re-ingestion does: as many records deleted as added."""
    alice = memory.for_user("alice")
    faded_crowd(alice, size=60)

    def add(name: str, text: str) -> None:
        vectors = np.array(embed([text]), dtype=np.float32)
        collection.add(ids=[name], documents=[text], embeddings=vectors, metadatas=[{"user_id": "alice"}])

    add("old", "crowd 900")
    assert "old" in alice.recall("cue", k=3).ids
    for number in range(30):
        alice.recall(f"crowd {number + 1}", k=1)
    collection.delete(ids=["old"])
    add("new", "loner 3")
    assert "new" in alice.recall("cue", k=4).ids


def test_what_others_write_for_another_user_does_not_hide_what_they_write_for_this_one(
    memory: AdaptiveMemory, collection: Collection
) -> None:
    alice, everyone = memory.for_user("alice"), memory.for_everyone()

    def add(name: str, text: str, **metadata: Any) -> None:
        vectors = np.array(embed([text]), dtype=np.float32)
        collection.add(ids=[name], documents=[text], embeddings=vectors, metadatas=[{"by": "others", **metadata}])

    everyone.remember_many([f"crowd {number}" for number in range(1, 40)])
    for number in range(25):
        add(f"a-{number}", f"crowd {100 + number}", user_id="alice")
    for _ in range(30):
        everyone.recall("crowd 1", k=1)
        alice.recall("crowd 100", k=1)
    everyone.remember("crowd 41")
    add("new", "loner 5")
    assert "new" in everyone.recall("cue", k=3).ids
