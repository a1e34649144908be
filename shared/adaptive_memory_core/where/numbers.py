"""Which number does Chroma read in a filter? It parses JSON in its own way, not always exactly."""

from __future__ import annotations

import math

Number = int | float
LOWEST, HIGHEST = -(2**63), 2**63 - 1  # what Chroma keeps as an int
_UNSIGNED = 2**64
_STEP = 308  # the largest power of ten that a float holds


def read(value: Number) -> Number | None:
    """The number as Chroma has it: an int of 64 bits, or a float; None where it refuses the filter.

    An int above its ints is refused, unless it needs more than 64 bits: then it is a float.

    >>> read(3), read(0.5), read(2**63), read(2**64), read(math.nan)
    (3, 0.5, None, 1.8446744073709552e+19, None)
    """
    if isinstance(value, float):
        return as_float(value)
    whole = int(value)
    if LOWEST <= whole <= HIGHEST:
        return whole
    return None if 0 < whole < _UNSIGNED else as_float(whole)


def as_float(value: Number) -> float | None:
    """The float that Chroma makes of the number's digits: a division or a multiplication, rounded once more.

    >>> as_float(0.1), as_float(7.038531e-26) == 7.038531e-26
    (0.1, False)
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    digits, exponent = _digits(value)
    found = float(digits)
    while abs(exponent) > _STEP and found:
        found = found / 1e308 if exponent < 0 else found * 1e308
        exponent += _STEP if exponent < 0 else -_STEP
    power = float(f"1e{min(abs(exponent), _STEP)}")
    found = found / power if exponent < 0 else found * power
    return None if math.isinf(found) else math.copysign(found, value)


def _digits(value: Number) -> tuple[int, int]:
    """The digits without the point, as far as 64 bits hold them, and the power of ten they stand for."""
    text, _, power = (repr(float(value)) if isinstance(value, float) else str(value)).lstrip("-").partition("e")
    whole, _, fraction = text.partition(".")
    digits, exponent = int(whole + fraction), int(power or 0) - len(fraction)
    while digits >= _UNSIGNED:
        digits, exponent = digits // 10, exponent + 1
    return digits, exponent


def truncated(value: float) -> int:
    """The int that Chroma compares its ints with, for a float.

    >>> truncated(3.7), truncated(-3.7), truncated(1e300)
    (3, -3, 9223372036854775807)
    """
    return max(LOWEST, min(HIGHEST, int(value)))
