"""Where on a picture does a number go, and which round numbers stand beside it?"""

from __future__ import annotations

import math
from typing import NamedTuple


class Scale(NamedTuple):
    """From numbers to places."""

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        """
        >>> Scale(0.0, 10.0, 40.0, 140.0)(5.0)
        90.0
        """
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.begin + share * (self.end - self.begin)


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers from below the lowest to above the highest; from 0 where that is near.

    >>> ticks(0.1, 0.9), ticks(12, 13)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [12.0, 12.25, 12.5, 12.75, 13.0])
    >>> ticks(0, 0), ticks(-0.02, 0.05)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [-0.02, 0.0, 0.02, 0.04, 0.06])
    """
    if high <= low:
        high = low + (abs(low) or 1.0)
    low = 0.0 if 0.0 < low <= high - low else low
    size = 10.0 ** math.floor(math.log10((high - low) / about))
    step = next(size * one for one in (1.0, 2.0, 2.5, 5.0, 10.0) if size * one * about >= (high - low) * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]


def digits_for(spread: float) -> int:
    """
    >>> digits_for(1.0), digits_for(0.04), digits_for(80.0)
    (2, 3, 0)
    """
    return 0 if spread >= 20 else 2 if spread >= 0.1 else 3
