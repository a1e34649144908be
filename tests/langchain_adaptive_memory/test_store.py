"""What does the store promise beyond `InMemoryStore`? Values, fields, times, batches, async - and what is refused."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from types import MappingProxyType
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langgraph.store.base import GetOp, PutOp, SearchOp

from adaptive_memory_core import InvalidInputError, Policy, Weights
from adaptive_memory_core.errors import ClosedError, EmbedderError
from langchain_adaptive_memory.langgraph_store.store import AdaptiveMemoryStore
from tests.conftest import Clock, Held
from tests.langchain_adaptive_memory.conftest import ANA, INDEX, OpenStore, vectors

LIKE_COSINE = Policy(weights=Weights(recency=0, importance=0, similarity=1))
BEN = ("users", "ben")


async def aembed(texts: Sequence[str]) -> list[list[float]]:
    await asyncio.sleep(0)
    return vectors(texts)


def found(store: AdaptiveMemoryStore, *namespace: str, **arguments: Any) -> list[str]:
    return [one.key for one in store.search(namespace, **arguments)]


VALUES: list[Mapping[str, Any]] = [
    {},
    {"text": "", "none": None, "yes": True, "no": False, "zero": 0},
    {"deep": {"er": {"est": [1, [2, [3, {"four": None}]]]}}, "float": 0.1 + 0.2, "big": 2**80},
    {"text": "日本語 \U0001f9e0 \x00 quotes ' \" and \\ back"},
    {"half": "a\ud800b", "text": "half of a pair \ud800"},
    {"$odd": 1, "a.b": {"c": []}, "": "empty key"},
    MappingProxyType({"text": "a mapping that is no dict", "in": MappingProxyType({"side": 1})}),
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_value_comes_back_as_it_was(store: AdaptiveMemoryStore, value: Mapping[str, Any]) -> None:
    store.put(ANA, "k", value)
    expected = {key: dict(one) if isinstance(one, Mapping) else one for key, one in value.items()}
    for item in (store.get(ANA, "k"), store.search(ANA)[0], store.search(ANA, query="half quotes")[0]):
        assert item is not None
        assert item.value == expected


def test_what_comes_back_is_nobody_elses(store: AdaptiveMemoryStore) -> None:
    given = {"text": "tea", "list": [1]}
    store.put(ANA, "k", given)
    given["list"].append(2)  # type: ignore[attr-defined]
    first = store.get(ANA, "k")
    assert first is not None
    first.value["list"].append(3)
    second = store.get(ANA, "k")
    assert second is not None
    assert second.value == {"text": "tea", "list": [1]}


@pytest.mark.parametrize(
    "value",
    [
        {"at": datetime(2026, 1, 1, tzinfo=timezone.utc)},
        {"set": {1}},
        {"bytes": b"x"},
        {"a": math.nan},
        {"a": [{"b": math.inf}]},
    ],
)
def test_what_json_cannot_hold_is_refused_before_anything_is_written(
    store: AdaptiveMemoryStore, value: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError, match="cannot be stored"):
        store.batch([PutOp(ANA, "good", {"text": "tea"}), PutOp(ANA, "bad", value)])
    assert store.search(()) == []


@pytest.mark.parametrize("value", [[1], "tea", 3, [("text", "tea")], [1] * 100_000])
def test_a_value_that_is_no_mapping_is_refused_in_a_few_words(store: AdaptiveMemoryStore, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^The value is .*Give a mapping") as refusal:
        store.put(ANA, "k", value)
    assert len(str(refusal.value)) < 500
    assert store.search(()) == []


def test_a_prefix_ends_at_a_label(store: AdaptiveMemoryStore) -> None:
    for space in (("user",), ("users",), ("users", "an"), ANA, (*ANA, "x"), ("users", "ana-2"), ("users", "ana/")):
        store.put(space, "k", {"text": "tea"})
    for query in (None, "tea"):
        assert {one.namespace for one in store.search(ANA, query=query)} == {ANA, (*ANA, "x")}
        assert {one.namespace for one in store.search(("user",), query=query)} == {("user",)}


def test_no_search_crosses_into_another_namespace_however_well_it_fits(store: AdaptiveMemoryStore) -> None:
    store.batch([PutOp(BEN, str(n), {"text": "the secret of ben"}) for n in range(200)])
    store.batch([PutOp(ANA, str(n), {"text": f"something of ana {n}"}) for n in range(3)])
    hits = store.search(ANA, query="the secret of ben", limit=50)
    assert {one.namespace for one in hits} == {ANA}
    assert len(hits) == 3


def test_a_filter_that_few_items_pass_is_never_answered_short(store: AdaptiveMemoryStore) -> None:
    rare = {17, 444, 901}
    values = [{"text": f"tea number{n}", "rare": n in rare, "n": n} for n in range(1_000)]
    store.batch([PutOp(ANA, str(n), value) for n, value in enumerate(values)])
    assert set(found(store, *ANA, query="tea", filter={"rare": True})) == {"17", "444", "901"}
    assert len(found(store, *ANA, query="tea", filter={"n": {"$gte": 950}}, limit=100)) == 50
    assert len(found(store, *ANA, query="tea", limit=1_000)) == 1_000
    assert len(found(store, *ANA, query="tea", limit=1_000, offset=990)) == 10


def test_a_search_beyond_the_widest_one_compares_what_passes_one_by_one(
    store: AdaptiveMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, small in (("FEW", 1), ("SCANNED", 10), ("WIDEST", 30)):
        monkeypatch.setattr(f"langchain_adaptive_memory.langgraph_store.search.{name}", small)
    store.batch([PutOp(ANA, str(n), {"text": f"tea number{n}", "n": n}) for n in range(300)])
    assert set(found(store, *ANA, query="tea", filter={"n": {"$lt": 4}})) == {"0", "1", "2", "3"}
    assert found(store, *ANA, query="tea number7", filter={"n": {"$lt": 9}}, limit=1) == ["7"]


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        ({"n": {"$gt": 1}}, ["2"]),
        ({"day": {"$gte": "2026-02-01"}}, ["2"]),
        ({"n": {"$gt": "one"}}, []),
        ({"who": {"age": {"$lt": 30}}}, ["1"]),
        ({"who": {"age": {"$gte": 20, "$lte": 40}}}, ["1", "2"]),
        ({"tags": ["a", "b"]}, ["1"]),
        ({"tags": ["a"]}, []),
        ({"missing": {"$ne": 1}}, ["1", "2", "3"]),
    ],
)
def test_filters_look_into_values_and_pass_over_what_cannot_be_compared(
    store: AdaptiveMemoryStore, wanted: dict[str, Any], keys: list[str]
) -> None:
    store.put(ANA, "1", {"text": "x", "n": 1, "day": "2026-01-31", "who": {"age": 20}, "tags": ["a", "b"]})
    store.put(ANA, "2", {"text": "x", "n": 2, "day": "2026-02-01", "who": {"age": 40}, "tags": []})
    store.put(ANA, "3", {"text": "x", "n": None, "day": None, "who": None})
    assert found(store, *ANA, filter=wanted) == keys
    assert sorted(found(store, *ANA, filter=wanted, query="x")) == keys


def test_each_field_has_a_vector_and_the_best_one_counts(open_store: OpenStore) -> None:
    store = open_store({**INDEX, "fields": ["title", "parts[*].text"]}, policy=LIKE_COSINE)
    parts = [{"text": "red apples"}, {"text": "old ships"}]
    store.put(ANA, "1", {"title": "harbour news", "parts": parts})
    store.put(ANA, "2", {"title": "old houses", "parts": []})
    for query in ("harbour news", "red apples", "old ships"):
        best = store.search(ANA, query=query)[0]
        assert best.key == "1"
        assert best.score == pytest.approx(1.0, abs=1e-4)
    assert len(store.search(ANA, query="old ships")) == 2, "one line for each item, not for each vector"


def test_a_put_says_what_is_embedded_of_it(open_store: OpenStore) -> None:
    store = open_store(policy=LIKE_COSINE)
    store.put(ANA, "text", {"text": "tea", "note": "coffee"})
    store.put(ANA, "note", {"text": "milk", "note": "tea"}, index=["note"])
    store.put(ANA, "none", {"text": "tea"}, index=False)
    store.put(ANA, "absent", {"other": "tea"})
    scores = {one.key: one.score for one in store.search(ANA, query="tea")}
    assert scores == {"text": pytest.approx(1), "note": pytest.approx(1), "none": None, "absent": None}
    assert found(store, *ANA, query="tea")[2:] == ["none", "absent"], "what has no vector comes last, as it was written"


def test_fewer_vectors_than_before_leave_none_behind(open_store: OpenStore) -> None:
    store = open_store({**INDEX, "fields": ["parts[*]"]}, policy=LIKE_COSINE)
    store.put(ANA, "k", {"parts": ["red apples", "old ships", "blue sky"]})
    store.put(ANA, "k", {"parts": ["old ships"]})
    assert store.search(ANA, query="red apples")[0].score == pytest.approx(0, abs=0.5)
    assert store.scope is not None
    assert store.scope.stats().records == 1
    store.put(ANA, "k", {"parts": ["blue sky", "green hill"]})
    assert store.search(ANA, query="green hill")[0].score == pytest.approx(1)
    store.put(ANA, "k", {"parts": ["blue sky"]}, index=False)
    assert store.search(ANA, query="blue sky")[0].score is None
    assert store.scope.stats().records == 0


def test_what_is_deleted_is_gone_from_the_collection_too(store: AdaptiveMemoryStore) -> None:
    store.put(ANA, "k", {"text": "tea"})
    store.delete(ANA, "k")
    store.delete(ANA, "k")
    assert store.get(ANA, "k") is None
    assert store.search((), query="tea") == []
    assert store.list_namespaces() == []
    assert store.scope is not None
    assert store.scope.stats().records == 0


def test_created_stays_and_updated_moves(store: AdaptiveMemoryStore, clock: Clock) -> None:
    store.put(ANA, "k", {"text": "tea"})
    clock.pass_days(1)
    store.put(ANA, "k", {"text": "coffee"})
    item = store.get(ANA, "k")
    assert item is not None
    assert item.created_at == datetime.fromtimestamp(clock.now - 86_400, timezone.utc)
    assert item.updated_at == datetime.fromtimestamp(clock.now, timezone.utc)
    assert item.created_at.tzinfo is not None
    assert item.dict()["namespace"] == list(ANA)


def test_reads_of_a_batch_see_what_was_there_before_its_writes(store: AdaptiveMemoryStore) -> None:
    store.put(ANA, "k", {"text": "old"})
    put, search = PutOp(ANA, "k", {"text": "new"}), SearchOp(ANA, None, 10, 0, "new")
    before, _, hits, _, again = store.batch([GetOp(ANA, "k"), put, search, PutOp(ANA, "k", None), GetOp(ANA, "k")])
    assert before.value == again.value == hits[0].value == {"text": "old"}  # type: ignore[union-attr, index]
    assert store.get(ANA, "k") is None, "the last write of a key counts"


def test_pages_hold_each_item_once_with_and_without_vectors(store: AdaptiveMemoryStore) -> None:
    for number in range(9):
        store.put(ANA, str(number), {"text": f"tea {number}"}, index=None if number < 4 else False)
    pages = [found(store, *ANA, query="tea", limit=2, offset=offset) for offset in range(0, 12, 2)]
    assert sorted(key for page in pages for key in page) == [str(number) for number in range(9)]
    assert pages[2:] == [["4", "5"], ["6", "7"], ["8"], []]


@pytest.mark.parametrize("arguments", [{"limit": -1}, {"offset": -1}, {"limit": 1.5}, {"limit": True}])
def test_a_page_that_makes_no_sense_is_refused(store: AdaptiveMemoryStore, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="Give a whole number from 0"):
        store.search(ANA, **arguments)


@pytest.mark.parametrize(
    "index", ["text", {"dims": 3}, {"embed": vectors, "field": ["text"]}, {"embed": vectors, "fields": "text"}]
)
def test_an_index_that_makes_no_sense_is_refused(index: Any) -> None:
    with pytest.raises(InvalidInputError, match="index"):
        AdaptiveMemoryStore(index)


@pytest.mark.parametrize("namespace", ["users", None, 5])
def test_a_namespace_that_is_no_tuple_is_refused(store: AdaptiveMemoryStore, namespace: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        store.search(namespace)


def test_without_an_index_a_query_changes_nothing(open_store: OpenStore) -> None:
    store = open_store(None)
    store.put(ANA, "1", {"text": "tea"})
    store.put(ANA, "2", {"text": "coffee"}, index=["text"])
    assert found(store, *ANA, query="coffee") == ["1", "2"]
    assert store.memory is None


def test_a_blank_query_is_none(store: AdaptiveMemoryStore) -> None:
    store.put(ANA, "1", {"text": "tea"})
    assert [one.score for query in ("", "   ") for one in store.search(ANA, query=query)] == [None, None]


@pytest.mark.parametrize("one", [vectors, DeterministicFakeEmbedding(size=32)], ids=["function", "embeddings"])
def test_any_embed_of_langgraph_serves(open_store: OpenStore, one: Any) -> None:
    store = open_store({"dims": 32, "embed": one, "fields": ["text"]})
    store.put(ANA, "1", {"text": "tea"})
    store.put(ANA, "2", {"text": "ships"})
    assert found(store, *ANA, query="tea", limit=1) == ["1"]


async def test_an_async_embed_serves_the_async_side(open_store: OpenStore) -> None:
    store = open_store({"dims": 32, "embed": aembed, "fields": ["text"]})
    await store.aput(ANA, "1", {"text": "tea"})
    await store.aput(ANA, "2", {"text": "ships"})
    assert [one.key for one in await store.asearch(ANA, query="tea", limit=1)] == ["1"]
    with pytest.raises(ValueError, match="async"):
        store.put(ANA, "3", {"text": "x"})
    assert await store.aget(ANA, "3") is None


def test_an_embed_of_another_length_than_dims_is_told(open_store: OpenStore) -> None:
    store = open_store({"dims": 5, "embed": vectors})
    with pytest.raises(EmbedderError, match="dims is 5"):
        store.put(ANA, "1", {"text": "tea"})
    assert store.get(ANA, "1") is None


async def test_async_does_not_block_the_loop(open_store: OpenStore) -> None:
    slow = Held(vectors)
    store = open_store({"dims": 32, "embed": slow, "fields": ["text"]})
    slow.hold()
    puts = (store.aput((*ANA, str(n)), "k", {"text": f"tea {n}"}) for n in range(4))
    await asyncio.gather(*puts, slow.released())
    slow.hold()
    found, _ = await asyncio.gather(store.asearch(ANA, query="tea"), slow.released())
    assert len(found) == 4


async def test_async_and_sync_give_the_same(store: AdaptiveMemoryStore) -> None:
    await store.aput(ANA, "1", {"text": "tea"}, ttl=5)
    assert await store.aget(ANA, "1") == store.get(ANA, "1")
    assert await store.asearch(ANA, query="tea") == store.search(ANA, query="tea")
    assert await store.alist_namespaces() == store.list_namespaces() == [ANA]
    await store.adelete(ANA, "1")
    assert store.get(ANA, "1") is None


def test_threads_may_share_it(store: AdaptiveMemoryStore) -> None:
    def work(number: int) -> int:
        space = ("users", str(number))
        for step in range(5):
            store.put(space, str(step % 3), {"text": f"tea {number} {step}"})
            store.search(space, query="tea")
        store.put(("shared",), "k", {"text": f"by {number}"})
        return len(store.search(space, query="tea"))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(16))) == [3] * 16
    last = store.get(("shared",), "k")
    assert last is not None
    by_text = store.search(("shared",), query=last.value["text"])
    assert [one.value for one in by_text] == [last.value]
    assert threading.active_count() < 50


def test_two_stores_in_ram_are_two(open_store: OpenStore) -> None:
    one, other = open_store(), open_store()
    one.put(ANA, "k", {"text": "tea"})
    assert other.search((), query="tea") == []
    assert other.get(ANA, "k") is None


def test_a_closed_store_says_so(open_store: OpenStore) -> None:
    store = open_store()
    with store as same:
        assert same is store
    store.close()
    for call in (lambda: store.get(ANA, "k"), lambda: store.put(ANA, "k", {}), store.sweep_ttl):
        with pytest.raises(ClosedError, match="was closed"):
            call()
