"""Which messages does the hierarchy lead to, from its themes down? A source for recalls of the shape "top_down"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Asked
from adaptive_memory_core.hierarchy.nodes import Hierarchy
from adaptive_memory_core.hierarchy.top_down import WayDown, top_down
from adaptive_memory_core.policy.graph_and_hierarchy import HIERARCHY
from adaptive_memory_core.score.candidates import Candidates
from adaptive_memory_core.score.relevance import baseline_in

UNFINISHED = "the shape 'top_down' was left out: the hierarchy is not made of all episodes yet, the rest is under way"
NOTHING_OBSERVED = "the shape 'top_down' was left out: nothing was observed yet, or no episode has ended"


@dataclass(frozen=True, slots=True)
class Led:
    """The way that was gone, in which hierarchy; a lead on every candidate: what its episode is worth. What is in no
    episode, since it was not observed or its episode has not ended, stands for itself."""

    hierarchy: Hierarchy
    way: WayDown

    def worth(self, stored_id: str, similarity: float) -> float | None:
        """The score of a message's episode, or its own; None for one of an episode that was not come to."""
        episode = self.hierarchy.episode_of.get(stored_id)
        return min(1.0, max(0.0, similarity)) if episode is None else self.way.episodes.get(episode)

    def __call__(self, these: Candidates) -> dict[str, list[float]]:
        above = baseline_in(these.leads).above(np.array(these.columns.similarities)).tolist()
        each = zip(these.columns.stored_ids, above, strict=True)
        return {HIERARCHY: [self.worth(*one) or 0.0 for one in each]}


class WayDownHierarchy:
    """Asked after vectors, since it needs the cue's. Without a hierarchy the recall goes on without it."""

    name = "way down"

    def wanted(self, request: Request) -> bool:
        """As of an earlier day the hierarchy of today is of no use: it knows what was said later."""
        return request.policy.shape == "top_down" and request.as_of is None

    def ask(self, ports: Ports, request: Request, asked: Asked) -> Answer:
        """The messages of the episodes that the themes lead to, best episode first."""
        cue = asked.cue(request)
        looked = tried(AdaptiveMemoryError, ports.hierarchy.view, request.scope.own)
        hierarchy = looked.value
        if looked.error is not None:
            return Answer(self.name, error=looked.error)
        if hierarchy is None or cue.vector is None or not hierarchy.semantics:
            return Answer(self.name, notes=(NOTHING_OBSERVED,))
        if not hierarchy.complete:  # what is not distilled could not be reached, and would be left out
            return Answer(self.name, notes=(UNFINISHED,))
        way = top_down(hierarchy, cue.vector, request.policy.advanced.hierarchy)
        messages = [one for episode in way.episodes for one in hierarchy.episodes[episode].messages]
        named = [one for one in messages if asked.passing is None or one in asked.passing]
        return Answer(self.name, named=named, leads=Led(hierarchy, way))


def led_to(answers: Sequence[Answer]) -> Led | None:
    """The way that was gone, if any was."""
    return next((one.leads for one in answers if isinstance(one.leads, Led) and one.leads.way.episodes), None)
