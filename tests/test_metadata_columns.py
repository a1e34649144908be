"""Do columns answer every filter as the filter answers it for one record at a time?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.errors import FilterError
from adaptive_memory_core.metadata_columns import MetadataColumns
from adaptive_memory_core.where import DOCUMENT, STORED_DOCUMENT, filter_keys, predicate
from tests.test_where import METADATA, fitting

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), METADATA),
        st.tuples(st.just("change"), st.integers(0, 99), METADATA),
        st.tuples(st.just("remove"), st.integers(0, 99)),
    ),
    max_size=40,
)


def in_columns(records: list[dict[str, Any]], keys: set[str]) -> MetadataColumns:
    columns = MetadataColumns()
    columns.grow(len(records))
    columns.start(keys)
    for place, metadata in enumerate(records):
        columns.put(place, metadata)
    return columns


@given(st.lists(METADATA, max_size=12), fitting())
def test_a_mask_is_what_the_filter_says_of_each_record(records: list[dict[str, Any]], where: dict[str, Any]) -> None:
    keys = filter_keys(where)
    if not keys.isdisjoint((DOCUMENT, STORED_DOCUMENT)):
        return
    try:
        test = predicate(where)
    except FilterError:
        return
    mask = test.mask(in_columns(records, keys))
    assert mask.tolist() == [test(one, None) for one in records]


@given(STEPS, fitting())
def test_columns_that_follow_changes_are_as_those_that_are_made_anew(
    steps: list[tuple[Any, ...]], where: dict[str, Any]
) -> None:
    records: list[dict[str, Any]] = []
    columns = in_columns(records, {"a", "b"})
    for what, *more in steps:
        if what == "add":
            records.append(more[0])
            columns.grow(len(records))
            columns.put(len(records) - 1, more[0])
        elif records and what == "change":
            records[more[0] % len(records)] = more[1]
            columns.put(more[0] % len(records), more[1])
        elif records:
            place = more[0] % len(records)
            records[place] = records[-1]
            records.pop()
            columns.remove(place)
    if filter_keys(where) <= {"a", "b"}:
        try:
            test = predicate(where)
        except FilterError:
            return
        assert test.mask(columns).tolist() == [test(one, None) for one in records]


@pytest.mark.parametrize("where", [{"a": 1}, {"a": {"$ne": "x"}}, {"$and": [{"a": 1}, {"b": {"$in": ["x"]}}]}])
def test_without_records_nothing_passes(where: dict[str, Any]) -> None:
    assert predicate(where).mask(in_columns([], filter_keys(where))).tolist() == []
