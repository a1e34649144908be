"""READ FIRST. How does a recall work? Ask every source once, gather, rank, shape the answer, and count the reading."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.count_reading import count_reading
from adaptive_memory_core.flow.episodes import by_episode, for_episodes, helpful_episodes, on_the_way, with_outline
from adaptive_memory_core.flow.neighbours import with_neighbours
from adaptive_memory_core.flow.optional_steps import (
    NO_FLOOR,
    NOT_COMPARED,
    OUR_RULES,
    Compared,
    FloorVerdict,
    Reranked,
    SameFacts,
    candidate_vectors,
    relevance_floor,
    rerank_best,
    same_facts,
)
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer
from adaptive_memory_core.flow.widen import other_kind_of_user, under_decay, widen_search
from adaptive_memory_core.policy.advanced import DENSE
from adaptive_memory_core.records import Dropped
from adaptive_memory_core.score.diversity import with_random_tail
from adaptive_memory_core.score.newest_first import NewestFirstQuery
from adaptive_memory_core.score.nothing_found import of_time_alone
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.score.select import Ranked, choose_hits, rank
from adaptive_memory_core.score.signals import Use
from adaptive_memory_core.sources.ask import ask_sources
from adaptive_memory_core.sources.gather import Gathered, gather, timeline_of, use_of
from adaptive_memory_core.sources.graph_and_hierarchy import led_to
from adaptive_memory_core.sources.request import Request
from adaptive_memory_core.sources.times_and_feedback import as_of_day, understand_time


def recall(ports: Ports, request: Request) -> Recall:
    """The best hits for a cue; unless `reinforce` is False, they count as read."""
    answer, gathered = look_for(ports, request)
    policy = request.policy
    if policy.advanced.neighbours or policy.shape == "episodes":
        answer = with_neighbours(ports, request, answer)
    if policy.shape == "top_down":
        answer = helpful_episodes(request, answer)
    return count_reading(ports, request, answer, gathered)


def look_for(ports: Ports, request: Request) -> tuple[Recall, Gathered]:
    """The best hits, and what there was to choose from; nothing has changed yet. Steps that are off are not called."""
    policy = request.policy
    with suppress(LedgerError):  # then each part looks by itself, and says what came of it
        request = request._replace(version=ports.ledger.states.version(request.scope))
    if request.as_of is not None:
        request = as_of_day(ports, request)
    request = understand_time(ports, request)
    answers = ask_sources(ports, request)
    gathered = gather(ports, request, answers)
    if not gathered.hits and request.where is None:
        gathered = other_kind_of_user(ports, request, gathered)
    if not are_enough(gathered, request) or gathered.known.error is not None:
        gathered = widen_search(ports, request, gathered)
    if not timeline_of(gathered.known, request).still:
        gathered = under_decay(ports, request, gathered)
    hits = with_leads(gathered.hits, answers)
    led = led_to(answers) if policy.shape == "top_down" else None
    if led is not None:
        hits = on_the_way(hits, led)
    floor = relevance_floor(ports, request, gathered, hits) if policy.advanced.unrelated_answered else NO_FLOOR
    judged = Reranked(hits) if request.reranker is None else rerank_best(request, hits, floor)
    facts = OUR_RULES if request.same_fact is None else same_facts(request, judged.hits, floor)
    candidates = in_order(request, gathered, judged, facts)
    compared = candidate_vectors(ports, request, candidates.ranked.hits) if policy.diversity else NOT_COMPARED
    wanted = request if led is None else for_episodes(request, led)
    answer = choose(wanted, gathered, floor, candidates, compared)
    if led is not None:
        answer = by_episode(request, answer, led)
    return (answer if policy.shape == "flat" else with_outline(ports, request, answer, led)), gathered


def are_enough(gathered: Gathered, request: Request) -> bool:
    """Whether no gate can exclude a candidate, and enough of the nearest have different texts: then there is no need to
    look for more."""
    columns, floor = gathered.hits.columns, request.policy.min_similarity
    too_few = gathered.copies or gathered.near < request.k or columns.gated or floor > 0.0
    return not too_few and math.isfinite(sum(columns.similarities))


def with_leads(these: Candidates, answers: Sequence[Answer]) -> Candidates:
    """Add the leads of all sources to the candidates; each candidate gets the same names. The leads of the vectors come
    first, because others depend on the baseline."""
    leads: dict[str, Sequence[float]] = {}
    so_far = these.with_leads(leads)
    for of_vectors in (True, False):
        for one in answers:
            if one.leads is not None and (one.source == DENSE) is of_vectors:
                leads.update(one.leads(so_far))
    return these.with_leads(leads)  # hits that a source looked at were made with some of the leads only


class InOrder(NamedTuple):
    """The candidates by score, with the use and the notes that belong to this ranking."""

    ranked: Ranked
    use: Use
    notes: tuple[str, ...] = ()


def in_order(request: Request, gathered: Gathered, judged: Reranked, facts: SameFacts = OUR_RULES) -> InOrder:
    """The candidates by score."""
    use, words, intent = use_of(gathered.known, request), request.words, request.intent
    ranked = rank(
        judged.hits,
        request.policy,
        now=request.now,
        intent=intent,
        use=use,
        time_alone=bool(intent.windows) and of_time_alone(words, intent),
        newest_query=NewestFirstQuery(words, request.fields.speaker, facts.facts),
    )
    return InOrder(ranked, use, (*judged.notes, *facts.notes))


def choose(
    request: Request, gathered: Gathered, floor: FloorVerdict, candidates: InOrder, compared: Compared
) -> Recall:
    """The recall with the hits to return, and all other candidates with the reason why they were dropped."""
    ranked, policy = candidates.ranked, request.policy
    same = gathered.copies and not request.intent.windows  # the same words at another time are another memory
    kept, dropped = choose_hits(ranked, policy, k=request.k, same=same, vectors=compared.vectors)
    propensities: Mapping[str, float] = {}
    if policy.advanced.random_tail and request.draws and policy.shape != "top_down":
        tail = policy.advanced.random_tail
        kept, dropped, propensities = with_random_tail(kept, dropped, tail=tail, recall_id=request.id)
    if floor.refused is not None:
        dropped = (*[Dropped(one.id, floor.refused, one) for one in kept], *dropped)
        kept, propensities = (), {}
    because = gathered.because
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
        because={one.id: why for one in kept if (why := because.get(one.hit._stored_id))} if because else {},
    )
