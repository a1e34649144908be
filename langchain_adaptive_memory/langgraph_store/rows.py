"""Rows of items, and filters on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, NamedTuple

from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, MatchCondition, Op, PutOp, SearchOp

from adaptive_memory_core import InvalidInputError
from adaptive_memory_core.error_messages import reason, shown

Namespace = tuple[str, ...]


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A comparison by size: of numbers, else of texts; what cannot be compared does not match."""

    def matches(value: Any, bound: Any) -> bool:
        try:
            return compare(float(value), float(bound))
        except (TypeError, ValueError):
            return isinstance(value, str) and isinstance(bound, str) and compare(value, bound)

    return matches


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, wanted: bool(value == wanted),
    "$ne": lambda value, wanted: bool(value != wanted),
    "$gt": _ordered(lambda value, bound: bool(value > bound)),
    "$gte": _ordered(lambda value, bound: bool(value >= bound)),
    "$lt": _ordered(lambda value, bound: bool(value < bound)),
    "$lte": _ordered(lambda value, bound: bool(value <= bound)),
}


def check(wanted: Any) -> None:
    """Refuse a filter with an operator that does not exist, before anything is looked at.

    >>> check({"price": {"$near": 5}})
    Traceback (most recent call last):
    ...
    ValueError: Unsupported operator: $near. Allowed are $eq, $ne, $gt, $gte, $lt, $lte; ...
    """
    if isinstance(wanted, Mapping):
        operators = _is_comparison(wanted)
        for key, part in wanted.items():
            if operators and key not in OPERATORS:
                raise ValueError(
                    f"Unsupported operator: {key}. Allowed are {', '.join(OPERATORS)}; they cannot be mixed with keys."
                )
            check(part)
    elif isinstance(wanted, Sequence) and not isinstance(wanted, str):
        for part in wanted:
            check(part)


def passes(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether an item's value has all that a filter asks for.

    >>> passes({"kind": "note", "stars": 4, "by": {"name": "Ana"}}, {"stars": {"$gte": 4}, "by": {"name": "Ana"}})
    True
    >>> passes({"stars": None}, {"stars": {"$gt": 1}}), passes({}, {"stars": None})
    (False, True)
    >>> passes({"day": "2026-02-01"}, {"day": {"$lt": "2026-03-01"}})
    True
    """
    return all(_equals(value.get(key), part) for key, part in (wanted or {}).items())


def _equals(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if _is_comparison(wanted):
            return all(OPERATORS[name](value, bound) for name, bound in wanted.items())
        return isinstance(value, Mapping) and all(_equals(value.get(key), part) for key, part in wanted.items())
    if isinstance(wanted, list | tuple):
        same_length = isinstance(value, list | tuple) and len(value) == len(wanted)
        return same_length and all(_equals(one, part) for one, part in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _is_comparison(wanted: Mapping[str, Any]) -> bool:
    return any(isinstance(key, str) and key.startswith("$") for key in wanted)


def fits(namespace: Namespace, condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends as asked; `*` stands for any one label.

    >>> fits(("users", "ana", "notes"), MatchCondition("prefix", ("users", "*")))
    True
    >>> fits(("users", "ana", "notes"), MatchCondition("suffix", ("ana",)))
    False
    """
    path = tuple(condition.path)
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {condition.match_type}. Give 'prefix' or 'suffix'.")
    if len(namespace) < len(path):
        return False
    labels = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(labels, path, strict=True))


COLUMNS = (
    "path, key, value, items.created_at, updated_at, ttl_minutes, expires_at, fields, record, vectors, version, "
    "namespace_key, item_key"
)
Heading = dict[str, Any]


class ItemRow(NamedTuple):
    """One item as it is stored; `value` and `fields` are JSON."""

    path: str
    key: str
    value: str
    created_at: float
    updated_at: float
    ttl_minutes: float | None
    expires_at: float | None
    fields: str
    record: str
    vectors: int
    version: int
    namespace_key: int
    item_key: int

    def content(self) -> dict[str, Any]:
        """The value, fresh: nobody shares it."""
        loaded: dict[str, Any] = json.loads(self.value)
        return loaded

    def heading(self) -> Heading:
        """What an `Item` is made of, besides its value."""
        created, updated = (datetime.fromtimestamp(at, tz=timezone.utc) for at in (self.created_at, self.updated_at))
        return {"namespace": labels(self.path), "key": self.key, "created_at": created, "updated_at": updated}

    def records(self) -> list[str]:
        """The ids that its vectors may have in the collection."""
        return record_ids(self.record, self.vectors)


class Write(NamedTuple):
    """One item to be written, checked; `ttl_minutes=None` means for good, `vectors` is how many it will have."""

    path: str
    key: str
    value: str
    fields: str
    ttl_minutes: float | None
    vectors: int = 0


def path_of(namespace: Sequence[str]) -> str:
    """A namespace as text; no label has a dot.

    >>> path_of(("users", "ana")), labels("users.ana"), labels("")
    ('users.ana', ('users', 'ana'), ())
    """
    return ".".join(namespace)


def labels(path: str) -> Namespace:
    return tuple(path.split(".")) if path else ()


def prefixes(path: str) -> list[str]:
    """A path and all above it, shortest first.

    >>> prefixes("users.ana.notes")
    ['users', 'users.ana', 'users.ana.notes']
    """
    parts = labels(path)
    return [path_of(parts[:depth]) for depth in range(1, len(parts) + 1)]


def check_names(op: Op) -> None:
    """Refuse namespaces and keys that cannot be told apart or stored."""
    if isinstance(op, ListNamespacesOp):
        given = [tuple(condition.path) for condition in op.match_conditions or ()]
    else:
        given = [_namespace(op.namespace_prefix if isinstance(op, SearchOp) else op.namespace)]
    for label in (label for namespace in given for label in namespace):
        if not isinstance(label, str) or not label or "." in label or "\x00" in label or label != clean(label):
            raise InvalidNamespaceError(
                f"Invalid namespace label {shown(label)}. Give non-empty strings without '.', NUL and lone surrogates."
            )
    key = op.key if isinstance(op, GetOp | PutOp) else ""
    if not isinstance(key, str) or key != clean(key):
        raise InvalidInputError(f"The key is {shown(key)}. Give a string without lone surrogates.")


def _namespace(given: Any) -> Namespace:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidNamespaceError(f'The namespace is {shown(given)}. Give a tuple of strings, e.g. ("users", "ana").')
    return tuple(given)


def clean(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which cannot be encoded as UTF-8.

    >>> clean("caf\\ud800")
    'caf?'
    """
    return text.encode(errors="replace").decode()


def encoded(value: Mapping[str, Any]) -> str:
    """An item's value as JSON, or an error that says what JSON cannot hold.

    >>> encoded({"a": [1, None, True], "b": {"c": 0.5}})
    '{"a": [1, null, true], "b": {"c": 0.5}}'
    >>> encoded({"a": float("nan")})
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: The value cannot be stored: Out of range float ...
    """
    if not isinstance(value, Mapping):
        raise InvalidInputError(f'The value is {shown(value)}. Give a mapping of JSON values, e.g. {{"text": "tea"}}.')
    try:
        return json.dumps(dict(value), default=_plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"The value cannot be stored: {reason(error)}. Give a mapping of JSON values: str, int, finite float, "
            "bool, None, lists and mappings of these; isoformat() of a date, model_dump(mode='json') of a model."
        ) from None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is not a JSON value")


def record_ids(record: str, count: int) -> list[str]:
    """The ids of an item's vectors: the first has its record's own.

    >>> record_ids("r", 3)
    ['r', 'r/1', 'r/2']
    """
    return [record if number == 0 else f"{record}/{number}" for number in range(count)]
