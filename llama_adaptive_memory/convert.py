"""How does a node become a record, and a record a node? As LlamaIndex builds them; our state is never in a node."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from llama_index.core.schema import BaseNode, TextNode
from llama_index.core.vector_stores.utils import (
    legacy_metadata_dict_to_node,
    metadata_dict_to_node,
    node_to_metadata_dict,
)

from adaptive_memory_core import Fields, Record
from adaptive_memory_core.record_metadata import without_read_state

NODE_CONTENT = "_node_content"
_OURS = (
    *("user_id", "kind", "importance", "created_at", "valid_from", "valid_until", "supersedes", "superseded_by"),
    *("derived", "derived_from", "derived_stale"),
)
_ALWAYS_WRITTEN = {"kind": str, "importance": float, "created_at": float}  # by `remember`


def node_of(record: Record, fields: Fields) -> BaseNode:
    """The node that LlamaIndex stored, or for any other record a `TextNode` of it.

    >>> from llama_index.core.schema import MetadataMode
    >>> plain = Record("7", "Tea is at four.", stored={"topic": "tea", "retrieval_count": 3, "last_read": 5.0})
    >>> node = node_of(plain, Fields())
    >>> node.node_id, node.metadata, node.get_content(MetadataMode.ALL)
    ('7', {'topic': 'tea'}, 'topic: tea\\n\\nTea is at four.')
    """
    stored = record.stored
    if NODE_CONTENT in stored:
        with suppress(Exception):  # LlamaIndex itself reads a record as a plain one where this fails
            return metadata_dict_to_node(dict(stored), text=record.text)
    return _plain_node(record, stored, fields)


def without_state(node: BaseNode, record: Record, fields: Fields) -> BaseNode:
    """The node, or a copy without our state where LlamaIndex has taken that for metadata: of records it did not store.

    >>> node = TextNode(id_="7", text="Tea is at four.", metadata={"retrieval_count": 3, "topic": "tea"})
    >>> without_state(node, Record("7", "Tea is at four.", stored=dict(node.metadata)), Fields()).metadata
    {'topic': 'tea'}
    """
    if NODE_CONTENT in record.stored:
        return node
    kept = without_read_state(node.metadata, fields)
    return node if len(kept) == len(node.metadata) else node.model_copy(update={"metadata": dict(sorted(kept.items()))})


def stored_metadata(node: TextNode) -> dict[str, Any]:
    """What LlamaIndex writes beside a node's text, so that any of its retrievers finds the node again."""
    flat = node_to_metadata_dict(node, remove_text=True, flat_metadata=True)
    return {key: "" if value is None else value for key, value in flat.items()}


def _plain_node(record: Record, stored: Mapping[str, Any], fields: Fields) -> TextNode:
    """Keys in order, for Chroma gives them in any, and a node's hash hangs on it."""
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
    """Whether `remember` wrote the record: then its properties are ours, not words for a model."""
    return all(isinstance(stored.get(getattr(fields, name)), kind) for name, kind in _ALWAYS_WRITTEN.items())
