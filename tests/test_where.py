"""Does our filter agree with Chroma, for every operator and value, and refuse what Chroma refuses?"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from chromadb import Collection
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.errors import FilterError
from adaptive_memory_core.metadata_columns import as_float
from adaptive_memory_core.store.chroma.chroma_calls import both_filters, call_chroma
from adaptive_memory_core.where import matches_filter
from tests.suites import at_most

KEYS = ("a", "b", "never", "#document", "chroma:document")
TEXTS = ("", "tea", "Tea", "50%", "a_b", "back\\slash", "null\0byte", "naïve ☕", "1")
WHOLE = st.one_of(
    st.integers(-3, 4), st.sampled_from([2**53 + 1, 2**63 - 1, -(2**63), 10**15]), st.integers(-(2**63), 2**63 - 1)
)
REAL = st.one_of(
    st.sampled_from([0.0, -0.0, 0.5, 1.0, 2.5, 3.0, -1.5, 1e300, 5e-324, 0.1 + 0.2]),
    st.floats(allow_nan=False, allow_infinity=False),
)
SCALAR = st.one_of(st.sampled_from(TEXTS), st.booleans(), WHOLE, REAL)
LISTS = st.one_of(
    *(st.lists(kind, min_size=1, max_size=3) for kind in (st.sampled_from(TEXTS), st.booleans(), WHOLE, REAL))
)
METADATA = st.dictionaries(st.sampled_from(KEYS[:2]), st.one_of(SCALAR, LISTS), max_size=2)
ODD: st.SearchStrategy[Any] = st.one_of(
    SCALAR,
    st.sampled_from(
        [math.nan, math.inf, 2**63, 2**64, 2**64 + 2**40, -(2**63) - 1, 10**400, None, "\ud800", (1, 2), {}]
    ),
    st.lists(st.one_of(SCALAR, st.sampled_from([2**63, 2**64, None])), max_size=3),
)
OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$contains", "$not_contains")
NO_OPERANDS: list[Any] = [[], [[1]], {}, None]


def part(operand: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """One key compared with something."""
    compared = st.builds(lambda operator, value: {operator: value}, st.sampled_from(OPERATORS), operand)
    return st.builds(lambda key, value: {key: value}, st.sampled_from(KEYS), st.one_of(compared, operand))


def tree(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        parts,
        lambda below: st.builds(
            lambda operator, these: {operator: these},
            st.sampled_from(["$and", "$or"]),
            st.lists(below, min_size=1, max_size=3),
        ),
        max_leaves=5,
    )


def fitting() -> st.SearchStrategy[Any]:
    """Filters that compare values with values of their kind: most are taken."""
    number = st.one_of(WHOLE, REAL)
    pairs = st.one_of(
        st.tuples(st.sampled_from(["$eq", "$ne", "$contains", "$not_contains"]), SCALAR),
        st.tuples(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), number),
        st.tuples(st.sampled_from(["$in", "$nin"]), LISTS),
    )
    compared = pairs.map(lambda pair: {pair[0]: pair[1]})
    single = st.builds(lambda key, value: {key: value}, st.sampled_from(KEYS), st.one_of(compared, SCALAR))
    return st.one_of(tree(single), st.builds(lambda one, other: {**one, **other}, single, single))


@pytest.fixture(scope="module")
def chroma() -> Iterator[Collection]:
    import chromadb

    client = chromadb.EphemeralClient()
    yield client.create_collection("filters", embedding_function=None, get_or_create=True)
    client.delete_collection("filters")


def filled(chroma: Collection, rows: list[dict[str, Any]]) -> dict[str, tuple[Any, str | None]]:
    """The collection with these rows alone: what Chroma has of each."""
    if ids := chroma.get(include=[])["ids"]:
        chroma.delete(ids=ids)
    names = [f"r{number}" for number in range(len(rows))]
    documents: Any = [TEXTS[1 + number % (len(TEXTS) - 1)] for number in range(len(rows))]
    metadatas: Any = [row or None for row in rows]
    vectors: Any = [[1.0, 0.0]] * len(rows)
    chroma.add(ids=names, embeddings=vectors, metadatas=metadatas, documents=documents)
    found = chroma.get(include=["metadatas", "documents"])
    columns = (found["metadatas"] or [], found["documents"] or [])
    return {one: (metadata, text) for one, metadata, text in zip(found["ids"], *columns, strict=True)}


def asked(chroma: Collection, where: Any) -> set[str] | None:
    """Chroma's answer; None where it refuses."""
    condition: Any = both_filters(where, None)
    try:
        return set(call_chroma(lambda: chroma.get(where=condition, include=[]), where)["ids"])
    except FilterError:
        return None


def said(rows: dict[str, tuple[Any, str | None]], where: Any) -> set[str] | None:
    try:
        return {one for one, (metadata, text) in rows.items() if matches_filter(where, metadata, text)}
    except FilterError:
        return None


@at_most(150)
@given(data=st.data())
def test_a_filter_gives_what_chroma_gives(chroma: Collection, data: st.DataObject) -> None:
    rows = filled(chroma, data.draw(st.lists(METADATA, min_size=1, max_size=6)))
    for where in data.draw(st.lists(fitting(), min_size=8, max_size=8)):
        assert said(rows, where) == asked(chroma, where), (rows, where)


@at_most(60)
@given(data=st.data())
def test_a_filter_is_refused_where_chroma_refuses_it(chroma: Collection, data: st.DataObject) -> None:
    rows = filled(chroma, data.draw(st.lists(METADATA, min_size=1, max_size=3)))
    for where in data.draw(st.lists(tree(part(ODD)), min_size=10, max_size=10)):
        assert said(rows, where) == asked(chroma, where), (rows, where)


@pytest.mark.parametrize(
    "where",
    [
        {"$in": [1]},
        {"$contains": "tea"},
        {"$gt": {"$eq": 1}},
        {"$and": {"a": 1}},
        {"$and": [{"a": 1}]},
        {"$or": [{"a": 1}, {}]},
        {"$or": [{"a": 1}, {"a": 1, "b": 2}]},
        {"a": {"$eq": 1, "$ne": 2}},
        {"a": {"$like": "t"}},
        {"a": {"$eq": {"b": 1}}},
        {"a": {"$in": "tea"}},
        {"a": {"$in": [1, True]}},
        {"a": {"$in": [2**64, 1]}},
        {"a": {"$in": [1.5, 2]}},
        {"a": {"$gt": "tea"}},
        {"a": {"$gt": True}},
        {"": 1},
        {"\ud800": 1},
        {"#document": {"$contains": "ea"}},
        {"#document": {"$not_contains": "ea"}},
        {"#document": {"$contains": "0%"}},
        {"#document": {"$contains": "a_"}},
        {"#document": {"$contains": 5}},
        {"#document": {"$regex": "t.a"}},
        *({"#document": one} for one in ("tea", 1, 1.5, True, {"$ne": "tea"}, {"$in": ["tea"]}, {"$nin": [1]})),
        {"#embedding": {"$ne": "tea"}},
        {"chroma:document": "tea"},
        {"chroma:document": {"$ne": "tea"}},
        *({"a": {operator: operand}} for operator in OPERATORS for operand in NO_OPERANDS),
    ],
    ids=str,
)
def test_what_is_odd_is_answered_as_chroma_answers(chroma: Collection, where: Any) -> None:
    rows = filled(chroma, [{}, {"a": 1}, {"a": [1, 2]}, {"a": 1.0}, {"b": "tea"}, {"a": True}, {"a": "tea"}])
    assert said(rows, where) == asked(chroma, where)


@pytest.mark.parametrize("levels", [1, 40, 61, 62, 63, 64, 65, 200])
def test_a_filter_is_as_deep_as_chroma_allows(chroma: Collection, levels: int) -> None:
    rows = filled(chroma, [{"a": 1}, {"b": 1}])
    for leaf in ({"a": 1}, {"a": {"$eq": 1}}, {"a": {"$in": [1]}}):
        where: Any = leaf
        for _ in range(levels):
            where = {"$and": [where, {"a": 1}]}
        assert said(rows, where) == asked(chroma, where), leaf


@given(number=st.one_of(REAL, st.floats(allow_nan=False), WHOLE))
def test_a_float_is_read_as_chroma_reads_it(number: float, parsed: Callable[[float], float | None]) -> None:
    assert as_float(float(number)) == parsed(number)


@pytest.fixture(scope="module")
def parsed(chroma: Collection) -> Callable[[float], float | None]:
    """What Chroma makes of a number that is written into a record."""

    def stored(number: float) -> float | None:
        if math.isinf(number):
            return None
        vectors: Any = [[1.0, 0.0]]
        chroma.upsert(ids=["number"], embeddings=vectors, metadatas=[{"x": float(json.loads(json.dumps(number)))}])
        metadatas: Any = chroma.get(ids=["number"])["metadatas"]
        found = metadatas[0]["x"]
        return float(found)

    return stored
