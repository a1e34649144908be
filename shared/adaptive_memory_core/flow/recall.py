"""READ FIRST. How does a recall work? Ask every source once, gather, rank, shape the answer, and count the reading."""

from __future__ import annotations

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.choose import (
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
from adaptive_memory_core.sources.gather import Gathered, gather
from adaptive_memory_core.sources.graph_and_hierarchy import led_to
from adaptive_memory_core.sources.request import Request
from adaptive_memory_core.sources.times import as_of_day, understand_time


def recall(ports: Ports, request: Request) -> Recall:
    """The best hits for a cue; unless `reinforce` is False, they count as read."""
    answer, gathered = look_for(ports, request)
    around = with_neighbours(ports, request, answer)
    shown = helpful_episodes(request, around)
    return count_reading(ports, request, shown, gathered)


def look_for(ports: Ports, request: Request) -> tuple[Recall, Gathered]:
    """The best hits, and what there was to choose from; nothing has changed yet."""
    request = request._replace(version=tried(LedgerError, ports.ledger.states.version, request.scope).value)
    request = as_of_day(ports, request)
    request = understand_time(ports, request)
    answers = ask_sources(ports, request)
    found = gather(ports, request, answers)
    gathered = other_kind_of_user(ports, request, found)
    wider = widen_search(ports, request, gathered)
    present = under_decay(ports, request, wider)
    led = led_to(answers)
    hits = on_the_way(with_leads(present.hits, answers), led)
    floor = relevance_floor(ports, request, present, hits)
    judged = rerank_best(request, hits, floor)
    facts = same_facts(request, judged.hits, floor)
    candidates = in_order(request, present, judged, facts)
    compared = candidate_vectors(ports, request, candidates.ranked.hits)
    chosen = choose(for_episodes(request, led), present, floor, candidates, compared)
    answer = with_outline(ports, request, by_episode(request, chosen, led), led)
    return answer, present
