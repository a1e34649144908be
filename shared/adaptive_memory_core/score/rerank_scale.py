"""How do a reranker's numbers become shares in [0, 1], whatever their scale?"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.shown_in_errors import shown


def shares_of(given: Any, count: int) -> list[float]:
    """One number in [0, 1] for each text. Numbers that are all in [-1, 1], such as probabilities and cosines, are taken
    as they are, 0 for those below; others, such as a cross-encoder's logits or marks up to ten, are stretched from the
    worst to the best.

    >>> shares_of([-0.25, 1], 2), shares_of([-4.0, 6.0, 1.0], 3), shares_of([7, 7], 2)
    ([0.0, 1.0], [0.0, 1.0, 0.5], [0.5, 0.5])
    >>> shares_of([0.5], 2)
    Traceback (most recent call last):
    adaptive_memory_core.errors.InvalidInputError: it gave 1 numbers for 2 texts. Give one for each, in their order.
    """
    try:
        numbers = np.asarray({} if given is None else given, dtype=np.float64)  # None would be taken for NaN
    except (TypeError, ValueError):
        raise InvalidInputError(f"it gave {shown(given)}. Give a list of numbers, one for each text.") from None
    if numbers.shape not in ((count,), (count, 1)):
        raise InvalidInputError(f"it gave {numbers.size} numbers for {count} texts. Give one for each, in their order.")
    flat = numbers.reshape(count)
    if not np.isfinite(flat).all():
        raise InvalidInputError("it gave something that is no finite number. Give one for each text.")
    low, high = float(flat.min()), float(flat.max())
    if low >= -1.0 and high <= 1.0:
        return [max(0.0, float(one)) for one in flat]
    return [0.5 if low == high else float(one) for one in ((flat - low) / ((high - low) or 1.0))]
