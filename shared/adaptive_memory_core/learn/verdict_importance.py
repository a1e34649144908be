"""How does a verdict change the importance, and a demotion undo that? A bounded share of it, up or down."""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState, Verdict


def judged(boost: float, verdict: Verdict, policy: Policy) -> float:
    """The boost after one verdict: one moves the importance by `importance_step`, all by `importance_bound` at most.

    >>> judged(0.0, Verdict.HELPFUL, Policy()), judged(0.0, Verdict.UNHELPFUL, Policy())
    (0.05, -0.05)
    >>> judged(0.5, Verdict.HELPFUL, Policy())
    0.5
    """
    step, bound = policy.useful.importance_step, policy.useful.importance_bound
    moved = (1.0 + boost) * (1.0 + (step if verdict is Verdict.HELPFUL else -step)) - 1.0
    return min(bound, max(-bound, round(moved, 12)))


def rejudged(
    boost: float, verdict: Verdict, earlier: tuple[float, float] | None, policy: Policy
) -> tuple[float, float]:
    """The boost without and with a verdict. An earlier one that it replaces, as such a pair, is taken back first.

    >>> rejudged(0.0, Verdict.HELPFUL, None, Policy())
    (0.0, 0.05)
    >>> rejudged(0.05, Verdict.UNHELPFUL, (0.0, 0.05), Policy())      # a changed mind
    (0.0, -0.05)
    >>> rejudged(-1.0, Verdict.HELPFUL, (0.25, -1.0), Policy())       # nothing is left to tell from; what was before is
    (0.25, 0.3125)
    """
    before, after = (0.0, 0.0) if earlier is None else earlier
    without = before if after <= -1.0 else round((1.0 + boost) * (1.0 + before) / (1.0 + after) - 1.0, 12)
    return without, judged(without, verdict, policy)


def demoted(state: ReadState, policy: Policy) -> ReadState:
    """The state of a record that was put back by hand: unpinned, not remembered, its reads and good verdicts forgotten.

    What happened stays: `last_read` and `retrieval_count` are history. What they earn is gone.

    >>> demoted(ReadState(retrieval_count=9, warmth=9.0, remembered=True, boost=0.2), Policy()).boost
    -0.05
    """
    return replace(
        state,
        pinned=False,
        remembered=False,
        credit=0,
        warmth=0.0,
        streak=0,
        refreshed_at=None,
        boost=judged(min(0.0, state.boost), Verdict.UNHELPFUL, policy),
        useful_at=None,
        useful_step=0,
        helpful=0,
    )
