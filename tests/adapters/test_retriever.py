"""What a retriever of either framework does over a memory that is given: it finds, counts, waits and closes alike."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.errors import ClosedError
from tests.adapters.conftest import Adapter
from tests.conftest import Clock, Held, Open, word_vectors

TEXTS = ("green tea is nice", "black coffee is strong", "cold milk is white", "the red car is fast", "rain is wet")


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    """A memory of Alice's; there is one of Bob's next to it."""
    mine = memory.for_user("alice")
    mine.remember_many([{"text": text, "id": text.split()[1]} for text in TEXTS])
    memory.for_user("bob").remember("bob drinks green tea", id="bobs")
    return mine


@pytest.mark.parametrize("query", ["", "   ", "\n"])
async def test_a_blank_query_finds_nothing(
    adapter: Adapter, memory: AdaptiveMemory, alice: UserMemory, query: str
) -> None:
    with adapter.over_memory(memory, "alice") as retriever:
        assert await adapter.find(retriever, query) == await adapter.find(retriever, query, awaited=True) == []
    assert alice.stats().recalls == 0


@pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "async"])
async def test_each_user_finds_their_own(
    adapter: Adapter, memory: AdaptiveMemory, alice: UserMemory, awaited: bool
) -> None:
    for user, found in (("alice", set(TEXTS)), ("bob", {"bob drinks green tea"}), ("carol", set())):
        with adapter.over_memory(memory, user, k=9) as retriever:
            assert set(await adapter.find(retriever, "green tea", awaited=awaited)) == found


async def test_what_is_returned_counts_as_read_and_a_look_does_not(
    adapter: Adapter, memory: AdaptiveMemory, alice: UserMemory, clock: Clock
) -> None:
    with adapter.over_memory(memory, "alice", k=1, reinforce=False) as looking:
        for _ in range(3):
            assert await adapter.find(looking, "green tea")
    assert (alice.get("tea").read.retrieval_count, alice.stats().recalls) == (0, 0)
    with adapter.over_memory(memory, "alice", k=1) as reading:
        await adapter.find(reading, "green tea")
        clock.pass_seconds(100)
        await adapter.find(reading, "green tea")
    assert [alice.get(one).read.retrieval_count for one in ("tea", "coffee")] == [2, 0]
    assert alice.stats().recalls == 2


async def test_every_read_of_many_tasks_is_counted_once(
    adapter: Adapter, memory: AdaptiveMemory, alice: UserMemory
) -> None:
    with adapter.over_memory(memory, "alice", k=1, policy=Policy(refresh_floor_seconds=0.0)) as retriever:
        await asyncio.gather(*(adapter.find(retriever, "green tea", awaited=True) for _ in range(40)))
    assert (alice.get("tea").read.retrieval_count, alice.stats().recalls) == (40, 40)


async def test_an_async_call_does_not_hold_up_the_loop(adapter: Adapter, collection: Collection) -> None:
    slow = Held(word_vectors)
    with closing(AdaptiveMemory(collection, embedder=slow)) as memory:
        memory.for_user("alice").remember(TEXTS[0])
        with adapter.over_memory(memory, "alice") as retriever:
            slow.hold()
            found, _ = await asyncio.gather(adapter.find(retriever, "tea", awaited=True), slow.released())
            assert found == [TEXTS[0]]


async def test_what_reads_taught_outlives_the_memory_that_was_open(adapter: Adapter, open_memory: Open) -> None:
    with open_memory() as memory:
        memory.for_user("ana").remember("green tea", id="tea")
        await adapter.find(adapter.over_memory(memory, "ana"), "tea")
    with open_memory() as memory:
        assert await adapter.find(adapter.over_memory(memory, "ana", reinforce=False), "tea") == ["green tea"]
        assert memory.for_user("ana").get("tea").read.retrieval_count == 1


async def test_a_memory_that_was_given_stays_open_and_one_that_was_made_is_closed(
    adapter: Adapter, new_collection: Callable[..., Collection], memory: AdaptiveMemory, alice: UserMemory
) -> None:
    with adapter.over_memory(memory, "alice") as given:
        await adapter.find(given, "tea")
    assert memory.for_user("alice").recall("tea").ids
    with adapter.over_store(adapter.store(new_collection(), TEXTS)) as made:
        await adapter.find(made, "tea")
    with pytest.raises(ClosedError):
        await adapter.find(made, "tea")
