"""READ FIRST. How does a recall work? Ask every source once, gather, rank, shape the answer, and count the reading."""

from __future__ import annotations

from contextlib import suppress

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.choose import (
    NO_FLOOR,
    NOT_COMPARED,
    OUR_RULES,
    Reranked,
    candidate_vectors,
    choose,
    in_order,
    relevance_floor,
    rerank_best,
    same_facts,
    with_leads,
)
from adaptive_memory_core.flow.count_reading import count_reading
from adaptive_memory_core.flow.episodes import by_episode, for_episodes, helpful_episodes, on_the_way, with_outline
from adaptive_memory_core.flow.neighbours import with_neighbours
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.widen import other_kind_of_user, under_decay, widen_search
from adaptive_memory_core.sources.ask import ask_sources
from adaptive_memory_core.sources.gather import Gathered, gather, timeline_of
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
