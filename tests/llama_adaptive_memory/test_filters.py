"""Do LlamaIndex's filters mean in Chroma what they say?"""

from __future__ import annotations

import pytest
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from llama_index.vector_stores.chroma.base import _to_chroma_filter

from adaptive_memory_core.errors import FilterError
from llama_adaptive_memory.convert import where_of

SUPPORTED = ("==", "!=", ">", "<", ">=", "<=", "in", "nin")


def one(operator: str, value: object = 1) -> MetadataFilter:
    return MetadataFilter(key="number", value=value, operator=FilterOperator(operator))  # type: ignore[arg-type]


def value_for(operator: str) -> object:
    return [1, 2] if operator in ("in", "nin") else 1


@pytest.mark.parametrize("operator", SUPPORTED)
def test_every_operator_reads_as_the_vector_store_reads_it(operator: str) -> None:
    filters = MetadataFilters(filters=[one(operator, value_for(operator))])
    assert where_of(filters) == _to_chroma_filter(filters)


@pytest.mark.parametrize("condition", [FilterCondition.AND, FilterCondition.OR])
def test_nested_conditions_read_as_the_vector_store_reads_them(condition: FilterCondition) -> None:
    inner = MetadataFilters(filters=[one("=="), one(">", 0)], condition=FilterCondition.OR)
    filters = MetadataFilters(filters=[inner, one("!=", 7)], condition=condition)
    assert where_of(filters) == _to_chroma_filter(filters)


@pytest.mark.parametrize("operator", sorted({operator.value for operator in FilterOperator} - set(SUPPORTED)))
def test_what_chroma_cannot_say_is_refused_with_what_it_can(operator: str) -> None:
    with pytest.raises(FilterError, match="Allowed: ==, !=, >, <, >="):
        where_of(MetadataFilters(filters=[one(operator, "x")]))


def test_a_comparison_is_not_negated_for_records_without_the_key_would_be_lost() -> None:
    with pytest.raises(FilterError, match="Negate ==, !=, in or nin"):
        where_of(MetadataFilters(filters=[one(">")], condition=FilterCondition.NOT))


def test_a_mapping_is_no_filter_of_llama_index() -> None:
    with pytest.raises(FilterError, match="MetadataFilters"):
        where_of({"number": 1})  # type: ignore[arg-type]
