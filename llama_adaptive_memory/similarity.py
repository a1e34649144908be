"""What does the score of a node mean? A similarity, if its origin is known; else only an order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.score.signals import similarity as of_distance

Meaning = Literal["auto", "chroma", "calibrated", "relative"]
MEANINGS = ("auto", "chroma", "calibrated", "relative")
FARTHEST = {"l2": 4.0}  # squared, between unit vectors; 2 in the other spaces
ROUNDING = 1e-3
ABOVE_UNKNOWN = 0.1  # what the lowest of relative scores counts as beside nodes that have none


def check_meaning(value: str) -> str:
    if value not in MEANINGS:
        raise PolicyError(
            f"similarity is {shown(value)}. Give 'chroma' for scores of a ChromaVectorStore, 'calibrated' for scores "
            "where 1 is the same and 0 unrelated, 'relative' for any others (fused, re-ranked), or 'auto'."
        )
    return value


def meaning_of(scores: Sequence[float | None], asked: Meaning, *, space: str) -> Meaning:
    """What these scores are: as asked, or for "auto" Chroma's where they can be Chroma's.

    `ChromaVectorStore` gives `exp(-distance)`, which for unit vectors is never below `exp(-2)` (`exp(-4)` for l2) and
    never above 1. Fused scores lie below it, those of rankers mostly outside. Where they lie within, reading them as
    Chroma's keeps their order.

    >>> meaning_of([0.9, 0.5], "auto", space="cosine"), meaning_of([0.03, 0.02], "auto", space="cosine")
    ('chroma', 'relative')
    >>> meaning_of([7.2, -3.0], "auto", space="l2"), meaning_of([0.9], "calibrated", space="l2")
    ('relative', 'calibrated')
    """
    if asked != "auto":
        return asked
    lowest = math.exp(-FARTHEST.get(space, 2.0)) - ROUNDING
    known = [score for score in scores if score is not None]
    return "chroma" if all(lowest <= score <= 1.0 + ROUNDING for score in known) else "relative"


def chroma_score(similarity: float, *, space: str) -> float:
    """The score that a `ChromaVectorStore` gives to what is so near: `exp(-distance)`, whatever the space.

    >>> chroma_score(1.0, space="cosine"), round(chroma_score(0.38, space="cosine"), 2)
    (1.0, 0.54)
    >>> [one] = similarities([chroma_score(0.38, space="l2")], "chroma", space="l2")
    >>> round(one, 9)
    0.38
    """
    distance = (1.0 - similarity) * (2.0 if space == "l2" else 1.0)
    return math.exp(-max(0.0, distance))


def similarities(scores: Sequence[float | None], meaning: Meaning, *, space: str) -> list[float | None]:
    """Each score as a similarity: 1 is the same, 0 unrelated; an unknown one (None, NaN) stays unknown.

    >>> similarities([1.0, math.exp(-0.5), None], "chroma", space="cosine")
    [1.0, 0.5, None]
    >>> similarities([7.0, -3.0, 2.0], "relative", space="cosine")
    [1.0, 0.0, 0.5]
    >>> similarities([0.02, 0.02], "relative", space="l2")
    [0.5, 0.5]
    >>> similarities([7.0, None, 2.0], "relative", space="l2")
    [1.0, None, 0.1]
    """
    known = [score for score in scores if score is not None and math.isfinite(score)]
    if not known:
        return [None] * len(scores)
    low, high = min(known), max(known)
    least = 0.0 if len(known) == len(scores) else ABOVE_UNKNOWN

    def one(score: float | None) -> float | None:
        if score is None or not math.isfinite(score):
            return None
        if meaning == "chroma":
            return of_distance(-math.log(max(score, 1e-300)), space=space)
        if meaning == "relative":
            return 0.5 if high == low else least + (1.0 - least) * (score - low) / (high - low)
        return score

    return [one(score) for score in scores]
