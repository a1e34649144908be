"""Are the texts that words find longer than those that vectors find? Then they have the cue's words sooner by accident.

How rare a word is, is known of all records of a scope. Where a scope holds labels beside long replies, a reply has some
words of any cue, though each is rare among all records, and no label has as many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

BEST = 10  # of each channel, as many of both, whose lengths are compared; 5 to 15 is flat, benchmarks/recall_quality.py
USUAL_RATIO = 2.7  # of the lengths, up to which nothing is doubted; 2 to 3.3 is flat, same benchmark
WORDS_BY_ACCIDENT = 5.0  # words that a longer text may have by accident, each likelier by the ratio; 4 to 6 is flat


def as_many_texts(texts: Sequence[str], similarities: Sequence[float], words: Sequence[float]) -> float:
    """How many times as many texts those that words find are as good as, being longer than the nearest: texts r times
    as long are as good as r times as many, for each word.

    >>> round(as_many_texts(["lost card", "word " * 9], [0.9, 0.1], [0.0, 0.5]), 1)
    21.8
    >>> as_many_texts(["lost card", "word " * 9], [0.1, 0.9], [0.5, 0.0])    # words find the shorter
    1.0
    """
    near, worded = _best(similarities), _best(words)
    count = min(len(near), len(worded))
    if count == 0:
        return 1.0
    longer = _length(texts, worded[:count]) / _length(texts, near[:count]) / USUAL_RATIO
    return math.pow(max(1.0, longer), WORDS_BY_ACCIDENT)


def chance_among(chance: float, times: float) -> float:
    """The chance that one of so many times as many records matches the cue's words as well by accident.

    >>> round(chance_among(0.001, 21.8), 2), chance_among(0.001, 1.0), chance_among(1.0, 9.0)
    (0.02, 0.001, 1.0)
    """
    return chance if times <= 1.0 or chance >= 1.0 else -math.expm1(math.log1p(-chance) * times)


def _best(found: Sequence[float]) -> list[int]:
    """The numbers of those that are found best; none that is not found at all."""
    there = [number for number, one in enumerate(found) if one > 0.0]
    there.sort(key=found.__getitem__, reverse=True)
    return there[:BEST]


def _length(texts: Sequence[str], these: Sequence[int]) -> float:
    """How long they are, in characters: the geometric mean."""
    return math.exp(sum([math.log(len(texts[one]) or 1) for one in these]) / len(these))
