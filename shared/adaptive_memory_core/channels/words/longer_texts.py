"""Are the texts that words find longer than those that vectors find? Then they have the cue's words sooner by accident.

How rare a word is, is known of all records of a scope. Where a scope holds labels beside long replies, a reply has some
words of any cue, though each is rare among all records, and no label has as many.
"""

from __future__ import annotations

import math

from adaptive_memory_core.channels.words.lengths_found import LengthsFound, usual_length

USUAL_RATIO = 2.7  # of the lengths, up to which nothing is doubted; 2 to 3.3 is flat, same benchmark
WORDS_BY_ACCIDENT = 5.0  # words that a longer text may have by accident, each likelier by the ratio; 4 to 6 is flat


def as_many_texts(found: LengthsFound) -> float:
    """How many times as many texts those that words find are as good as, being longer than the nearest: texts r times
    as long are as good as r times as many, for each word.

    >>> from adaptive_memory_core.channels.words.lengths_found import lengths_found
    >>> round(as_many_texts(lengths_found(["lost card", "word " * 9], [0.9, 0.1], [0.0, 0.5])), 1)
    21.8
    >>> as_many_texts(lengths_found(["lost card", "word " * 9], [0.1, 0.9], [0.5, 0.0]))    # words find the shorter
    1.0
    """
    if not found.near:
        return 1.0
    longer = usual_length(found.worded) / usual_length(found.near) / USUAL_RATIO
    return math.pow(max(1.0, longer), WORDS_BY_ACCIDENT)


def how_far_longer(found: LengthsFound) -> float:
    """How far the texts that words find are of another kind, being longer: 0 where they are as long as the nearest,
    1 where they are so much longer that they are doubted.

    >>> from math import log
    >>> [round(how_far_longer(LengthsFound([log(100)], [log(length)])), 2) for length in (50, 100, 164, 270, 900)]
    [0.0, 0.0, 0.5, 1.0, 1.0]
    """
    if not found.near:
        return 0.0
    longer = usual_length(found.worded) / usual_length(found.near)
    return min(1.0, max(0.0, math.log(longer) / math.log(USUAL_RATIO)))


def chance_between(chance: float, other: float, share: float) -> float:
    """A chance so far on the way to the other one, as powers.

    >>> chance_between(0.01, 1.0, 0.5), chance_between(0.01, 1.0, 0.0), chance_between(0.0, 1.0, 1.0)
    (0.1, 0.01, 1.0)
    """
    return float(chance ** (1.0 - share) * other**share)


def chance_among(chance: float, times: float) -> float:
    """The chance that one of so many times as many records matches the cue's words as well by accident.

    >>> round(chance_among(0.001, 21.8), 2), chance_among(0.001, 1.0), chance_among(1.0, 9.0)
    (0.02, 0.001, 1.0)
    """
    return chance if times <= 1.0 or chance >= 1.0 else -math.expm1(math.log1p(-chance) * times)
