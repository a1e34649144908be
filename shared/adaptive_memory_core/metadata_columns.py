"""Metadata as columns for evaluating filters, and the values that filters compare.

Chroma stores each type in a separate column.

Numbers are compared as arrays. Every other value has a code, and the codes are compared.
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
LOWEST, HIGHEST = -(2**63), 2**63 - 1  # the range of Chroma's ints
_UNSIGNED = 2**64
_STEP = 308  # the largest power of ten in a float


def chroma_number(value: ChromaNumber) -> ChromaNumber | None:
    """The number as Chroma stores it: a 64-bit int, or a float; None if Chroma rejects the filter.

    An int above the range is rejected, unless it needs more than 64 bits: then it is a float.

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
    """The float that Chroma parses from the number's digits, with one extra rounding by a division or multiplication.

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
    """The digits without the point, up to 64 bits, and their power of ten."""
    text, _, power = (repr(float(value)) if isinstance(value, float) else str(value)).lstrip("-").partition("e")
    whole, _, fraction = text.partition(".")
    digits, exponent = int(whole + fraction), int(power or 0) - len(fraction)
    while digits >= _UNSIGNED:
        digits, exponent = digits // 10, exponent + 1
    return digits, exponent


def truncated(value: float) -> int:
    """The int that Chroma compares ints with if the operand is a float.

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
        """The operand for values of each type."""
        if isinstance(self.operand, bool | str):
            return {type(self.operand): self.operand}
        whole = self.operand if isinstance(self.operand, int) else truncated(self.operand)
        return {int: whole, float: float(self.operand)}


class EqualsAny(NamedTuple):
    """Whether a value equals any of the operands."""

    operands: tuple[Scalar, ...]

    def __call__(self, value: object) -> bool:
        return any(Compares("$eq", one)(value) for one in self.operands)


class Contains(NamedTuple):
    """Whether a list contains the operand, of exactly the same type.

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
UNKNOWN, INT, FLOAT, MISSING = -3, -2, -1, 0  # codes; other values have larger codes
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
        self._numbers: set[int] = set()  # INT and FLOAT, once there has been such a number
        self._characters = 0  # of all texts with a code

    @property
    def nbytes(self) -> int:
        values = 100 * len(self._code_of) + self._characters
        return self._codes.nbytes + self._wholes.nbytes + self._reals.nbytes + values

    @property
    def is_stale(self) -> bool:
        """Whether most values with a code are no longer used by any record."""
        return len(self._code_of) > 2 * self.size + FIRST_CAPACITY

    def grow(self, size: int) -> None:
        """Make room for `size` records; new places have no value."""
        if size > len(self._codes):
            capacity = max(size, 2 * len(self._codes))
            for name in ("_codes", "_wholes", "_reals"):
                before = getattr(self, name)
                setattr(self, name, np.concatenate([before, np.zeros(capacity - len(before), dtype=before.dtype)]))
        self.size = size

    def put(self, place: int, value: object) -> None:
        """Set the value of the record at this place; None if it does not have the key."""
        if isinstance(value, int) and not isinstance(value, bool):
            self._codes[place], self._wholes[place] = INT, value
            self._numbers.add(INT)
        elif isinstance(value, float):
            self._codes[place], self._reals[place] = FLOAT, value
            self._numbers.add(FLOAT)
        else:
            self._codes[place] = MISSING if value is None else self._code(value)

    def remove(self, place: int) -> None:
        """Remove the value at this place; the last record moves there."""
        last = self.size - 1
        for column in (self._codes, self._wholes, self._reals):
            column[place] = column[last]
        self._codes[last] = MISSING
        self.size = last

    def mask(self, test: Test) -> Mask:
        """A mask of the records whose values pass the test."""
        if isinstance(test, Contains):
            having = [code for code, value in self._lists.items() if test(value)]
            return np.isin(self._codes[: self.size], having)
        if isinstance(test, EqualsAny):
            either: Mask = np.logical_or.reduce([self._compared(Compares("$eq", one)) for one in test.operands])
            return either
        return self._compared(test)

    def containing(self, part: str) -> Mask:
        """A mask of the records whose value is a text that contains this part."""
        having = [code for (_, text), code in self._code_of.items() if part in text]
        return np.isin(self._codes[: self.size], having)

    def _compared(self, test: Compares) -> Mask:
        codes, relation = self._codes[: self.size], COMPARISONS[test.name]
        if isinstance(test.operand, str | bool):
            same: Mask = codes == self._code_of.get(_key(test.operand), UNKNOWN)
            return same
        sides: Mapping[type, Scalar] = test.sides
        found: Mask = np.zeros(self.size, dtype=bool)
        if INT in self._numbers:
            found |= (codes == INT) & relation(self._wholes[: self.size], sides[int])
        if FLOAT in self._numbers:
            found |= (codes == FLOAT) & relation(self._reals[: self.size], sides[float])
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
    """Columns of records, created for each key on first use."""

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
        """Create empty columns for these keys."""
        self._of.update({key: Column(self._size) for key in keys})

    def grow(self, size: int) -> None:
        """Make room for `size` records. Columns with too many unused values are dropped, and rebuilt on next use."""
        self._size = size
        self._of = {key: column for key, column in self._of.items() if not column.is_stale}
        for column in self._of.values():
            column.grow(size)

    def put(self, place: int, metadata: Metadata, keys: Iterable[str] | None = None) -> None:
        """Set the values of the record at this place, for these keys or for all existing columns."""
        for key in self._of if keys is None else keys:
            self._of[key].put(place, metadata.get(key))

    def remove(self, place: int) -> None:
        """Remove the record at this place; the last record moves there."""
        self._size -= 1
        for column in self._of.values():
            column.remove(place)


def _key(value: object) -> Hashable:
    """A key that is equal only for values that filters treat as equal."""
    if isinstance(value, str | bool):
        return type(value), value
    return json.dumps(value)
