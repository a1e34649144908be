"""What if a memory is closed while others use it, or dropped by who never closes it? Nothing is lost."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chromadb
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Embedder, Policy, UserMemory
from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.shared_memories import share
from tests.behaviour.conftest import eventually
from tests.conftest import Held, Open, word_vectors

THREADS, TIMES = 6, 25


@pytest.fixture
def notes(tmp_path: Path) -> Collection:
    client = chromadb.PersistentClient(str(tmp_path))
    collection = client.create_collection("notes", embedding_function=None)
    collection.add(ids=["tea"], documents=["green tea"], embeddings=word_vectors(["green tea"]))
    return collection


def test_threads_that_open_and_close_all_the_time_see_no_error_and_no_warning(notes: Collection) -> None:
    embedder = Embedder("words", word_vectors, lambda text: word_vectors([text])[0])

    def requests(_: int) -> int:
        answered = 0
        for _ in range(TIMES):
            one = share(notes, embedder=embedder)
            answered += one.memory.for_everyone().recall("tea").ids == ("tea",)
            one.close()
        return answered

    with warnings.catch_warnings(), ThreadPoolExecutor(THREADS) as pool:
        warnings.simplefilter("error")
        assert list(pool.map(requests, range(THREADS))) == [TIMES] * THREADS
    last = share(notes, embedder=embedder)
    stats = last.memory.for_everyone().stats()
    assert (stats.recalls, stats.projection.pending) == (THREADS * TIMES, 0)
    last.close()


def test_those_who_use_a_memory_that_is_closed_are_answered_or_told_so(open_memory: Open) -> None:
    memory = open_memory()
    memory.for_user("alice").remember("green tea", id="tea")
    begun, wrong = threading.Barrier(THREADS + 1), []

    def use(call: Callable[[], object]) -> None:
        begun.wait()
        try:
            while True:
                call()
        except ClosedError:
            return
        except Exception as error:
            wrong.append(error)

    alice = memory.for_user("alice")
    calls = [lambda: alice.recall("tea"), memory.flush, lambda: alice.get("tea")] * (THREADS // 3)
    threads = [threading.Thread(target=use, args=[call]) for call in calls]
    for thread in threads:
        thread.start()
    begun.wait()
    memory.close()
    for thread in threads:
        thread.join(60)
    assert not wrong


def test_a_call_under_way_is_finished_before_the_memory_is_closed(open_memory: Open) -> None:
    held = Held(word_vectors)
    memory = open_memory(embedder=Embedder("held", held, lambda text: held([text])[0]))
    alice = memory.for_user("alice")
    alice.remember("green tea", id="tea")
    held.hold()
    with ThreadPoolExecutor(2) as pool:
        answer = pool.submit(alice.remember, "black tea", id="black")
        assert held._entered.wait(30)
        closing = pool.submit(memory.close)
        while not memory.closed:
            pass
        with pytest.raises(ClosedError):
            alice.recall("tea")
        held._free.set()
        assert answer.result(30) == "black"
        closing.result(30)


async def test_the_loop_goes_on_while_a_memory_is_closed_and_so_do_calls_on_it(open_memory: Open) -> None:
    held = Held(word_vectors)
    memory = open_memory(embedder=Embedder("held", held, lambda text: held([text])[0]))
    alice = memory.for_user("alice")
    alice.remember("green tea", id="tea")
    held.hold()
    answer = asyncio.create_task(alice.aremember("black tea", id="black"))
    await asyncio.to_thread(held._entered.wait, 30)
    closing = asyncio.create_task(memory.aclose())
    await held.released()
    assert await answer == "black"
    await closing
    assert memory.closed


def test_a_call_may_close_its_own_memory(collection: Collection) -> None:
    memory = AdaptiveMemory(collection, embedder=word_vectors)
    alice = memory.for_user("alice")
    alice.remember("green tea", id="tea")

    def last_words(_record: object) -> bool:
        memory.close()
        return True

    answer = alice.recall("tea", accept=last_words)
    assert answer.ids == ("tea",)
    assert memory.closed


MEMORIES = 50


def background_threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "adaptive-memory-background"]


def wait_for(threads: list[threading.Thread]) -> None:
    for one in threads:
        one.join(timeout=60)
    assert not [one.name for one in threads if one.is_alive()]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def used_and_dropped(path: Path) -> None:
    memory = AdaptiveMemory.open(path, embedder=word_vectors)
    alice = memory.for_user("alice")
    alice.remember("green tea", id="tea")
    assert alice.recall("tea").ids == ("tea",)


@pytest.mark.hard("large")
def test_fifty_dropped_memories_leave_no_thread_and_no_descriptor(tmp_path: Path) -> None:
    used_and_dropped(tmp_path)  # what the first one of a process loads
    wait_for(background_threads())
    before = descriptors()
    for _ in range(MEMORIES):
        used_and_dropped(tmp_path)
    wait_for(background_threads())
    assert eventually(lambda: descriptors() <= before)  # Chroma closes its own a moment later


def test_a_dropped_memory_writes_back_what_is_due_and_frees_its_directory(tmp_path: Path) -> None:
    used_and_dropped(tmp_path)
    wait_for(background_threads())
    with AdaptiveMemory.open(tmp_path, embedder=word_vectors) as memory:
        stats = memory.for_user("alice").stats()
        assert (stats.reads, stats.projection.pending) == (1, 0)


def test_nothing_but_its_user_holds_a_memory(tmp_path: Path) -> None:
    """Neither a thread, nor the end of the interpreter, nor a cycle that only the collector could undo."""
    gc.disable()
    try:
        memory = AdaptiveMemory.open(tmp_path, embedder=word_vectors)
        alice = memory.for_user("alice")
        alice.remember("green tea")
        alice.recall("tea")
        seen, threads = weakref.ref(memory), background_threads()
        del memory, alice
        assert seen() is None
    finally:
        gc.enable()
    wait_for(threads)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_memory_dropped_by_a_child_is_still_the_parents(open_memory: Open) -> None:
    memory = open_memory()
    memory.for_user("alice").remember("green tea", id="tea")
    child = os.fork()
    if child == 0:
        del memory
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert memory.for_user("alice").recall("tea").ids == ("tea",)


CALLS: dict[str, Callable[[UserMemory], object]] = {
    "recall": lambda user: user.recall("green tea"),
    "recall that is not counted": lambda user: user.recall("green tea", reinforce=False),
    "recall with all channels": lambda user: user.recall(
        "whose barber is Kofi?", policy=Policy(channels=("dense", "lexical", "graph"))
    ),
    "explain": lambda user: user.recall("green tea").explain(),
    "dropped": lambda user: [one.id for one in user.recall("green tea", k=1).dropped],
    "arecall": lambda user: asyncio.run(user.arecall("green tea")),
    "remember": lambda user: user.remember("black tea"),
    "feedback": lambda user: user.feedback(found := user.recall("green tea"), helpful=found.ids[:1]),
}


@pytest.mark.parametrize("call", CALLS)
def test_nothing_refers_to_itself(open_memory: Open, call: str) -> None:
    user = open_memory().for_user("alice")
    user.remember_many(["green tea", "tea from Uji", "My barber is Kofi.", "My barber is Ana now.", "a cat"])
    for _ in range(3):
        CALLS[call](user)
    gc.collect()
    gc.disable()
    try:
        before = {id(one) for one in gc.get_objects()}  # earlier tests' memories may be let go of meanwhile
        gc.set_debug(gc.DEBUG_SAVEALL)
        CALLS[call](user)
        gc.collect()
        left = [one for one in gc.garbage if id(one) not in before and is_ours(one)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert left == []


def is_ours(made: object) -> bool:
    return type(made).__module__.startswith("adaptive_memory")
