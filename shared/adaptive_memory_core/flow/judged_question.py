"""Which question is a verdict about? The recall's cue with its vector, which is made anew where only the log has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.time_limits import embedded
from adaptive_memory_core.flow.past_recall import Candidate, PastRecall
from adaptive_memory_core.flow.ports import JudgedQuestion, Ports
from adaptive_memory_core.policy.channel_names import GRAPH
from adaptive_memory_core.policy.policy import Policy


def judged_question(
    ports: Ports, past: PastRecall, stored: Mapping[str, str], policy: Policy
) -> Flow[JudgedQuestion | None]:
    """The question; None where the policy does not want it, or its vector cannot be had: the verdict counts without.
    `stored` are the ids in the collection of what is judged, by its own."""
    if not _wanted(policy):
        return None
    vector, text = past.cue.vector, past.cue.text
    if vector is None and text.strip():
        try:
            vector = yield from embedded(ports, text, policy)
        except AdaptiveMemoryError:  # of the embedder: a verdict is not lost for that
            return None
    if vector is None:
        return None
    ahead = {stored[one]: by for one, by in stood_ahead(past.candidates).items() if one in stored}
    return JudgedQuestion(past.id, vector, policy.asked_before.most, ahead)


def _wanted(policy: Policy) -> bool:
    """Whether something learns of questions: recalls like this one, or the paper's form of the graph."""
    if GRAPH in policy.ways and policy.graph.form == "paper":
        return True
    return policy.asked_before.weight > 0.0 and policy.blending == "bounded"


def stood_ahead(candidates: Sequence[Candidate]) -> dict[str, float]:
    """By how much each candidate was more similar than the best of the others; below 0 where one stood before it.

    >>> near, far = Candidate("a", {"similarity": 0.75}, False), Candidate("b", {"similarity": 0.5}, True)
    >>> stood_ahead([near, far]), stood_ahead([near])
    ({'a': 0.25, 'b': -0.25}, {})
    """
    near = {one.id: one.signals["similarity"] for one in candidates if "similarity" in one.signals}
    if len(near) < 2:
        return {}
    first, second = sorted(near.values(), reverse=True)[:2]
    return {one: value - (second if value == first else first) for one, value in near.items()}
