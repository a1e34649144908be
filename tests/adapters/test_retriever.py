"""What a retriever of either framework does over a memory that is given: it finds, counts, waits and closes alike."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.errors import ClosedError
from tests.adapters.conftest import BOTH, TEXTS, Adapter
from tests.behaviour.test_observe import CONVERSATIONS, PETS
from tests.conftest import Clock, Held, Open, word_vectors


@pytest.mark.parametrize("query", ["", "   ", "\n"])
async def test_a_blank_query_finds_nothing(
    adapter: Adapter, memory: AdaptiveMemory, alice: UserMemory, query: str
) -> None:
    with adapter.over_memory(memory, "alice") as retriever:
        assert await adapter.find(retriever, query) == await adapter.find(retriever, query, awaited=True) == []
    assert alice.stats().recalls == 0


@BOTH
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
        clock.pass_seconds(100)
        await adapter.find(reading, "green tea", reinforce=False)
    assert [alice.get(one).read.retrieval_count for one in ("tea", "coffee")] == [2, 0]
    assert alice.stats().recalls == 2


async def test_every_read_of_many_tasks_and_threads_is_counted_once(
    adapter: Adapter, memory: AdaptiveMemory, alice: UserMemory
) -> None:
    with adapter.over_memory(memory, "alice", k=1, policy=Policy(refresh_floor_seconds=0.0)) as retriever:
        await asyncio.gather(*(adapter.find(retriever, "green tea", awaited=True) for _ in range(40)))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: asyncio.run(adapter.find(retriever, "green tea")), range(40)))
    assert (alice.get("tea").read.retrieval_count, alice.stats().recalls) == (80, 80)


async def test_an_async_call_does_not_hold_up_the_loop(over: Open, adapter: Adapter) -> None:
    slow = Held(word_vectors)
    memory = over(embedder=slow)
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


@pytest.mark.parametrize("space", ["cosine", "l2", "ip"])
async def test_scores_lie_between_0_and_1_and_fall_in_every_space(
    adapter: Adapter, new_collection: Callable[..., Collection], space: str
) -> None:
    with adapter.over_store(adapter.store(new_collection(space), TEXTS), **{adapter.k: 50}) as retriever:
        scores = [adapter.score(one) for one in await adapter.look(retriever, "green tea is strong")]
    assert len(scores) == len(TEXTS), "more than there are gives all"
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("reinforce", [True, False])
async def test_what_was_read_stands_in_the_collection_after_closing_and_a_look_changes_nothing_in_it(
    adapter: Adapter, collection: Collection, reinforce: bool
) -> None:
    store = adapter.store(collection, TEXTS)
    before = collection.get(include=["metadatas"])
    with adapter.over_store(store, reinforce=reinforce, **{adapter.k: 2}) as retriever:
        found = adapter.ids(await adapter.look(retriever, "tea"))
    if reinforce:
        rows = collection.get(ids=found, include=["metadatas"])["metadatas"] or []
        assert [row["retrieval_count"] for row in rows] == [1, 1]
    else:
        assert collection.get(include=["metadatas"]) == before


async def test_a_filter_narrows_and_the_one_of_a_call_takes_its_place(adapter: Adapter, collection: Collection) -> None:
    store = adapter.store(collection)
    for text in TEXTS:
        adapter.add(store, text, color=text.split()[0])
    with adapter.over_store(store, **{adapter.filter: adapter.where(color="green")}) as retriever:
        assert await adapter.find(retriever, "milk") == ["green tea is nice"]
        for color, found in (("black", ["black coffee is strong"]), ("blue", [])):
            asked = {adapter.filter: adapter.where(color=color)}
            for awaited in (False, True):
                assert await adapter.find(retriever, "milk", awaited=awaited, **asked) == found
        assert len(await adapter.find(retriever, "milk", **{adapter.filter: None})) > 1


async def test_policies_give_answers_another_shape(adapter: Adapter, memory: AdaptiveMemory) -> None:
    user, asked = memory.for_user("alice"), "beagle puppy shoes"
    known = user.observe(CONVERSATIONS)
    user.themes()
    retriever = adapter.over_memory(user, reinforce=False)
    flat = await adapter.look(retriever, asked)
    assert adapter.ids(await adapter.look(retriever, asked, policy=Policy(shape="episodes"))) == adapter.ids(flat)
    assert not any("message_ids" in adapter.details(one) for one in flat)
    down = await adapter.look(retriever, asked, policy=Policy(shape="top_down"))
    assert adapter.id(down[0]) in known[:3]
    assert len(set(adapter.ids(down)) & set(known[:3])) == 1, "one for each episode"
    assert adapter.text(down[0]) == "\n".join(f"Ana: {text}" for text in PETS)
    assert adapter.details(down[0])["message_ids"] == known[:3]
    own = adapter.over_memory(user, policy=Policy(shape="top_down"))
    found = await adapter.look(own, asked, awaited=True)
    assert adapter.ids(found) == adapter.ids(down)
    assert own.feedback(helpful=found[0]) == 1, "of the message that the episode was found by"
