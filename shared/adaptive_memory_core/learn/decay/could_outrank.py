"""Could a record beyond the candidates still win? The best that decay leaves to unseen records, against those seen."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.gates import unfit
from adaptive_memory_core.score.signals import weakened


def least_strength(hits: Sequence[Hit], policy: Policy, *, bound: float, k: int, now: float) -> float | None:
    """The strength that a record of at most the similarity `bound` would need to come among the k best of these hits;
    None if none does.

    >>> from adaptive_memory_core.records import ReadState, Record
    >>> faded, whole = ReadState(strength=0.25), ReadState()
    >>> hits = [Hit(Record("a", "text", read=faded), 0.8, "a"), Hit(Record("b", "text", read=faded), 0.4, "b")]
    >>> least_strength(hits, Policy(), bound=0.4, k=1, now=0.0)        # 0.8 * 0.25 = 0.2, which is half of 0.4
    0.5
    >>> whole_one = Hit(Record("a", "text", read=whole), 0.8, "a")
    >>> least_strength([whole_one, *hits], Policy(), bound=0.4, k=1, now=0.0) is None
    True
    """
    left = sorted((_left(hit, policy) for hit in hits if unfit(hit, policy, now=now) is None), reverse=True)
    least = left[k - 1] if len(left) >= k else 0.0
    if not bound > 0.0 or least >= bound or policy.decay.strength_weight == 0:
        return None
    return max(0.0, (least / bound - (1.0 - policy.decay.strength_weight)) / policy.decay.strength_weight)


def strongest(hits: Sequence[Hit], policy: Policy, *, k: int, now: float) -> list[Hit]:
    """Of many hits the candidates: the best by what decay has left of their similarity, and those that gates drop."""
    fit = [hit for hit in hits if unfit(hit, policy, now=now) is None]
    best = sorted(fit, key=lambda hit: (-_left(hit, policy), -hit.similarity))[: max(policy.recall_k, k)]
    out = [hit for hit in hits if unfit(hit, policy, now=now) is not None]
    return [*best, *out[: policy.recall_k]]


def _left(hit: Hit, policy: Policy) -> float:
    return weakened(hit.similarity, hit.record.read.strength, policy)
