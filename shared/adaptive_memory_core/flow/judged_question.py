"""Which question is a verdict about? The recall's cue with its vector, which is made anew where only the log has it."""

from __future__ import annotations

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.time_limits import embedded
from adaptive_memory_core.flow.past_recall import PastRecall
from adaptive_memory_core.flow.ports import JudgedQuestion, Ports
from adaptive_memory_core.policy.policy import Policy


def judged_question(ports: Ports, past: PastRecall, policy: Policy) -> Flow[JudgedQuestion | None]:
    """The question; None where the policy does not want it, or its vector cannot be had: the verdict counts without."""
    if policy.asked_before.weight == 0.0 or policy.blending != "bounded":
        return None
    vector, text = past.cue.vector, past.cue.text
    if vector is None and text.strip():
        try:
            vector = yield from embedded(ports, text, policy)
        except AdaptiveMemoryError:  # of the embedder: a verdict is not lost for that
            return None
    return None if vector is None else JudgedQuestion(past.id, vector, policy.asked_before.most)
