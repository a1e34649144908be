"""Is the answer that recalls need asked for before it is too old, and not while nobody recalls?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import Fields
from adaptive_memory_core.flow.ports import Extent
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.mirror.asked_ahead import IN_TIME, AskedAhead
from adaptive_memory_core.store.mirror.collection_state import SizeAndLast

LONG, NO_TIME = 600.0, 1e-9


def ahead_of(collection: Any, seen_seconds: float) -> tuple[SizeAndLast, AskedAhead, list[None]]:
    woken: list[None] = []
    state = SizeAndLast(ChromaRecords(collection, Fields()), seen_seconds)
    return state, AskedAhead(state, lambda: woken.append(None), seen_seconds=seen_seconds), woken


@pytest.fixture
def collection(new_collection: Callable[..., Collection]) -> Any:
    made: Any = new_collection()
    made.add(ids=["a"], documents=["a"], embeddings=[[1.0, 0.0]])
    return made


def test_nobody_asks_before_a_recall(collection: Any) -> None:
    _, ahead, woken = ahead_of(collection, LONG)
    assert ahead.wait() is None
    assert woken == []


def test_what_a_recall_needs_next_is_asked_for_in_time(collection: Any) -> None:
    state, ahead, woken = ahead_of(collection, LONG)
    ahead.recalled()
    assert ahead.wait() == 0.0  # there is no answer yet
    ahead.work(lambda: True)
    assert ahead.wait() == pytest.approx(IN_TIME * LONG, rel=0.1)
    collection.add(ids=["b"], documents=["b"], embeddings=[[0.0, 1.0]])
    ahead.work(lambda: True)
    assert state.recent() == Extent(2, "b")
    assert woken == [None]


def test_the_background_is_woken_by_the_first_recall_only(collection: Any) -> None:
    _, ahead, woken = ahead_of(collection, LONG)
    for _ in range(3):
        ahead.recalled()
        ahead.wait()
    assert woken == [None]


def test_a_while_after_the_last_recall_nobody_asks(collection: Any) -> None:
    _, ahead, woken = ahead_of(collection, NO_TIME)
    ahead.recalled()
    ahead.work(lambda: True)
    assert ahead.wait() is None
    ahead.recalled()
    assert woken == [None, None]
