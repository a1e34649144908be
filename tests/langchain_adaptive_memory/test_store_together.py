"""Are many puts at once written as few batches, each caller with its own result or error?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from langgraph.store.base import PutOp

from langchain_adaptive_memory.langgraph_store.store import AdaptiveMemoryStore
from tests.conftest import word_vectors

NOTES = ("notes",)


class Counting:
    """An async model that counts its calls, and refuses some texts."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    async def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls.append(len(texts))
        await asyncio.sleep(0)
        if any("poison" in text for text in texts):
            raise ConnectionError("refused")
        vectors: list[list[float]] = word_vectors(texts).tolist()
        return vectors


@pytest.fixture
def model() -> Counting:
    return Counting()


@pytest.fixture
def store(model: Counting) -> Iterator[AdaptiveMemoryStore]:
    index: Any = {"dims": 32, "embed": model, "fields": ["text"]}
    with AdaptiveMemoryStore(index) as opened:
        yield opened


async def test_many_puts_at_once_are_few_batches(store: AdaptiveMemoryStore, model: Counting) -> None:
    await asyncio.gather(*(store.aput(NOTES, str(n), {"text": f"note {n}"}) for n in range(200)))
    assert len(model.calls) <= 3
    assert len(await store.asearch(NOTES, limit=300)) == 200
    assert (await store.asearch(NOTES, query="note 7", limit=1))[0].key == "7"


async def test_puts_of_one_key_end_with_the_last(store: AdaptiveMemoryStore) -> None:
    await asyncio.gather(*(store.aput(NOTES, "one", {"text": f"note {n}"}) for n in range(20)))
    item = await store.aget(NOTES, "one")
    assert item is not None
    assert item.value == {"text": "note 19"}


async def test_what_one_caller_does_wrong_costs_no_other(store: AdaptiveMemoryStore) -> None:
    puts = [store.aput(NOTES, str(n), {"text": "poison" if n == 5 else f"note {n}"}) for n in range(10)]
    wrong = store.abatch([PutOp(("",), "bad", {"text": "a namespace with an empty label"})])
    results = await asyncio.gather(*puts, wrong, return_exceptions=True)
    failed = [number for number, one in enumerate(results) if isinstance(one, BaseException)]
    assert failed[-1] == 10
    assert set(failed) <= {5, 10}
    there = {one.key for one in await store.asearch(NOTES, limit=20)}
    assert {str(n) for n in range(10) if n != 5} <= there


async def test_a_caller_that_gives_up_keeps_nobody_waiting(store: AdaptiveMemoryStore) -> None:
    tasks = [asyncio.create_task(store.aput(NOTES, str(n), {"text": f"note {n}"})) for n in range(5)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in results] == [asyncio.CancelledError, *[type(None)] * 4]
    assert {"1", "2", "3", "4"} <= {one.key for one in await store.asearch(NOTES, limit=20)}


def test_each_event_loop_writes_its_own(store: AdaptiveMemoryStore) -> None:
    for n in range(3):
        asyncio.run(store.aput(NOTES, str(n), {"text": f"note {n}"}))
    assert len(store.search(NOTES)) == 3
