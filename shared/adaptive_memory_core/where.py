"""Chroma's `where` filters as tests of metadata and text, which reject the same filters as Chroma.

Chroma looks a key up in one column per type; for a number, in both the int and the float column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import FilterError
from adaptive_memory_core.metadata_columns import (
    COMPARISONS,
    Compares,
    Contains,
    EqualsAny,
    Mask,
    MetadataColumns,
    Scalar,
    Test,
    as_float,
    chroma_number,
)
from adaptive_memory_core.records import Metadata

Where = Mapping[str, Any]
DOCUMENT, STORED_DOCUMENT = "#document", "chroma:document"  # a text's key in a filter, and in Chroma's storage
DEEPEST = 127  # levels of JSON that Chroma accepts
_NEGATIONS = {"$ne": "$eq", "$nin": "$in", "$not_contains": "$contains"}


class Predicate(Protocol):
    """A filter, applied to one record or to the columns of many records at once."""

    def __call__(self, metadata: Metadata, text: str | None) -> bool: ...
    def mask(self, columns: MetadataColumns) -> Mask: ...


class Joined(NamedTuple):
    """All of several filters (`every`), or any of them."""

    parts: tuple[Predicate, ...]
    every: bool

    def __call__(self, metadata: Metadata, text: str | None) -> bool:
        each = (one(metadata, text) for one in self.parts)
        return all(each) if self.every else any(each)

    def mask(self, columns: MetadataColumns) -> Mask:
        masks = [one.mask(columns) for one in self.parts]
        found: Mask = np.logical_and.reduce(masks) if self.every else np.logical_or.reduce(masks)
        return found


class Negated(NamedTuple):
    """The negation of a filter; a record without the key passes."""

    part: Predicate

    def __call__(self, metadata: Metadata, text: str | None) -> bool:
        return not self.part(metadata, text)

    def mask(self, columns: MetadataColumns) -> Mask:
        return ~self.part.mask(columns)


class OfKey(NamedTuple):
    """A test of the value of one key."""

    key: str
    test: Test

    def __call__(self, metadata: Metadata, text: str | None) -> bool:
        return self.test(text if self.key == STORED_DOCUMENT else metadata.get(self.key))

    def mask(self, columns: MetadataColumns) -> Mask:
        return columns.of(self.key).mask(self.test)


class OfText(NamedTuple):
    """A test whether a text contains a part."""

    part: str

    def __call__(self, metadata: Metadata, text: str | None) -> bool:  # noqa: ARG002
        return text is not None and self.part in text

    def mask(self, columns: MetadataColumns) -> Mask:
        return columns.of(STORED_DOCUMENT).containing(self.part)


def predicate(where: Where) -> Predicate:
    """Parse a filter, once for many uses."""
    if not isinstance(where, dict) or not where:
        raise _refused(where, "it is not a mapping with a key")
    parts = tuple(_parsed({key: value}, 0 if len(where) == 1 else 2) for key, value in where.items())
    return parts[0] if len(parts) == 1 else Joined(parts, every=True)


def filter_keys(where: object) -> set[str]:
    """The keys in a filter, with the text's key as in Chroma's storage.

    >>> sorted(filter_keys({"$and": [{"kind": "fact"}, {"n": {"$gt": 1}}]}))
    ['kind', 'n']
    """
    if isinstance(where, list):
        return set().union(*map(filter_keys, where))
    if not isinstance(where, Mapping):
        return set()
    inside = set().union(*map(filter_keys, where.values()))
    keys = inside | {key for key in where if isinstance(key, str) and not key.startswith("$")}
    return keys | {STORED_DOCUMENT} if DOCUMENT in keys else keys


def _parsed(where: object, depth: int) -> Predicate:
    if not isinstance(where, dict) or len(where) != 1:
        raise _refused(where, "each part has exactly one key")
    ((key, value),) = where.items()
    if not isinstance(key, str) or not _writable(key):
        raise _refused(where, "a key is a string")
    if depth + _levels(where) > DEEPEST:
        raise _refused(key, "it is nested too deep")
    if key in ("$and", "$or"):
        return _joined(key, value, depth)
    if key.startswith("$"):
        raise _refused(where, f"{key} cannot stand alone; it goes inside a key, e.g. {{'kind': {{{key!r}: ...}}}}")
    operator, operand = _operation(where, value)
    return _field(key, operator, operand, where)


def _levels(where: object) -> int:
    """The depth of nested objects and lists, up to the operand of a key.

    >>> _levels({"a": 1}), _levels({"a": {"$in": [1]}})
    (1, 3)
    """
    if isinstance(where, list):
        return 1
    return 1 + max(map(_levels, where.values())) if isinstance(where, dict) and where else 0


def _joined(key: str, value: object, depth: int) -> Predicate:
    if not isinstance(value, list) or len(value) < 2:
        raise _refused({key: value}, f"{key} takes a list of at least two filters")
    return Joined(tuple(_parsed(one, depth + 2) for one in value), every=key == "$and")


def _operation(where: object, value: object) -> tuple[str, Any]:
    """The operator and its operand; a bare value means `$eq`."""
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise _refused(where, "a list is only allowed inside $in or $nin")
        return "$eq", value
    if len(value) != 1:
        raise _refused(where, "a key has exactly one operator; join two with $and")
    ((operator, operand),) = value.items()
    return operator, operand


def _field(key: str, operator: Any, operand: Any, where: object) -> Predicate:
    """The test of one key."""
    if operator in _NEGATIONS:
        return Negated(_field(key, _NEGATIONS[operator], operand, where))
    if key == DOCUMENT and operator == "$contains":
        return _in_text(operand, where)
    test = _test(operator, operand, where)
    if key == DOCUMENT and isinstance(operand[0] if isinstance(operand, list) else operand, str):
        raise _refused(where, "the only operator for a text is $contains")
    return OfKey(key, test)


def _test(operator: Any, operand: Any, where: object) -> Test:
    if operator == "$in":
        return EqualsAny(tuple(_scalars(operand, where)))
    if operator == "$contains":
        return Contains(_scalar(operand, where))
    if operator not in COMPARISONS:
        raise _refused(where, f"{operator!r} is not a Chroma operator")
    value = _scalar(operand, where)
    if operator != "$eq" and isinstance(value, bool | str):
        raise _refused(where, f"{operator} compares with a number")
    return Compares(operator, value)


def _in_text(operand: object, where: object) -> Predicate:
    if not isinstance(operand, str) or not _writable(operand):
        raise _refused(where, "a text is compared with a string")
    return OfText(operand)


def _scalar(value: object, where: object) -> Scalar:
    """A value as Chroma stores it."""
    if isinstance(value, bool) or (isinstance(value, str) and _writable(value)):
        return value
    number = chroma_number(value) if isinstance(value, int | float) else None
    if number is None:
        raise _refused(where, "it compares with a string, a bool or a number that Chroma can hold")
    return number


def _scalars(values: object, where: object) -> list[Scalar]:
    """The values of a list, all of one type: float if the first int is too large for Chroma's ints."""
    if not isinstance(values, list) or not values:
        raise _refused(where, "$in and $nin take a list that is not empty")
    first = _scalar(values[0], where)
    if isinstance(first, float) and isinstance(values[0], int):
        floats = [as_float(one) if type(one) is int else None for one in values]
        if None in floats:
            raise _refused(where, "the values of a list are of one type")
        return [one for one in floats if one is not None]
    found = [_scalar(one, where) for one in values]
    if not all(type(one) is type(first) for one in found):
        raise _refused(where, "the values of a list are of one type")
    return found


def _writable(text: str) -> bool:
    """Whether a text can be written as JSON that Chroma reads, which half a surrogate pair cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _refused(what: object, why: str) -> FilterError:
    return FilterError(
        f"The filter {shown(what)} cannot be used: {why}. Give a Chroma `where` mapping, e.g. "
        '{"kind": "fact"} or {"$and": [{"kind": "fact"}, {"importance": {"$gte": 0.5}}]}.'
    )


def matches_filter(where: Where | None, metadata: Metadata | None, text: str | None = None) -> bool:
    """Whether Chroma would return the record for this filter. Several keys in one mapping must all match.

    A missing key passes only `$ne`, `$nin` and `$not_contains`; a list passes only `$contains`.

    >>> matches_filter({"kind": "fact", "importance": {"$gte": 0.5}}, {"kind": "fact", "importance": 0.7})
    True
    >>> matches_filter({"kind": {"$ne": "fact"}}, None)
    True
    >>> matches_filter({"tags": {"$contains": "tea"}}, {"tags": ["tea", "milk"]})
    True
    >>> matches_filter({"n": {"$lt": 3.5}}, {"n": 3})  # an int is compared with the operand as an int, here 3
    False
    """
    return where is None or predicate(where)({} if metadata is None else metadata, text)
