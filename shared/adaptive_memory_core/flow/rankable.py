"""How is one question ranked under many policies? With its candidates, looked for once, and all that ranking needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow.choose import (
    NO_FLOOR,
    NOT_COMPARED,
    OUR_RULES,
    Compared,
    Reranked,
    SameFacts,
    candidate_vectors,
    choose,
    floor_verdict,
    in_order,
    same_facts,
)
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit
from adaptive_memory_core.sources.gather import Gathered
from adaptive_memory_core.sources.request import Request

HitsUnder = Callable[[Policy], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Rankable:
    """A question with its candidates. `ranked` asks nobody: the steps of a recall that come after the searching."""

    request: Request
    gathered: Gathered
    hits_under: HitsUnder
    unrelated: float | None = None
    compared: Compared = NOT_COMPARED
    facts: SameFacts = OUR_RULES

    def ranked(self, policy: Policy, k: int | None = None) -> Recall:
        """The answer under this policy."""
        request = replace(self.request, policy=policy, k=self.request.k if k is None else k)
        hits = _with_refusals(request, self.hits_under(policy))
        floor = NO_FLOOR if self.unrelated is None else floor_verdict(self.unrelated, policy)
        gathered = self.gathered.with_hits(hits, ())
        candidates = in_order(request, gathered, Reranked(hits), self.facts)
        return choose(request, gathered, floor, candidates, self.compared)


def rankable(
    ports: Ports, request: Request, gathered: Gathered, hits_under: HitsUnder, unrelated: float | None = None
) -> Rankable:
    """The question with what only a store or the caller's own rule can tell, asked once, for the request's policy."""
    hits = _with_refusals(request, hits_under(request.policy))
    floor = NO_FLOOR if unrelated is None else floor_verdict(unrelated, request.policy)
    compared = candidate_vectors(ports, request, hits)
    facts = same_facts(request, hits, floor)
    return Rankable(request, gathered, hits_under, unrelated, compared, facts)


def _with_refusals(request: Request, hits: Sequence[Hit]) -> Sequence[Hit]:
    refuse = request.refuse
    return hits if refuse is None else [replace(hit, refused=hit.refused or refuse(hit.record)) for hit in hits]
