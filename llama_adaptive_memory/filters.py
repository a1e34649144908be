"""How is a metadata filter of LlamaIndex asked of Chroma? Operator by operator; what has no equal is refused."""

from __future__ import annotations

from typing import Any

from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import FilterError

Where = dict[str, Any]
_OPERATORS = {
    FilterOperator.EQ: "$eq",
    FilterOperator.NE: "$ne",
    FilterOperator.GT: "$gt",
    FilterOperator.LT: "$lt",
    FilterOperator.GTE: "$gte",
    FilterOperator.LTE: "$lte",
    FilterOperator.IN: "$in",
    FilterOperator.NIN: "$nin",
}
_OPPOSITES = {"$eq": "$ne", "$ne": "$eq", "$in": "$nin", "$nin": "$in", "$and": "$or", "$or": "$and"}


def where_of(filters: MetadataFilters | None) -> Where | None:
    """The filter as Chroma's `where`; None where it asks for nothing.

    >>> where_of(MetadataFilters(filters=[MetadataFilter(key="year", value=2020, operator=FilterOperator.GTE)]))
    {'year': {'$gte': 2020}}
    >>> either = MetadataFilters(filters=[MetadataFilter(key="a", value=1), MetadataFilter(key="b", value=2)],
    ...                          condition=FilterCondition.OR)
    >>> where_of(either)
    {'$or': [{'a': {'$eq': 1}}, {'b': {'$eq': 2}}]}
    >>> where_of(MetadataFilters(filters=[either], condition=FilterCondition.NOT))
    {'$and': [{'a': {'$ne': 1}}, {'b': {'$ne': 2}}]}
    >>> where_of(None) is None, where_of(MetadataFilters(filters=[])) is None
    (True, True)
    """
    if filters is None:
        return None
    if not isinstance(filters, MetadataFilters):
        raise FilterError(f"filters is {shown(filters)}. Give MetadataFilters(filters=[MetadataFilter(...)]), or None.")
    parts = [part for part in map(_part, filters.filters) if part is not None]
    if filters.condition == FilterCondition.NOT:
        return _joined("$and", [_opposite(part) for part in parts])
    return _joined("$or" if filters.condition == FilterCondition.OR else "$and", parts)


def _part(one: MetadataFilter | MetadataFilters) -> Where | None:
    if isinstance(one, MetadataFilters):
        return where_of(one)
    if one.operator not in _OPERATORS:
        raise FilterError(
            f"Chroma has nothing for the operator {shown(one.operator.value)} on {shown(one.key)}. Allowed: "
            f"{', '.join(operator.value for operator in _OPERATORS)}."
        )
    return {one.key: {_OPERATORS[one.operator]: one.value}}


def _joined(word: str, parts: list[Where]) -> Where | None:
    return None if not parts else parts[0] if len(parts) == 1 else {word: parts}


def _opposite(part: Where) -> Where:
    """What the condition does not match. A record without the key is matched by "!=" and "nin", and by no other."""
    ((key, value),) = part.items()
    if key in _OPPOSITES:
        return {_OPPOSITES[key]: [_opposite(one) for one in value]}
    ((operator, operand),) = value.items()
    if operator not in _OPPOSITES:
        raise FilterError(
            f"Chroma cannot negate {shown(operator)} on {shown(key)}: records without the key would be lost. Negate "
            "==, !=, in or nin, or write the opposite comparison yourself."
        )
    return {key: {_OPPOSITES[operator]: operand}}
