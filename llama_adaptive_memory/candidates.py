"""Nodes for ranking with their similarities, and the nodes of a recall."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.docstore.types import BaseDocumentStore

from adaptive_memory_core import Fields, Recall, Scope, Scored, UserMemory
from adaptive_memory_core.context.themes import WholeEpisode, whole_episode
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.record_metadata import owner_of
from adaptive_memory_core.score.signals import similarity as of_distance
from llama_adaptive_memory.convert import node_of, without_state
from llama_adaptive_memory.recall_mark import marked
from llama_adaptive_memory.settings import ScoreMeaning, fields_of, space_of

Meaning = Literal["auto", "chroma", "calibrated", "relative"]
MEANINGS = ("auto", "chroma", "calibrated", "relative")
FARTHEST = {"l2": 4.0}  # the largest squared distance of unit vectors; 2 in the other spaces
ROUNDING = 1e-3
ABOVE_UNKNOWN = 0.1  # the similarity for the lowest relative score if other nodes have no score


def check_meaning(value: str) -> str:
    if value not in MEANINGS:
        raise PolicyError(
            f"similarity is {shown(value)}. Give 'chroma' for scores of a ChromaVectorStore, 'calibrated' for scores "
            "where 1 is the same and 0 unrelated, 'relative' for any others (fused, re-ranked), or 'auto'."
        )
    return value


def meaning_of(scores: Sequence[float | None], asked: Meaning, *, space: str) -> Meaning:
    """The meaning of these scores: as requested, or for "auto" Chroma's if they can be Chroma's.

    `ChromaVectorStore` gives `exp(-distance)`, which for unit vectors is never below `exp(-2)` (`exp(-4)` for l2) and
    never above 1. Fused scores are lower, and those of rankers mostly outside this range. If they are inside, reading
    them as Chroma's keeps their order.

    >>> meaning_of([0.9, 0.5], "auto", space="cosine"), meaning_of([0.03, 0.02], "auto", space="cosine")
    ('chroma', 'relative')
    >>> meaning_of([7.2, -3.0], "auto", space="l2"), meaning_of([0.9], "calibrated", space="l2")
    ('relative', 'calibrated')
    """
    if asked != "auto":
        return asked
    lowest = math.exp(-FARTHEST.get(space, 2.0)) - ROUNDING
    known = [score for score in scores if score is not None]
    return "chroma" if all(lowest <= score <= 1.0 + ROUNDING for score in known) else "relative"


def chroma_score(similarity: float, *, space: str) -> float:
    """The score that a `ChromaVectorStore` gives for this distance: `exp(-distance)` in any space.

    >>> chroma_score(1.0, space="cosine"), round(chroma_score(0.38, space="cosine"), 2)
    (1.0, 0.54)
    >>> [one] = similarities([chroma_score(0.38, space="l2")], "chroma", space="l2")
    >>> round(one, 9)
    0.38
    """
    distance = (1.0 - similarity) * (2.0 if space == "l2" else 1.0)
    return math.exp(-max(0.0, distance))


def similarities(scores: Sequence[float | None], meaning: Meaning, *, space: str) -> list[float | None]:
    """Each score as a similarity: 1 is the same, 0 unrelated; unknown scores (None, NaN) give None.

    >>> similarities([1.0, math.exp(-0.5), None], "chroma", space="cosine")
    [1.0, 0.5, None]
    >>> similarities([7.0, -3.0, 2.0], "relative", space="cosine")
    [1.0, 0.0, 0.5]
    >>> similarities([0.02, 0.02], "relative", space="l2")
    [0.5, 0.5]
    >>> similarities([7.0, None, 2.0], "relative", space="l2")
    [1.0, None, 0.1]
    """
    known = [score for score in scores if score is not None and math.isfinite(score)]
    if not known:
        return [None] * len(scores)
    low, high = min(known), max(known)
    least = 0.0 if len(known) == len(scores) else ABOVE_UNKNOWN

    def one(score: float | None) -> float | None:
        if score is None or not math.isfinite(score):
            return None
        if meaning == "chroma":
            return of_distance(-math.log(max(score, 1e-300)), space=space)
        if meaning == "relative":
            return 0.5 if high == low else least + (1.0 - least) * (score - low) / (high - low)
        return score

    return [one(score) for score in scores]


def nodes_of(
    found: Recall, scope: UserMemory, docstore: BaseDocumentStore | None, score: ScoreMeaning
) -> list[NodeWithScore]:
    """The hits as nodes; for a top-down recall, the episodes that they represent. Nodes other than plain text come from
    the document store, if it has them."""
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
    """An episode as a node with the id of its best message; a model sees its title and theme, but no ids."""
    return TextNode(
        id_=best.node_id,
        text=episode.text,
        metadata={**best.metadata, **episode.metadata},
        excluded_llm_metadata_keys=[*best.excluded_llm_metadata_keys, "message_ids"],
        excluded_embed_metadata_keys=[*best.excluded_embed_metadata_keys, "message_ids"],
    )


def _whole(nodes: Mapping[str, BaseNode], stored: Any) -> dict[str, BaseNode]:
    """Copies of the document store's nodes, since the store may return its own objects."""
    whole = {node.node_id: node.model_copy() for node in stored}
    return {one: whole.get(node.node_id, node) for one, node in nodes.items()}


def _score(hit: Scored, meaning: ScoreMeaning, space: str) -> float:
    return hit.score if meaning == "blend" else chroma_score(hit.similarity, space=space)


UNASKED = "(no query)"


@dataclass(frozen=True)
class NodeCandidates:
    """The nodes by the ids of their records, with their known similarities."""

    cue: str
    nodes: Mapping[str, NodeWithScore]
    similarities: Mapping[str, float | None]
    guests: Mapping[str, str]  # texts of nodes that may not be in the collection
    min_similarity: float | None


def candidates_of(
    nodes: Sequence[NodeWithScore],
    asked: QueryBundle | None,
    scope: UserMemory,
    similarity: Meaning,
    min_similarity: float | None,
) -> NodeCandidates:
    """Each node once, with its highest score, converted to a similarity according to the scores' meaning. The least
    similarity does not apply to relative scores, because it would cut them by rank."""
    best: dict[str, NodeWithScore] = {}
    for node in nodes:
        known = best.setdefault(record_id(scope.scope, node.node.node_id), node)
        if known is not node and _higher(node.score, known.score):
            best[record_id(scope.scope, node.node.node_id)] = node
    scores = [node.score for node in best.values()]
    space = space_of(scope)
    meaning = meaning_of(scores, similarity, space=space)
    near = dict(zip(best, similarities(scores, meaning, space=space), strict=True))
    words = "" if asked is None else asked.query_str.strip()
    least = 0.0 if meaning == "relative" else min_similarity
    return NodeCandidates(words or UNASKED, best, near, _guests(best, scope), least)


def chosen(given: NodeCandidates, found: Recall, fields: Fields, score: ScoreMeaning) -> list[NodeWithScore]:
    """The answer as new objects over the same nodes; the input stays unchanged."""
    return [_chosen(given.nodes[hit.id], hit, found, fields, score) for hit in found]


def _chosen(came_in: NodeWithScore, hit: Scored, found: Recall, fields: Fields, score: ScoreMeaning) -> NodeWithScore:
    """A hit's node in a new object, which carries the link, since the node may be part of another answer as well."""
    node = without_state(came_in.node, hit.record, fields)
    return marked(NodeWithScore(node=node, score=hit.score if score == "blend" else came_in.score), hit, found)


def _higher(one: float | None, other: float | None) -> bool:
    return one is not None and (other is None or one > other)


def _guests(nodes: Mapping[str, NodeWithScore], scope: UserMemory) -> dict[str, str]:
    """The texts of nodes that may be ranked even if the collection does not have them; never another user's nodes."""
    fields, mine = fields_of(scope), (Scope(None), scope.scope.own)
    return {
        one: node.node.get_content(MetadataMode.NONE)
        for one, node in nodes.items()
        if owner_of(node.node.metadata, fields) in mine
    }
