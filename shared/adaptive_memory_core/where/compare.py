"""When are two metadata values equal, or one larger, for Chroma? It keeps each type in a column of its own."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from adaptive_memory_core.where.numbers import truncated

Scalar = str | bool | int | float
Test = Callable[[object], bool]
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def compares(name: str, operand: Scalar) -> Test:
    """Whether a value stands in this relation to the operand; values of another type never do.

    >>> [compares("$eq", 3)(value) for value in (3, 3.0, True, "3", [3], None)]
    [True, True, False, False, False, False]
    >>> compares("$eq", 3.5)(3), compares("$gt", 3.5)(4)
    (True, True)
    """
    relation = COMPARISONS[name]
    if isinstance(operand, bool | str):
        return lambda value: type(value) is type(operand) and relation(value, operand)
    whole, real = (operand, float(operand)) if isinstance(operand, int) else (truncated(operand), operand)
    sides = {int: whole, float: real}
    return lambda value: type(value) in sides and relation(value, sides[type(value)])


def equals_any(operands: Sequence[Scalar]) -> Test:
    """Whether a value equals one of them."""
    tests = [compares("$eq", one) for one in operands]
    return lambda value: any(test(value) for test in tests)


def contains(operand: Scalar) -> Test:
    """Whether a list has the operand in it, of its very type.

    >>> contains(1)([1, 2]), contains(1.0)([1, 2]), contains("tea")("tea")
    (True, False, False)
    """
    return lambda value: isinstance(value, list) and any(type(one) is type(operand) and one == operand for one in value)
