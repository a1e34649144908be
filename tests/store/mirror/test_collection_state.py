"""Who waits for a server's answer to how large the collection is, and which answer is taken?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import Fields
from adaptive_memory_core.flow.ports import Extent
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.mirror.collection_state import SizeAndLast

LONG = 600.0
PATIENCE = 10.0


class Slow:
    """The records of a real collection, whose answers can be held back."""

    def __init__(self, collection: Any) -> None:
        self.collection, self.records = collection, ChromaRecords(collection, Fields())
        self.asked = 0
        self.held: dict[int, threading.Event] = {}  # by the number of the question
        self.has_answer = threading.Event()

    def extent(self, expected: Extent | None = None) -> Extent:
        self.asked += 1
        number = self.asked
        found = self.records.extent(expected)
        if number in self.held:
            self.has_answer.set()
            assert self.held[number].wait(PATIENCE)
        return found

    def add(self, one: str) -> None:
        self.collection.add(ids=[one], documents=[one], embeddings=[[1.0, 0.0]])


@pytest.fixture
def slow(new_collection: Callable[..., Collection]) -> Slow:
    made = Slow(new_collection())
    made.add("a")
    return made


def test_an_answer_serves_until_it_is_too_old(slow: Slow) -> None:
    lasting, short = SizeAndLast(slow, LONG), SizeAndLast(slow, 0.0)
    assert lasting.recent() == short.recent() == Extent(1, "a")
    slow.add("b")
    assert lasting.recent() == Extent(1, "a")
    assert short.recent() == Extent(2, "b")
    lasting.renew()
    assert lasting.recent() == Extent(2, "b")


def test_an_answer_does_not_replace_one_that_was_asked_for_later(slow: Slow) -> None:
    """Else what we wrote in between would look as if others had taken it back."""
    state = SizeAndLast(slow, LONG)
    slow.held[1] = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        asked_first = threads.submit(state.now)
        assert slow.has_answer.wait(PATIENCE)
        slow.add("b")
        assert state.now() == Extent(2, "b")
        slow.held[1].set()
        assert asked_first.result() == Extent(1, "a")
    assert state.recent() == Extent(2, "b")


def test_who_comes_while_the_question_is_asked_asks_no_second_time(slow: Slow) -> None:
    state = SizeAndLast(slow, LONG)
    slow.held[1] = threading.Event()
    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(state.recent)
        assert slow.has_answer.wait(PATIENCE)
        others = [threads.submit(state.recent) for _ in range(3)]
        slow.held[1].set()
        assert [one.result() for one in (first, *others)] == [Extent(1, "a")] * 4
    assert slow.asked == 1
