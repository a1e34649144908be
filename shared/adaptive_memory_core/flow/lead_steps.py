"""Which channels and signals spoke for what was helpful? Its parts of the score, against those above it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from adaptive_memory_core.flow.past_recall import Candidate, PastRecall
from adaptive_memory_core.learn.lead_weights import step
from adaptive_memory_core.policy.policy import Policy

NOT_LEARNED = frozenset({"strength", "relevance", "useful"})  # of a candidate's signals; what is useful has its own


def lead_steps(
    past: PastRecall, judged: Sequence[str], helpful: Collection[str], policy: Policy
) -> dict[str, dict[str, float]]:
    """For each record that was judged, by how many octaves its being helpful moves each part. What was shown above it
    and was helpful as well says nothing against it."""
    size = policy.useful.lead_step
    shown = [one for one in past.candidates if not one.dropped]
    if size == 0.0 or len(shown) < 2:
        return {}
    places = {one.id: place for place, one in enumerate(shown)}
    return {
        one: step(_leads(shown[place]), [_leads(other) for other in shown[:place] if other.id not in helpful], size)
        for one in judged
        if (place := places.get(one)) is not None
    }


def _leads(candidate: Candidate) -> dict[str, float]:
    """The parts of its score that channels and signals have; one alone has nothing to be weighed against."""
    names = candidate.parts.keys() & candidate.signals.keys() - NOT_LEARNED
    return {name: candidate.parts[name] for name in sorted(names)} if len(names) > 1 else {}
