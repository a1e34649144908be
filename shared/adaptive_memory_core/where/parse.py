"""What does a filter ask? Chroma's `where`, as a test of metadata and text; what Chroma refuses is refused here.

Chroma looks a key up in a column for each type, and an int's and a float's column both for a number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adaptive_memory_core.errors import FilterError
from adaptive_memory_core.records import Metadata
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.where.compare import COMPARISONS, Scalar, Test, compares, contains, equals_any
from adaptive_memory_core.where.numbers import as_float, read

Where = Mapping[str, Any]
Predicate = Callable[[Metadata, str | None], bool]
DOCUMENT, STORED_DOCUMENT = "#document", "chroma:document"  # how a filter names a text, and how Chroma keeps it
DEEPEST = 127  # levels of JSON that Chroma reads
_NEGATIONS = {"$ne": "$eq", "$nin": "$in", "$not_contains": "$contains"}


def predicate(where: Where) -> Predicate:
    """The filter as a function of a record's metadata and text; made once, asked often."""
    if not isinstance(where, dict) or not where:
        raise _refused(where, "it is no mapping with a key")
    parts = [_parsed({key: value}, 0 if len(where) == 1 else 2) for key, value in where.items()]
    return parts[0] if len(parts) == 1 else lambda metadata, text: all(one(metadata, text) for one in parts)


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
    """How many objects and lists stand in each other, up to the operand of a key.

    >>> _levels({"a": 1}), _levels({"a": {"$in": [1]}})
    (1, 3)
    """
    if isinstance(where, list):
        return 1
    return 1 + max(map(_levels, where.values())) if isinstance(where, dict) and where else 0


def _joined(key: str, value: object, depth: int) -> Predicate:
    if not isinstance(value, list) or len(value) < 2:
        raise _refused({key: value}, f"{key} takes a list of at least two filters")
    parts = [_parsed(one, depth + 2) for one in value]
    if key == "$and":
        return lambda metadata, text: all(one(metadata, text) for one in parts)
    return lambda metadata, text: any(one(metadata, text) for one in parts)


def _operation(where: object, value: object) -> tuple[str, Any]:
    """The operator and what it compares with; a bare value is `$eq`."""
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise _refused(where, "a list stands inside $in or $nin")
        return "$eq", value
    if len(value) != 1:
        raise _refused(where, "a key has exactly one operator; join two with $and")
    ((operator, operand),) = value.items()
    return operator, operand


def _field(key: str, operator: Any, operand: Any, where: object) -> Predicate:
    """What one key is asked."""
    if operator in _NEGATIONS:
        asserted = _field(key, _NEGATIONS[operator], operand, where)
        return lambda metadata, text: not asserted(metadata, text)
    if key == DOCUMENT and operator == "$contains":
        return _in_text(operand, where)
    test = _test(operator, operand, where)
    if key == DOCUMENT and isinstance(operand[0] if isinstance(operand, list) else operand, str):
        raise _refused(where, "of a text it can be asked what it $contains, and nothing else")
    return lambda metadata, text: test(text if key == STORED_DOCUMENT else metadata.get(key))


def _test(operator: Any, operand: Any, where: object) -> Test:
    if operator == "$in":
        return equals_any(_scalars(operand, where))
    if operator == "$contains":
        return contains(_scalar(operand, where))
    if operator not in COMPARISONS:
        raise _refused(where, f"{operator!r} is no operator of Chroma's")
    value = _scalar(operand, where)
    if operator != "$eq" and isinstance(value, bool | str):
        raise _refused(where, f"{operator} compares with a number")
    return compares(operator, value)


def _in_text(operand: object, where: object) -> Predicate:
    if not isinstance(operand, str) or not _writable(operand):
        raise _refused(where, "a text is compared with a string")
    return lambda _, text: text is not None and operand in text


def _scalar(value: object, where: object) -> Scalar:
    """A value as Chroma has it."""
    if isinstance(value, bool) or (isinstance(value, str) and _writable(value)):
        return value
    number = read(value) if isinstance(value, int | float) else None
    if number is None:
        raise _refused(where, "it compares with a string, a bool or a number that Chroma can hold")
    return number


def _scalars(values: object, where: object) -> list[Scalar]:
    """The values of a list, of one type; the first one's, where an int is too large for an int."""
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
    """Whether it can be written as JSON that Chroma reads: half a surrogate pair cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _refused(what: object, why: str) -> FilterError:
    return FilterError(
        f"The filter {shown(what)} cannot be used: {why}. Give a Chroma `where` mapping, e.g. "
        '{"kind": "fact"} or {"$and": [{"kind": "fact"}, {"importance": {"$gte": 0.5}}]}.'
    )
