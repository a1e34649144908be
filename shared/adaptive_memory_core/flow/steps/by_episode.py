"""Which hits stand for the episodes that a recall came to? The best message of each; the others are shown with it."""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.candidates.way_down import Led
from adaptive_memory_core.frozen import changed
from adaptive_memory_core.records import Dropped, Hit, Scored
from adaptive_memory_core.score.candidates import Candidates, columns_of
from adaptive_memory_core.score.gates import BEYOND_K

ELSEWHERE = "in no episode that the themes lead to"


def on_the_way(hits: Candidates, led: Led | None) -> Candidates:
    """The candidates; those of no chosen episode are refused."""
    if led is None:
        return hits
    return columns_of([hit if _is_there(hit, led) else changed(hit, refused=hit.refused or ELSEWHERE) for hit in hits])


def for_episodes(request: Request, led: Led | None) -> Request:
    """The request with room for all messages of the episodes, and for `k` hits of none, of which `k` are wanted."""
    if led is None:
        return request
    messages = sum(len(led.hierarchy.episodes[one].messages) for one in led.way.episodes)
    return replace(request, k=request.k + messages)


def by_episode(request: Request, answer: Recall, led: Led | None) -> Recall:
    """At most `k` hits: the best message of each episode, and what is in none. Without a hierarchy, as it is."""
    if led is None:
        return answer
    kept: dict[int | str, Scored] = {}
    dropped: list[Dropped] = []
    for hit in answer.kept:
        stored_id = hit.hit._stored_id
        episode = led.hierarchy.episode_of.get(stored_id, stored_id)
        best = kept.get(episode)
        if best is None and len(kept) < request.k:
            kept[episode] = hit
        else:
            dropped.append(Dropped(hit.id, BEYOND_K if best is None else f"in the episode of {best.id}", hit))
    return replace(answer, k=request.k, kept=tuple(kept.values()), dropped=(*dropped, *answer.dropped))


def _is_there(hit: Hit, led: Led) -> bool:
    return led.worth(hit._stored_id, hit.similarity) is not None
