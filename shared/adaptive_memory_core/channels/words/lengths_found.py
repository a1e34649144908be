"""How long are the texts that each channel finds best?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

BEST = 10  # of each channel, as many of both, whose lengths are compared; 5 to 15 is flat, benchmarks/recall_quality.py


class LengthsFound(NamedTuple):
    """The logarithms of the lengths, in characters, of what vectors and what words find, the best first, as many of
    both."""

    near: Sequence[float]
    worded: Sequence[float]


def lengths_found(texts: Sequence[str], similarities: Sequence[float], words: Sequence[float]) -> LengthsFound:
    """The lengths of the best candidates of each channel.

    >>> lengths_found(["a", "ab", "abc"], [0.9, 0.1, 0.0], [0.0, 0.0, 0.5])
    LengthsFound(near=[0.0], worded=[1.0986122886681098])
    """
    near, worded = _best(similarities), _best(words)
    count = min(len(near), len(worded))
    return LengthsFound(_lengths(texts, near[:count]), _lengths(texts, worded[:count]))


def usual_length(lengths: Sequence[float]) -> float:
    """The geometric mean, in characters.

    >>> round(usual_length([math.log(10), math.log(1_000)]), 6)
    100.0
    """
    return math.exp(sum(lengths) / len(lengths))


def _best(found: Sequence[float]) -> list[int]:
    """The numbers of those that are found best; none that is not found at all."""
    there = [number for number, one in enumerate(found) if one > 0.0]
    there.sort(key=found.__getitem__, reverse=True)
    return there[:BEST]


def _lengths(texts: Sequence[str], these: Sequence[int]) -> list[float]:
    return [math.log(len(texts[one]) or 1) for one in these]
