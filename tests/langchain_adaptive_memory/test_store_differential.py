"""Does the store do what `InMemoryStore` does? The same operations on both, and the same answers, op for op.

Where `InMemoryStore` itself strays from the contract, the operations keep clear of it: it lists namespaces that have no
item, keeps the vectors of a text that was written over, begins `created_at` anew at each write, embeds a text that
comes twice in one batch only once, raises where a field that is compared is missing, and fills pages beyond the first
with the same unscored items again. What this store does there is tested in `test_store.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from adaptive_memory_core import Policy, Weights
from langchain_adaptive_memory.langgraph_store.store import AdaptiveMemoryStore
from tests.conftest import word_vectors
from tests.suites import at_most

LIKE_COSINE = Policy(weights=Weights(recency=0, importance=0, similarity=1))  # the score is the similarity itself
NAMESPACES = [("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("z", "b")]
PREFIXES = [(), ("a",), ("a", "b"), ("b",), ("ab",), ("z",)]
NESTED: list[dict[str, Any]] = [
    {"n": 1, "on": True, "who": {"name": "ana", "tags": ["x", "y"]}, "nothing": None},
    {"n": 2.5, "on": False, "who": {"name": "ben", "tags": []}, "nothing": None},
    {"n": -3, "on": None, "who": {"name": "ana"}, "list": [1, "two", None, {"three": 3}]},
]
FILTERS: list[dict[str, Any]] = [
    {"n": 1},
    {"n": {"$gt": 0}},
    {"n": {"$gte": 1, "$lt": 2.5}},
    {"n": {"$lte": -3}},
    {"n": {"$ne": 1}},
    {"on": True},
    {"on": {"$eq": None}},
    {"who": {"name": "ana"}},
    {"who": {"name": {"$ne": "ana"}}},
    {"who": {"tags": ["x", "y"]}},
    {"missing": None},
    {"n": {"$gt": 0}, "who": {"name": "ben"}},
]
CONDITIONS = [
    MatchCondition("prefix", ("a",)),
    MatchCondition("prefix", ("a", "*")),
    MatchCondition("suffix", ("b",)),
    MatchCondition("suffix", ("*", "c")),
]
spaces, keys = st.sampled_from(NAMESPACES), st.sampled_from(["k1", "k2", "k3", "k4"])
puts = st.builds(lambda space, key, value: ("put", space, key, value), spaces, keys, st.sampled_from(NESTED))
deletes = st.builds(lambda space, key: ("delete", space, key, None), spaces, keys)
gets = st.builds(GetOp, spaces, keys)
searches = st.builds(
    SearchOp,
    st.sampled_from(PREFIXES),
    st.none() | st.sampled_from(FILTERS),
    st.sampled_from([0, 1, 3, 50]),
    st.just(0),
    st.none() | st.sampled_from(["red apple", "green pear tree", "blue"]),
)
listings = st.builds(
    ListNamespacesOp,
    st.none() | st.lists(st.sampled_from(CONDITIONS), max_size=2).map(tuple),
    st.none() | st.integers(1, 3),
    st.sampled_from([1, 2, 100]),
    st.sampled_from([0, 1]),
)
batches = st.lists(st.one_of(puts, puts, puts, deletes, gets, searches, searches, listings), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def pair() -> Iterator[Callable[[], tuple[InMemoryStore, AdaptiveMemoryStore]]]:
    """Both stores, empty. No two vectors are more than a right angle apart: our scores end at 0."""
    index: Any = {"dims": 32, "embed": lambda texts: np.abs(word_vectors(texts)).tolist(), "fields": ["text"]}
    store = AdaptiveMemoryStore(index, policy=LIKE_COSINE)

    def both() -> tuple[InMemoryStore, AdaptiveMemoryStore]:
        store.batch([PutOp(one.namespace, one.key, None) for one in store.search((), limit=10_000)])
        return InMemoryStore(index=index), store

    yield both
    store.close()


def operations(drawn: Sequence[Any], texts: Iterator[int]) -> list[Op]:
    """The operations, each put with a text of its own."""
    words = ["red", "green", "blue", "apple", "pear", "tree", "house"]

    def made(one: Any) -> Op:
        if not isinstance(one, tuple) or not isinstance(one[0], str):
            return one  # type: ignore[no-any-return] # an Op already
        kind, space, key, value = one
        number = next(texts)
        text = f"{words[number % 7]} {words[number // 7 % 7]} number{number}"
        return PutOp(space, key, None if kind == "delete" else {**value, "text": text})

    return [made(one) for one in drawn]


def live(store: BaseStore) -> InMemoryStore:
    """A copy with nothing but the items."""
    copy = InMemoryStore()
    for one in store.search((), limit=10_000):
        copy.put(one.namespace, one.key, one.value)
    return copy


def plain(result: Any, op: Op) -> Any:
    """A result as values to compare; the order in which namespaces were first met is no part of the contract."""
    if isinstance(result, Item) and not isinstance(result, SearchItem):
        return (result.namespace, result.key, result.value)
    if isinstance(op, SearchOp):
        rows = [(one.namespace, one.key, one.value, _rounded(one.score)) for one in result]
        scored = sorted((row for row in rows if row[3] is not None), key=lambda row: (-(row[3] or 0.0), row[0], row[1]))
        rest = sorted((row for row in rows if row[3] is None), key=lambda row: row[0])
        return [*scored, *rest]
    return result


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def compare(op: Op, theirs: Any, ours: Any, everything: Any) -> None:
    """The same; of a page of items that have no order among namespaces, as many and all of them true."""
    if isinstance(op, SearchOp) and op.limit < len(everything) and any(one.score is None for one in theirs):
        assert len(ours) == len(theirs)
        assert all(one in everything for one in plain(ours, op))
    else:
        assert plain(ours, op) == plain(theirs, op)


@at_most(80)
@given(st.lists(batches, min_size=1, max_size=8))
def test_any_history_gives_the_same_answers(pair: Any, drawn: list[list[Any]]) -> None:
    theirs, ours = pair()
    texts = count()
    for number, batch in enumerate(drawn):
        ops = operations(batch, texts)
        listing = live(theirs)
        wide = [one._replace(limit=10_000) if isinstance(one, SearchOp) else one for one in ops]
        everything = theirs.batch([one for one in wide if isinstance(one, SearchOp)])
        expected = theirs.batch(ops)
        got = ours.batch(ops) if number % 2 else asyncio.run(ours.abatch(ops))
        whole = iter(everything)
        for op, one, other in zip(ops, expected, got, strict=True):
            if isinstance(op, ListNamespacesOp):
                assert other == listing.batch([op])[0]
            else:
                all_of_it = next(whole) if isinstance(op, SearchOp) else []
                compare(op, one, other, plain(all_of_it, op))


def test_pages_of_a_ranked_search_follow_each_other_as_theirs_do(pair: Any) -> None:
    theirs, ours = pair()
    texts = count()
    ops = operations([("put", ("a", f"n{n % 5}"), f"k{n}", NESTED[n % 3]) for n in range(60)], texts)
    theirs.batch(ops)
    ours.batch(ops)
    for offset in range(0, 70, 7):
        op = SearchOp(("a",), None, 7, offset, "red apple")
        assert plain(ours.batch([op])[0], op) == plain(theirs.batch([op])[0], op)


def test_one_namespace_is_listed_in_the_order_it_was_written(pair: Any) -> None:
    theirs, ours = pair()
    for store in (theirs, ours):
        for key in ("k3", "k1", "k2"):
            store.put(("a",), key, {"text": key})
        store.put(("a",), "k1", {"text": "written over, in its place"})
        store.delete(("a",), "k3")
        store.put(("a",), "k3", {"text": "anew, at the end"})
    for offset in range(4):
        one, other = (store.search(("a",), limit=2, offset=offset) for store in (theirs, ours))
        assert [item.key for item in one] == [item.key for item in other]


REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("put", (("a.b",), "k", {}), {}),
    ("put", ((), "k", {}), {}),
    ("put", (("langgraph", "x"), "k", {}), {}),
    ("put", (("",), "k", {}), {}),
    ("get", (("a", 1), "k"), {}),
    ("delete", (("a\x00",), "k"), {}),
    ("search", (("a", ""),), {}),
    ("list_namespaces", (), {"prefix": ("a.b",)}),
    ("batch", ([PutOp(("a",), "k", {}), "no operation"],), {}),
    ("search", (("here",),), {"filter": {"n": {"$near": 1}}}),
    ("search", (("here",),), {"filter": {"n": {"$gt": 1, "plain": 2}}}),
]


@pytest.mark.parametrize("call", REFUSED, ids=lambda call: f"{call[0]}-{call[1]}-{call[2]}")
def test_what_they_refuse_is_refused_with_the_same_error(pair: Any, call: Any) -> None:
    method, arguments, named = call
    errors = []
    for store in pair():
        store.put(("here",), "k", {"text": "something", "n": 5})
        with pytest.raises(Exception) as caught:
            getattr(store, method)(*arguments, **named)
        errors.append(type(caught.value))
    assert issubclass(errors[1], errors[0])
    assert [one.key for one in pair()[1].search(("a",))] == []
