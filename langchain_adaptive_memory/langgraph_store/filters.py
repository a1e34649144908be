"""Does an item pass a filter, and a namespace a condition? As LangGraph's own stores compare, on JSON values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langgraph.store.base import MatchCondition

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
                    f"Unsupported operator: {key}. Allowed are {', '.join(OPERATORS)}; they cannot stand beside keys."
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
