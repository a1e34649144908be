"""How does a reranker change the best candidates? It reads cue and texts and decides a share of their relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.foreign_calls import answered
from adaptive_memory_core.flow.candidates.gather import said
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.steps.relevance_floor import NO_FLOOR, FloorVerdict
from adaptive_memory_core.policy.channels_and_kinds import RERANKER
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.rerank_scale import shares_of
from adaptive_memory_core.score.select import select


class Reranked(NamedTuple):
    """The candidates with the reranker's numbers among their leads, where it gave any."""

    hits: Sequence[Hit]
    notes: tuple[str, ...] = ()


def rerank_best(request: Request, hits: Sequence[Hit], floor: FloorVerdict = NO_FLOOR) -> Reranked:
    """The candidates as the reranker judges them. If it fails, they stay as they are, and the recall says so.

    It sees only what passed the gates, and nothing where the floor lets nothing through. What lies beyond the best
    that it was shown counts as the worst of them.
    """
    policy, cue = request.policy, request.cue.own_words.strip() or request.cue.text.strip()
    if request.reranker is None or policy.advanced.rerank_weight == 0.0 or not cue or floor.refused is not None:
        return Reranked(hits)
    best, _ = select(hits, policy, k=policy.advanced.rerank_candidates, now=request.now, intent=request.intent)
    if not best:
        return Reranked(hits)
    question = request.reranker.asked(policy.advanced.timeout_seconds, cue, [one.text for one in best])
    outcome = answered(question)
    error = outcome.error
    if error is None:
        try:
            shares = shares_of(outcome.value, len(best))
        except InvalidInputError as refused:
            error = refused
    if error is not None:
        return Reranked(hits, (f"the reranker was left out: {said(error)}",))
    known = {one.hit._stored_id: share for one, share in zip(best, shares, strict=True)}
    return Reranked([_judged(hit, known.get(hit._stored_id, min(shares))) for hit in hits])


def _judged(hit: Hit, share: float) -> Hit:
    return replace(hit, leads={**hit.leads, RERANKER: share})
