"""How are nodes re-ranked that another retriever found? As candidates, and the answer as nodes again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from adaptive_memory_core import Fields, Recall, Scope, Scored, UserMemory
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.record_metadata import owner_of
from llama_adaptive_memory.convert import without_state
from llama_adaptive_memory.recall_mark import marked
from llama_adaptive_memory.scopes import fields_of, space_of
from llama_adaptive_memory.settings import ScoreMeaning
from llama_adaptive_memory.similarity import Meaning, meaning_of, similarities

UNASKED = "(no query)"


@dataclass(frozen=True)
class Candidates:
    """The nodes by the ids of their records, with what is known of their nearness."""

    cue: str
    nodes: Mapping[str, NodeWithScore]
    similarities: Mapping[str, float | None]
    guests: Mapping[str, str]  # text of those that may be in no collection
    min_similarity: float | None


def candidates_of(
    nodes: Sequence[NodeWithScore],
    asked: QueryBundle | None,
    scope: UserMemory,
    similarity: Meaning,
    min_similarity: float | None,
) -> Candidates:
    """Each node once, with its highest score; a score is a similarity in the meaning that it has. Relative scores have
    no least similarity: an absolute floor would cut them by rank."""
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
    return Candidates(words or UNASKED, best, near, _guests(best, scope), least)


def chosen(given: Candidates, found: Recall, fields: Fields, score: ScoreMeaning) -> list[NodeWithScore]:
    """The answer as new objects over the same nodes: what came in is left as it was."""
    return [_chosen(given.nodes[hit.id], hit, found, fields, score) for hit in found]


def _chosen(came_in: NodeWithScore, hit: Scored, found: Recall, fields: Fields, score: ScoreMeaning) -> NodeWithScore:
    """The note stands on the new object: the node itself may be part of another answer as well."""
    node = without_state(came_in.node, hit.record, fields)
    return marked(NodeWithScore(node=node, score=hit.score if score == "blend" else came_in.score), hit, found)


def _higher(one: float | None, other: float | None) -> bool:
    return one is not None and (other is None or one > other)


def _guests(nodes: Mapping[str, NodeWithScore], scope: UserMemory) -> dict[str, str]:
    """Nodes that may be ranked along though the collection does not have them; never those that say another user."""
    fields, mine = fields_of(scope), (Scope(None), scope.scope.own)
    return {
        one: node.node.get_content(MetadataMode.NONE)
        for one, node in nodes.items()
        if owner_of(node.node.metadata, fields) in mine
    }
