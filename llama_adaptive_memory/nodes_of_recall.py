"""How does a recall become nodes with scores? Each node notes the recall that returned it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore, TextNode
from llama_index.core.storage.docstore.types import BaseDocumentStore

from adaptive_memory_core import Recall, Scored, UserMemory
from adaptive_memory_core.context.themes import WholeEpisode, whole_episode
from llama_adaptive_memory.convert import node_of
from llama_adaptive_memory.recall_mark import marked
from llama_adaptive_memory.scopes import fields_of, space_of
from llama_adaptive_memory.settings import ScoreMeaning
from llama_adaptive_memory.similarity import chroma_score


def nodes_of(
    found: Recall, scope: UserMemory, docstore: BaseDocumentStore | None, score: ScoreMeaning
) -> list[NodeWithScore]:
    """The hits as nodes; of a top-down recall the episodes that they stand for. Those that are no plain text are taken
    from the document store, if it has them."""
    fields = fields_of(scope)
    nodes = {hit.id: node_of(hit.record, fields) for hit in found}
    elsewhere = [node.node_id for node in nodes.values() if type(node) is not TextNode]
    if elsewhere and docstore is not None:
        nodes = _whole(nodes, docstore.get_nodes(elsewhere, raise_error=False))
    nodes |= {
        hit.id: _of_episode(nodes[hit.id], one) for hit in found if (one := whole_episode(hit, found)) is not None
    }
    space = space_of(scope) if score == "similarity" else ""
    return [NodeWithScore(node=marked(nodes[hit.id], hit, found), score=_score(hit, score, space)) for hit in found]


def _of_episode(best: BaseNode, episode: WholeEpisode) -> TextNode:
    """An episode under the id of its best message; a model is told its title and theme, and no ids."""
    return TextNode(
        id_=best.node_id,
        text=episode.text,
        metadata={**best.metadata, **episode.metadata},
        excluded_llm_metadata_keys=[*best.excluded_llm_metadata_keys, "message_ids"],
        excluded_embed_metadata_keys=[*best.excluded_embed_metadata_keys, "message_ids"],
    )


def _whole(nodes: Mapping[str, BaseNode], stored: Any) -> dict[str, BaseNode]:
    """The nodes as the document store has them; copies, for it may hand out its own."""
    whole = {node.node_id: node.model_copy() for node in stored}
    return {one: whole.get(node.node_id, node) for one, node in nodes.items()}


def _score(hit: Scored, meaning: ScoreMeaning, space: str) -> float:
    return hit.score if meaning == "blend" else chroma_score(hit.similarity, space=space)
