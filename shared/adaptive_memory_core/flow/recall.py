"""READ FIRST. How does a recall work? Ask every source once, gather, rank, shape the answer, and count the reading."""

from __future__ import annotations

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.gather import Gathered, gather
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.candidates.sources import ask_sources
from adaptive_memory_core.flow.candidates.way_down import led_to
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.steps.as_of_day import as_of_day
from adaptive_memory_core.flow.steps.asked_time import understand_time
from adaptive_memory_core.flow.steps.by_episode import by_episode, for_episodes, on_the_way
from adaptive_memory_core.flow.steps.candidate_vectors import candidate_vectors
from adaptive_memory_core.flow.steps.choose import choose, in_order
from adaptive_memory_core.flow.steps.count_reading import count_reading
from adaptive_memory_core.flow.steps.decay import under_decay
from adaptive_memory_core.flow.steps.helpful_episodes import helpful_episodes
from adaptive_memory_core.flow.steps.leads import with_leads
from adaptive_memory_core.flow.steps.neighbours import with_neighbours
from adaptive_memory_core.flow.steps.other_kind_of_user import other_kind_of_user
from adaptive_memory_core.flow.steps.outline import with_outline
from adaptive_memory_core.flow.steps.relevance_floor import relevance_floor
from adaptive_memory_core.flow.steps.rerank_best import rerank_best
from adaptive_memory_core.flow.steps.same_facts import same_facts
from adaptive_memory_core.flow.steps.tell_indexes import came_upon
from adaptive_memory_core.flow.steps.widen_search import widen_search


def recall(ports: Ports, request: Request) -> Recall:
    """The best hits for a cue; unless `reinforce` is False, they count as read."""
    answer, gathered = look_for(ports, request)
    around = with_neighbours(ports, request, answer)
    shown = helpful_episodes(request, around)
    tried(AdaptiveMemoryError, came_upon, ports, request, gathered)
    return count_reading(ports, request, shown, gathered)


def look_for(ports: Ports, request: Request) -> tuple[Recall, Gathered]:
    """The best hits, and what there was to choose from; nothing has changed yet."""
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
