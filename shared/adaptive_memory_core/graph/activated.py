"""Which sentences does a round of propagation activate? The best ones, and the best of each name in the question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adaptive_memory_core.graph.ports import Array, SentenceKey


def activated(keys: Array, scores: Array, begins: Sequence[str | None], most: int) -> dict[SentenceKey, float]:
    """The `most` best sentences as shares of the best, and of every name in the question from which none of these was
    reached the best one: who asks of two things is to have both. `begins` are these names, a sentence each.

    >>> activated(np.array([7, 8, 9]), np.array([4.0, 3.0, 1.0]), ["ada", "ada", "bob"], 1)
    {7: 1.0, 9: 0.25}
    >>> activated(np.array([7, 8, 9]), np.array([4.0, 3.0, 0.0]), ["ada", None, "bob"], 1)
    {7: 1.0}
    """
    order = np.argsort(-scores, kind="stable").tolist()
    greatest = float(scores[order[0]])
    if greatest <= 0.0:
        return {}
    chosen, missing = order[:most], set(begins) - {begins[one] for one in order[:most]} - {None}
    for one in order[most:]:
        if not missing:
            break
        if begins[one] in missing:
            missing.discard(begins[one])
            chosen.append(one)
    return {int(keys[one]): float(scores[one]) / greatest for one in chosen if scores[one] > 0.0}
