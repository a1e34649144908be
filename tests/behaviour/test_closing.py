"""What if a memory is closed while others use it, or open it? Nobody sees a half-closed one."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chromadb
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Embedder
from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.shared_memories import share
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
