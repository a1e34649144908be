"""Conversion of records to nodes, and of LlamaIndex's filters to ours."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from llama_index.core.schema import BaseNode, TextNode
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from llama_index.core.vector_stores.utils import (
    legacy_metadata_dict_to_node,
    metadata_dict_to_node,
    node_to_metadata_dict,
)

from adaptive_memory_core import Fields, Record
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import FilterError
from adaptive_memory_core.record_metadata import without_read_state

NODE_CONTENT = "_node_content"
_OURS = (
    *("user_id", "kind", "importance", "created_at", "valid_from", "valid_until", "supersedes", "superseded_by"),
    *("derived", "derived_from", "derived_stale"),
)
_ALWAYS_WRITTEN = {"kind": str, "importance": float, "created_at": float}  # by `remember`


def node_of(record: Record, fields: Fields) -> BaseNode:
    """The node that LlamaIndex stored, or a new `TextNode` for any other record.

    >>> from llama_index.core.schema import MetadataMode
    >>> plain = Record("7", "Tea is at four.", stored={"topic": "tea", "retrieval_count": 3, "last_read": 5.0})
    >>> node = node_of(plain, Fields())
    >>> node.node_id, node.metadata, node.get_content(MetadataMode.ALL)
    ('7', {'topic': 'tea'}, 'topic: tea\\n\\nTea is at four.')
    """
    stored = record.stored
    if NODE_CONTENT in stored:
        with suppress(Exception):  # if this fails, LlamaIndex itself reads the record as a plain record
            return metadata_dict_to_node(dict(stored), text=record.text)
    return _plain_node(record, stored, fields)


def without_state(node: BaseNode, record: Record, fields: Fields) -> BaseNode:
    """The node, or a copy without our state if LlamaIndex treated the state as metadata, as it does for records that it
    did not store.

    >>> node = TextNode(id_="7", text="Tea is at four.", metadata={"retrieval_count": 3, "topic": "tea"})
    >>> without_state(node, Record("7", "Tea is at four.", stored=dict(node.metadata)), Fields()).metadata
    {'topic': 'tea'}
    """
    if NODE_CONTENT in record.stored:
        return node
    kept = without_read_state(node.metadata, fields)
    return node if len(kept) == len(node.metadata) else node.model_copy(update={"metadata": dict(sorted(kept.items()))})


def stored_metadata(node: TextNode) -> dict[str, Any]:
    """The metadata that LlamaIndex writes with a node's text, so that all its retrievers find the node."""
    flat = node_to_metadata_dict(node, remove_text=True, flat_metadata=True)
    return {key: "" if value is None else value for key, value in flat.items()}


def _plain_node(record: Record, stored: Mapping[str, Any], fields: Fields) -> TextNode:
    """A new node with sorted keys, since Chroma returns them in any order and a node's hash depends on it."""
    kept = dict(sorted(without_read_state(stored, fields).items()))
    metadata, info, relationships = legacy_metadata_dict_to_node(kept)
    hidden = sorted(_own_keys(fields) & metadata.keys()) if _is_remembered(stored, fields) else []
    return TextNode(
        id_=record.id,
        text=record.text,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
        start_char_idx=info.get("start"),
        end_char_idx=info.get("end"),
        relationships=relationships,
    )


def _own_keys(fields: Fields) -> set[str]:
    return {getattr(fields, name) for name in _OURS}


def _is_remembered(stored: Mapping[str, Any], fields: Fields) -> bool:
    """Whether `remember` wrote the record, so that its properties are ours and not for a model."""
    return all(isinstance(stored.get(getattr(fields, name)), kind) for name, kind in _ALWAYS_WRITTEN.items())


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
    """The filter as Chroma's `where`; None if it is empty.

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
            f"Chroma does not support the operator {shown(one.operator.value)} on {shown(one.key)}. Allowed: "
            f"{', '.join(operator.value for operator in _OPERATORS)}."
        )
    return {one.key: {_OPERATORS[one.operator]: one.value}}


def _joined(word: str, parts: list[Where]) -> Where | None:
    return None if not parts else parts[0] if len(parts) == 1 else {word: parts}


def _opposite(part: Where) -> Where:
    """The negation of a condition. Only "!=" and "nin" match a record without the key."""
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
