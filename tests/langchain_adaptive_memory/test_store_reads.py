"""What does a store learn from being read, and what does it let expire? `refresh_ttl` says whether a look is a read."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from adaptive_memory_core import InvalidInputError, Policy, Record, UserMemory
from langchain_adaptive_memory.langgraph_store.store import AdaptiveMemoryStore
from tests.behaviour.conftest import eventually
from tests.conftest import Clock
from tests.langchain_adaptive_memory.conftest import ANA, OpenStore


def scope(store: AdaptiveMemoryStore) -> UserMemory:
    assert store.scope is not None
    return store.scope


def record(store: AdaptiveMemoryStore, text: str) -> Record:
    """The memory's record of the item with this text."""
    return next(hit.record for hit in scope(store).recall(text, k=100, reinforce=False) if hit.text == text)


def reads(store: AdaptiveMemoryStore, text: str) -> int:
    return record(store, text).read.retrieval_count


def test_scores_lie_between_0_and_1_best_first(store: AdaptiveMemoryStore) -> None:
    for number in range(30):
        store.put(ANA, str(number), {"text": f"tea number{number}" if number % 2 else f"ship number{number}"})
    scores = [one.score for one in store.search(ANA, query="tea", limit=30)]
    assert all(one is not None and 0 <= one <= 1 for one in scores)
    assert scores == sorted(scores, key=lambda one: -(one or 0))


def test_what_a_search_returns_is_read_and_nothing_else(store: AdaptiveMemoryStore) -> None:
    store.put(ANA, "1", {"text": "red tea"})
    store.put(ANA, "2", {"text": "old ships"})
    store.search(ANA, query="red tea", limit=1)
    assert (reads(store, "red tea"), reads(store, "old ships")) == (1, 0)


def test_a_later_page_is_read_without_the_pages_before_it(store: AdaptiveMemoryStore) -> None:
    for number in range(6):
        store.put(ANA, str(number), {"text": "tea " * (6 - number) + f"number{number}"})
    page = store.search(ANA, query="tea", limit=2, offset=2)
    counts = {one.value["text"]: reads(store, one.value["text"]) for one in store.search(ANA, refresh_ttl=False)}
    assert {text for text, number in counts.items() if number} == {one.value["text"] for one in page}


def test_a_get_is_a_read_once_a_minute(store: AdaptiveMemoryStore, clock: Clock) -> None:
    store.put(ANA, "1", {"text": "red tea"})
    for _ in range(3):
        store.get(ANA, "1")
    assert reads(store, "red tea") == 1
    clock.pass_seconds(61)
    store.get(ANA, "1")
    assert reads(store, "red tea") == 2


@pytest.mark.parametrize("ttl", [None, {"refresh_on_read": False}])
def test_refresh_ttl_false_looks_without_touching(open_store: OpenStore, clock: Clock, ttl: Any) -> None:
    store = open_store(ttl=ttl)
    store.put(ANA, "1", {"text": "red tea"}, ttl=10)
    look = {} if ttl else {"refresh_ttl": False}
    clock.pass_seconds(540)
    store.get(ANA, "1", **look)
    store.search(ANA, query="red tea", **look)  # type: ignore[arg-type]
    store.search(ANA, **look)  # type: ignore[arg-type]
    assert reads(store, "red tea") == 0
    clock.pass_seconds(61)
    assert store.get(ANA, "1") is None


def test_of_equals_the_one_that_was_read_comes_first(open_store: OpenStore, clock: Clock) -> None:
    store = open_store(policy=Policy.preset("equal"))
    for key in ("1", "2", "3"):
        store.put(ANA, key, {"text": "green tea", "key": key})
        clock.pass_seconds(1)
    assert store.search(ANA, query="green tea", refresh_ttl=False)[0].key == "3", "the newest, while nothing was read"
    for _ in range(4):
        clock.pass_days(1)
        store.get(ANA, "1")
    assert store.search(ANA, query="green tea")[0].key == "1"


def test_writing_over_an_item_keeps_what_reads_taught_of_the_same_words(store: AdaptiveMemoryStore) -> None:
    store.put(ANA, "1", {"text": "red tea"})
    store.get(ANA, "1")
    store.put(ANA, "1", {"text": "black tea"})
    assert reads(store, "black tea") == 0
    store.get(ANA, "1")
    store.put(ANA, "1", {"text": "black tea"})
    assert reads(store, "black tea") == 1
    store.delete(ANA, "1")
    store.put(ANA, "1", {"text": "black tea"})
    assert reads(store, "black tea") == 0


def test_a_floor_of_the_policy_holds_and_lets_nothing_back_in(open_store: OpenStore) -> None:
    store = open_store(policy=Policy(min_similarity=0.6))
    store.put(ANA, "1", {"text": "red tea"})
    store.put(ANA, "2", {"text": "old ships"})
    store.put(ANA, "3", {"text": "no vector"}, index=False)
    assert [one.key for one in store.search(ANA, query="red tea")] == ["1", "3"]


def test_an_item_expires_unless_it_is_read(store: AdaptiveMemoryStore, clock: Clock) -> None:
    store.put(ANA, "read", {"text": "red tea"}, ttl=10)
    store.put(ANA, "found", {"text": "old ships"}, ttl=10)
    store.put(ANA, "left", {"text": "blue sky"}, ttl=10)
    store.put(ANA, "lasting", {"text": "green hill"})
    clock.pass_seconds(9 * 60)
    store.get(ANA, "read")
    store.search(ANA, query="old ships", limit=1)
    clock.pass_seconds(9 * 60)
    assert store.get(ANA, "left") is None
    assert [one.key for one in store.search(ANA, refresh_ttl=False)] == ["read", "found", "lasting"]
    assert {one.key for one in store.search(ANA, query="blue sky")} == {"read", "found", "lasting"}


def test_an_expired_item_is_no_longer_listed_and_can_be_put_anew(store: AdaptiveMemoryStore, clock: Clock) -> None:
    store.put(ANA, "1", {"text": "red tea"}, ttl=1)
    began = clock.now
    clock.pass_seconds(61)
    assert store.list_namespaces() == []
    store.put(ANA, "1", {"text": "black tea"})
    item = store.get(ANA, "1")
    assert item is not None
    assert item.created_at.timestamp() == clock.now != began


def test_a_sweep_deletes_what_has_expired_with_its_vectors(store: AdaptiveMemoryStore, clock: Clock) -> None:
    store.put(ANA, "1", {"text": "red tea"}, ttl=1)
    store.put(ANA, "2", {"text": "old ships"}, ttl=5)
    clock.pass_seconds(61)
    assert (store.sweep_ttl(), store.sweep_ttl()) == (1, 0)
    assert scope(store).stats().records == 1


def test_omit_expired_false_shows_them_until_they_are_swept(open_store: OpenStore, clock: Clock) -> None:
    store = open_store(ttl={"omit_expired": False, "default_ttl": 1, "refresh_on_read": False})
    store.put(ANA, "1", {"text": "red tea"})
    clock.pass_seconds(61)
    assert store.get(ANA, "1") is not None
    assert len(store.search(ANA, query="tea")) == len(store.list_namespaces()) == 1
    assert store.sweep_ttl() == 1
    assert store.get(ANA, "1") is None


def test_default_ttl_holds_where_a_put_says_nothing(open_store: OpenStore, clock: Clock) -> None:
    store = open_store(ttl={"default_ttl": 2})
    store.put(ANA, "short", {"text": "red tea"})
    store.put(ANA, "own", {"text": "old ships"}, ttl=10)
    store.put(ANA, "lasting", {"text": "blue sky"}, ttl=None)
    clock.pass_seconds(130)
    assert [one.key for one in store.search(ANA, refresh_ttl=False)] == ["own", "lasting"]


@pytest.mark.parametrize("ttl", [-1, float("nan"), float("inf"), "5", True])
def test_a_ttl_that_makes_no_sense_is_refused(store: AdaptiveMemoryStore, ttl: Any) -> None:
    with pytest.raises(InvalidInputError, match="ttl"):
        store.put(ANA, "1", {"text": "x"}, ttl=ttl)


def test_a_sweeper_sweeps_in_the_background_until_it_is_stopped(open_store: OpenStore, clock: Clock) -> None:
    store = open_store()
    store.put(ANA, "1", {"text": "red tea"}, ttl=1)
    clock.pass_seconds(61)
    future = store.start_ttl_sweeper(sweep_interval_minutes=0.0005)
    assert eventually(lambda: scope(store).stats().records == 0)
    assert store.stop_ttl_sweeper(timeout=5)
    assert future.done()
    assert not [one for one in threading.enumerate() if one.name == "adaptive-memory-ttl"]
