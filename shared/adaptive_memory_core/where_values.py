"""How Chroma reads the numbers of a filter, and when two metadata values are equal, or one larger, for it.

It keeps each type in a column of its own.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

ChromaNumber = int | float
LOWEST, HIGHEST = -(2**63), 2**63 - 1  # what Chroma keeps as an int
_UNSIGNED = 2**64
_STEP = 308  # the largest power of ten that a float holds


def chroma_number(value: ChromaNumber) -> ChromaNumber | None:
    """The number as Chroma has it: an int of 64 bits, or a float; None where it refuses the filter.

    An int above its ints is refused, unless it needs more than 64 bits: then it is a float.

    >>> chroma_number(3), chroma_number(0.5), chroma_number(2**63), chroma_number(2**64), chroma_number(math.nan)
    (3, 0.5, None, 1.8446744073709552e+19, None)
    """
    if isinstance(value, float):
        return as_float(value)
    whole = int(value)
    if LOWEST <= whole <= HIGHEST:
        return whole
    return None if 0 < whole < _UNSIGNED else as_float(whole)


def as_float(value: ChromaNumber) -> float | None:
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


def _digits(value: ChromaNumber) -> tuple[int, int]:
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


Scalar = str | bool | int | float
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "$eq": operator.eq,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


class Compares(NamedTuple):
    """Whether a value stands in a relation to an operand; values of another type never do.

    >>> [Compares("$eq", 3)(value) for value in (3, 3.0, True, "3", [3], None)]
    [True, True, False, False, False, False]
    >>> Compares("$eq", 3.5)(3), Compares("$gt", 3.5)(4)
    (True, True)
    """

    name: str
    operand: Scalar

    def __call__(self, value: object) -> bool:
        return type(value) in (sides := self.sides) and bool(COMPARISONS[self.name](value, sides[type(value)]))

    @property
    def sides(self) -> dict[type, Scalar]:
        """What a value of each type is compared with."""
        if isinstance(self.operand, bool | str):
            return {type(self.operand): self.operand}
        whole = self.operand if isinstance(self.operand, int) else truncated(self.operand)
        return {int: whole, float: float(self.operand)}


class EqualsAny(NamedTuple):
    """Whether a value equals one of some operands."""

    operands: tuple[Scalar, ...]

    def __call__(self, value: object) -> bool:
        return any(Compares("$eq", one)(value) for one in self.operands)


class Contains(NamedTuple):
    """Whether a list has the operand in it, of its very type.

    >>> Contains(1)([1, 2]), Contains(1.0)([1, 2]), Contains("tea")("tea")
    (True, False, False)
    """

    operand: Scalar

    def __call__(self, value: object) -> bool:
        if not isinstance(value, list):
            return False
        return any(type(one) is type(self.operand) and one == self.operand for one in value)


Test = Compares | EqualsAny | Contains
