"""Which candidates are returned? Gates, scores and selection, with a reason for everyone who is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow.candidates.gather import Gathered, use_of
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.steps.candidate_vectors import Compared
from adaptive_memory_core.flow.steps.relevance_floor import FloorVerdict
from adaptive_memory_core.flow.steps.rerank_best import Reranked
from adaptive_memory_core.flow.steps.same_facts import OUR_RULES, SameFacts
from adaptive_memory_core.records import Dropped, Scored
from adaptive_memory_core.score.newest_first import Told
from adaptive_memory_core.score.nothing_found import of_time_alone
from adaptive_memory_core.score.random_tail import Drawn, with_random_tail
from adaptive_memory_core.score.select import Ranked, best_of, rank
from adaptive_memory_core.score.usefulness import Use


class InOrder(NamedTuple):
    """The candidates by score, and what that came of."""

    ranked: Ranked
    use: Use
    notes: tuple[str, ...] = ()


def in_order(request: Request, gathered: Gathered, judged: Reranked, facts: SameFacts = OUR_RULES) -> InOrder:
    """The candidates by score."""
    use = use_of(gathered.known, request)
    ranked = rank(
        judged.hits,
        request.policy,
        now=request.now,
        intent=request.intent,
        use=use,
        time_alone=of_time_alone(request.cue.own_words, request.intent),
        told=Told(request.cue.own_words, request.fields.speaker, facts.facts),
    )
    return InOrder(ranked, use, (*judged.notes, *facts.notes))


def choose(
    request: Request, gathered: Gathered, floor: FloorVerdict, candidates: InOrder, compared: Compared
) -> Recall:
    """The hits to return, and everyone else with the reason."""
    ranked, policy = candidates.ranked, request.policy
    kept, dropped = best_of(ranked, policy, k=request.k, intent=request.intent, vectors=compared.vectors)
    kept, dropped, propensities = _drawn(request, kept, dropped)
    if floor.refused is not None:
        dropped = (*[Dropped(one.id, floor.refused, one) for one in kept], *dropped)
        kept, propensities = (), {}
    return Recall(
        id=request.id,
        scope=request.scope,
        cue=gathered.cue,
        k=request.k,
        now=request.now,
        policy=policy,
        kept=kept,
        dropped=(*dropped, *gathered.absent) if gathered.absent else dropped,
        trace=(*request.notes, *gathered.notes, *floor.notes, *candidates.notes, *compared.notes),
        intent=request.intent,
        use=candidates.use,
        fields=request.fields,
        unrelated=floor.unrelated,
        propensities=propensities,
        because={one.id: why for one in kept if (why := gathered.because.get(one.hit._stored_id))},
    )


def _drawn(request: Request, kept: tuple[Scored, ...], dropped: Sequence[Dropped]) -> Drawn:
    """With the last places drawn by lot, where the policy wants that and the answer counts."""
    policy = request.policy
    if not policy.advanced.random_tail or not request.draws or policy.shape == "top_down":
        return Drawn(kept, dropped)
    return with_random_tail(kept, dropped, tail=policy.advanced.random_tail, recall_id=request.id)
