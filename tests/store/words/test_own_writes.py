"""Is one's own write found by its words at once, whatever other threads are at in the meantime?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from tests.conftest import Clock, Vectors

FILLER = [f"nothing of note happened on day {n}" for n in range(10)]


@pytest.fixture
def alice(collection: Collection, embed: Callable[..., Vectors], clock: Clock) -> Iterator[UserMemory]:
    policy = Policy(channels=("dense", "lexical"))
    with closing(AdaptiveMemory(collection, embedder=embed, clock=clock, policy=policy)) as memory:
        alice = memory.for_user("alice")
        alice.remember_many(FILLER)
        alice.recall("anything", reinforce=False)
        yield alice


def words_in(alice: UserMemory, cue: str) -> dict[str, float]:
    """By id, what its words say of each record."""
    return {one.id: one.parts["words"] for one in alice.recall(cue, k=20, reinforce=False)}


def add_elsewhere(collection: Collection, embed: Callable[..., Vectors], name: str, text: str) -> None:
    collection.add(ids=[name], documents=[text], embeddings=embed([text]), metadatas=[{"user_id": "alice"}])


@pytest.mark.parametrize("looked_at", ["ids", "latest"])
def test_what_is_written_while_ids_are_compared_is_not_taken_for_gone(
    looked_at: str,
    alice: UserMemory,
    collection: Collection,
    embed: Callable[..., Vectors],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store: Any = alice._memory.ports().records
    read = getattr(store, looked_at)

    def then_written(*asked: int) -> list[str]:
        ids: list[str] = read(*asked)
        monkeypatch.setattr(store, looked_at, read)
        alice.remember("a zebra crossed", id="own")
        return ids

    add_elsewhere(collection, embed, "other", "a giraffe slept")
    if looked_at == "ids":  # all of them, where something was removed as well
        collection.delete(ids=alice.remember_many(["a gnu"]))
        add_elsewhere(collection, embed, "another", "an okapi slept")
    monkeypatch.setattr(store, looked_at, then_written)
    found = words_in(alice, "zebra slept")
    assert found["own"] > 0
    assert found["other"] > 0


def test_what_is_written_while_the_records_are_counted_is_not_taken_for_somebody_elses(
    alice: UserMemory, collection: Collection, embed: Callable[..., Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Any = alice._memory.ports().records
    count = store.size

    def then_written() -> int:
        size: int = count()
        monkeypatch.setattr(store, "size", count)
        alice.remember("a zebra crossed", id="own")
        return size

    add_elsewhere(collection, embed, "other", "a giraffe slept")
    monkeypatch.setattr(store, "size", then_written)
    assert words_in(alice, "giraffe")["other"] > 0
