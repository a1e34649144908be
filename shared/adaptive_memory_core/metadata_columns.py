"""Metadata as columns, one for each key that is filtered on, so that a filter is answered for all records at once.

Numbers are compared as arrays. Each other value has a code, so a comparison is one of codes.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from adaptive_memory_core.records import Metadata
from adaptive_memory_core.where_values import COMPARISONS, Compares, Contains, EqualsAny, Scalar, Test

Mask = npt.NDArray[np.bool_]
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
        self._code_of: dict[Hashable, int] = {}
        self._lists: dict[int, list[Any]] = {}  # by their codes

    @property
    def nbytes(self) -> int:
        return self._codes.nbytes + self._wholes.nbytes + self._reals.nbytes + 100 * len(self._code_of)

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
        return code


class Columns:
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
        """Have places for so many records."""
        self._size = size
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
