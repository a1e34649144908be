"""What does one reader's verdict on a record of everyone's do for all? A share of what it does for the reader.

It is off unless the policy says so: what it moves is the importance that everyone sees, so whoever watches that closely
learns that somebody judged the record, though not who.
"""

from __future__ import annotations

from adaptive_memory_core.policy.policy import Policy


def common_boost(boost: float, moved: float, policy: Policy) -> float:
    """Everyone's boost after a verdict that has moved the reader's own by so much; within the usual bound.

    >>> policy = Policy().replace(useful={"common_share": 0.2})
    >>> common_boost(0.0, 0.05, policy), common_boost(0.02, -0.05, policy)
    (0.01, 0.01)
    >>> common_boost(0.5, 0.05, policy), common_boost(0.1, 0.05, Policy())
    (0.5, 0.1)
    """
    bound = policy.useful.importance_bound
    return min(bound, max(-bound, round(boost + policy.useful.common_share * moved, 12)))
