"""Metadata as columns that a filter is evaluated on, and the values that filters compare.

Chroma keeps each type in a separate column.

Numbers are compared as arrays. Each other value has a code, so a comparison is one of codes.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from adaptive_memory_core.records import Metadata

if TYPE_CHECKING:
    import numpy.typing as npt

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
    """Whether a value has a relation to an operand; values of another type never do.

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


Mask: TypeAlias = "npt.NDArray[np.bool_]"
UNKNOWN, INT, FLOAT, MISSING = -3, -2, -1, 0  # codes; those of values that are no numbers are larger
FIRST_CAPACITY = 16


class Column:
    """The values of one key, by the records' places. A record without the key passes no test.

    >>> column = Column(4)
    >>> for place, value in enumerate((3, "tea", 2.5)):
    ...     column.put(place, value)
    >>> column.mask(Compares("$gte", 2)).tolist(), column.mask(Compares("$eq", "tea")).tolist()
    ([True, False, True, False], [False, True, False, False])
    """

    def __init__(self, size: int) -> None:
        self.size = size
        capacity = max(size, FIRST_CAPACITY)
        self._codes = np.zeros(capacity, dtype=np.int32)
        self._wholes = np.zeros(capacity, dtype=np.int64)
        self._reals = np.zeros(capacity, dtype=np.float64)
        self._code_of: dict[Any, int] = {}
        self._lists: dict[int, list[Any]] = {}  # by their codes
        self._characters = 0  # of all texts that have a code

    @property
    def nbytes(self) -> int:
        values = 100 * len(self._code_of) + self._characters
        return self._codes.nbytes + self._wholes.nbytes + self._reals.nbytes + values

    @property
    def is_stale(self) -> bool:
        """Whether most values with a code are values that no record has any more."""
        return len(self._code_of) > 2 * self.size + FIRST_CAPACITY

    def grow(self, size: int) -> None:
        """Have places for so many records, the new ones without a value."""
        if size > len(self._codes):
            capacity = max(size, 2 * len(self._codes))
            for name in ("_codes", "_wholes", "_reals"):
                before = getattr(self, name)
                setattr(self, name, np.concatenate([before, np.zeros(capacity - len(before), dtype=before.dtype)]))
        self.size = size

    def put(self, place: int, value: object) -> None:
        """The record at this place has this value; None: not the key."""
        if isinstance(value, int) and not isinstance(value, bool):
            self._codes[place], self._wholes[place] = INT, value
        elif isinstance(value, float):
            self._codes[place], self._reals[place] = FLOAT, value
        else:
            self._codes[place] = MISSING if value is None else self._code(value)

    def remove(self, place: int) -> None:
        """The last record takes the place of this one."""
        last = self.size - 1
        for column in (self._codes, self._wholes, self._reals):
            column[place] = column[last]
        self._codes[last] = MISSING
        self.size = last

    def mask(self, test: Test) -> Mask:
        """Which records' values pass the test."""
        if isinstance(test, Contains):
            having = [code for code, value in self._lists.items() if test(value)]
            return np.isin(self._codes[: self.size], having)
        if isinstance(test, EqualsAny):
            either: Mask = np.logical_or.reduce([self._compared(Compares("$eq", one)) for one in test.operands])
            return either
        return self._compared(test)

    def containing(self, part: str) -> Mask:
        """Which records' texts have this in them, where the values are texts."""
        having = [code for (_, text), code in self._code_of.items() if part in text]
        return np.isin(self._codes[: self.size], having)

    def _compared(self, test: Compares) -> Mask:
        codes, relation = self._codes[: self.size], COMPARISONS[test.name]
        if isinstance(test.operand, str | bool):
            same: Mask = codes == self._code_of.get(_key(test.operand), UNKNOWN)
            return same
        sides: Mapping[type, Scalar] = test.sides
        wholes = (codes == INT) & relation(self._wholes[: self.size], sides[int])
        found: Mask = wholes | ((codes == FLOAT) & relation(self._reals[: self.size], sides[float]))
        return found

    def _code(self, value: object) -> int:
        key = _key(value)
        code = self._code_of.get(key)
        if code is None:
            code = self._code_of[key] = len(self._code_of) + 1
            if isinstance(value, list):
                self._lists[code] = value
            elif isinstance(value, str):
                self._characters += len(value)
        return code


class MetadataColumns:
    """The columns of some records, made for each key when it is first asked for."""

    def __init__(self) -> None:
        self._of: dict[str, Column] = {}
        self._size = 0

    @property
    def nbytes(self) -> int:
        return sum(one.nbytes for one in self._of.values())

    def keys(self) -> Set[str]:
        return self._of.keys()

    def of(self, key: str) -> Column:
        return self._of[key]

    def start(self, keys: Iterable[str]) -> None:
        """Have empty columns for these keys."""
        self._of.update({key: Column(self._size) for key in keys})

    def grow(self, size: int) -> None:
        """Have places for so many records. Columns with too many former values are let go, and made again when they are
        asked for."""
        self._size = size
        self._of = {key: column for key, column in self._of.items() if not column.is_stale}
        for column in self._of.values():
            column.grow(size)

    def put(self, place: int, metadata: Metadata, keys: Iterable[str] | None = None) -> None:
        """What the record at this place has; of these keys, or of all that there are columns for."""
        for key in self._of if keys is None else keys:
            self._of[key].put(place, metadata.get(key))

    def remove(self, place: int) -> None:
        """The last record takes the place of this one."""
        self._size -= 1
        for column in self._of.values():
            column.remove(place)


def _key(value: object) -> Hashable:
    """What tells values apart that a filter tells apart."""
    if isinstance(value, str | bool):
        return type(value), value
    return json.dumps(value)
