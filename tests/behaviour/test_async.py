"""Is async the same memory? Equal answers, many at a time, a loop that keeps running, errors and cancellation."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from dataclasses import replace

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Embedder, InvalidInputError, NotFoundError, Policy, Recall, UserMemory
from adaptive_memory_core.errors import ClosedError, EmbedderError
from tests.conftest import Clock, Held, Open, Vectors, word_vectors

ITEMS = [{"text": f"{word} tea", "id": word} for word in ("green", "black", "white")]


def bare(answer: Recall) -> Recall:
    """An answer without what differs from call to call."""
    return replace(answer, id="", step=None)


async def test_arecall_gives_what_recall_gives(alice: UserMemory) -> None:
    alice.remember_many(ITEMS)
    blocking = alice.recall("green tea", k=2, reinforce=False, filter={"kind": "event"})
    assert bare(await alice.arecall("green tea", k=2, reinforce=False, filter={"kind": "event"})) == bare(blocking)


async def test_every_async_verb_does_what_its_blocking_twin_does(memory: AdaptiveMemory, clock: Clock) -> None:
    one, two = memory.for_user("blocking"), memory.for_user("async")
    assert one.remember_many(ITEMS) == await two.aremember_many(ITEMS)
    assert one.remember("red wine", "wine", 0.9) == await two.aremember("red wine", "wine", 0.9)
    first, second = one.recall("green tea", k=2), await two.arecall("green tea", k=2)
    assert first.ids == second.ids
    assert [hit.score for hit in first] == [hit.score for hit in second]
    assert (first.step, second.step) == (1, 1)
    assert one.feedback(first, helpful=["green"]) == await two.afeedback(second.id, helpful=["green"]) == 1
    assert one.pin("wine") == await two.apin("wine")
    assert one.unpin("wine") == await two.aunpin("wine")
    assert one.demote("black") == await two.ademote("black")
    assert one.forget("white") == await two.aforget("white")
    assert one.get("green") == await two.aget("green")
    blocking, waited = one.stats(), await two.astats()
    assert replace(blocking, update_ms=None) == replace(waited, update_ms=None)
    assert blocking.update_ms is not None
    assert waited.update_ms is not None
    assert [line.candidates for line in one.recalls()] == [line.candidates for line in await two.arecalls()]


async def test_twenty_recalls_at_once_all_count(alice: UserMemory, clock: Clock) -> None:
    alice.remember_many(ITEMS)
    every = Policy(refresh_floor_seconds=0)
    answers = await asyncio.gather(*(alice.arecall("green tea", now=clock(), policy=every) for _ in range(20)))
    assert {answer.ids[0] for answer in answers} == {"green"}
    assert sorted(answer.step or 0 for answer in answers) == list(range(1, 21))
    assert [alice.get(item["id"]).read.retrieval_count for item in ITEMS] == [20, 20, 20]
    assert len(alice.recalls()) == 20


async def test_writers_and_readers_at_once_lose_nothing(memory: AdaptiveMemory) -> None:
    users = [memory.for_user(f"user {n}") for n in range(4)]
    await asyncio.gather(*(user.aremember(f"tea {n}", id=str(n)) for n in range(5) for user in users))
    answers = await asyncio.gather(*(user.arecall("tea", k=9) for user in users))
    assert [sorted(answer.ids) for answer in answers] == [["0", "1", "2", "3", "4"]] * 4


async def test_a_slow_embedder_does_not_block_the_loop(collection: Collection) -> None:
    slow = Held(word_vectors)
    with closing(AdaptiveMemory(collection, embedder=slow)) as memory:
        alice = memory.for_user("alice")
        await alice.aremember("tea")
        slow.hold()
        recalls = asyncio.gather(*(alice.arecall("tea") for _ in range(4)))
        await slow.released()
        answers = await recalls
    assert [len(answer) for answer in answers] == [1] * 4


async def test_errors_reach_the_awaiting_caller(alice: UserMemory, memory: AdaptiveMemory) -> None:
    with pytest.raises(NotFoundError):
        await alice.aget("unknown")
    with pytest.raises(InvalidInputError):
        await alice.arecall("tea", k=0)
    with pytest.raises(InvalidInputError):
        await alice.aremember("")
    memory.close()
    with pytest.raises(ClosedError):
        await alice.arecall("tea")


async def test_an_embedders_error_reaches_the_awaiting_caller(over: Open) -> None:
    def moody(texts: list[str]) -> Vectors:
        if "bad" in texts[0]:
            raise StopIteration("of all things")
        return word_vectors(texts)

    alice = over(embedder=moody, policy=Policy(channels=("dense",))).for_user("alice")
    await alice.aremember("tea")
    with pytest.raises(EmbedderError, match="StopIteration"):
        await alice.arecall("bad tea")
    assert len(await alice.arecall("good tea")) == 1


async def test_a_cancelled_recall_leaves_a_usable_memory(over: Open) -> None:
    entered, let_go = threading.Event(), threading.Event()

    def gated(texts: list[str]) -> Vectors:
        if "wait" in texts[0]:
            entered.set()
            let_go.wait(10)
        return word_vectors(texts)

    memory = over(embedder=gated)
    alice = memory.for_user("alice")
    await alice.aremember("tea", id="a")
    task = asyncio.ensure_future(alice.arecall("wait for tea"))
    await asyncio.to_thread(entered.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alice.stats().recalls == 0
    let_go.set()
    assert (await alice.arecall("tea")).ids == ("a",)
    assert (alice.stats().recalls, alice.get("a").read.retrieval_count) == (1, 1)
    memory.flush()


async def test_an_embedder_that_hangs_for_many_holds_up_nobody_else(over: Open) -> None:
    hung = asyncio.Semaphore(0)

    async def later(text: str) -> list[float]:
        if "wait" in text:
            hung.release()
            await asyncio.Event().wait()
        vector: list[float] = word_vectors([text])[0]
        return vector

    embedder = Embedder("later", word_vectors, lambda text: word_vectors([text])[0], aquery=later)
    memory = over(embedder=embedder)
    alice, bob = memory.for_user("alice"), memory.for_user("bob")
    await bob.aremember("tea", id="b")
    waiting = [asyncio.ensure_future(alice.arecall(f"wait {number}")) for number in range(40)]
    for _ in waiting:
        await asyncio.wait_for(hung.acquire(), 60)
    assert (await asyncio.wait_for(bob.arecall("tea"), 60)).ids == ("b",)
    for one in waiting:
        one.cancel()
    await asyncio.wait(waiting)
    assert all(one.cancelled() for one in waiting)
    assert (alice.stats().recalls, bob.stats().recalls) == (0, 1)


async def test_a_recall_that_times_out_leaves_a_usable_memory(over: Open) -> None:
    let_go = threading.Event()

    def gated(texts: list[str]) -> Vectors:
        if "wait" in texts[0]:
            let_go.wait(10)
        return word_vectors(texts)

    alice = over(embedder=gated).for_user("alice")
    await alice.aremember("tea", id="a")
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(alice.arecall("wait for tea"), timeout=0.05)
    let_go.set()
    assert (await alice.arecall("tea")).ids == ("a",)


def test_one_memory_serves_several_event_loops(alice: UserMemory) -> None:
    alice.remember_many(ITEMS)
    assert [asyncio.run(alice.arecall("green tea")).ids[0] for _ in range(3)] == ["green"] * 3
