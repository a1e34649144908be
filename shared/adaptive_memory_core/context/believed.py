"""Which channel was believed, and why? One line on how far the vectors counted beside the words."""

from __future__ import annotations

from collections.abc import Mapping

from adaptive_memory_core.channels.fuse import shares_of
from adaptive_memory_core.policy.fusion import CHANCE
from adaptive_memory_core.policy.policy import Policy

BY_VECTORS = ("similarity", "before", "company")


def believed(signals: Mapping[str, float], policy: Policy) -> list[str]:
    """What the vectors counted in the relevance of the hits, one of which has these signals.

    >>> believed({"similarity": 0.5, "words": 0.5, "chance": 0.25}, Policy())[0][:63]
    'vectors count 40 % of the relevance, words 60 %: the chance tha'
    >>> believed({"similarity": 0.5}, Policy())
    []
    """
    chance, fusion = signals.get(CHANCE), policy.weighing
    if chance is None or fusion.method == "rrf":
        return []
    shares = shares_of(signals, chance, fusion, policy.own_weights)
    vectors = sum(shares.get(name, 0.0) for name in BY_VECTORS)
    words = sum(share for name, share in shares.items() if name in fusion.leads and name not in BY_VECTORS)
    why = f"the chance that words match as well as the best ones here by accident is {100 * chance:.2g} %"
    return [f"vectors count {100 * vectors:.0f} % of the relevance, words {100 * words:.0f} %: {why}"]
