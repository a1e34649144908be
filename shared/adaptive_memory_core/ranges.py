"""Ranges of settings: the allowed values, and the errors for others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import PolicyError

LARGEST = 1e15  # of any number here


@dataclass(frozen=True, slots=True)
class Range:
    """The allowed values of a number."""

    low: float
    high: float = math.inf
    whole: bool = False
    above: bool = False  # the low end itself is not allowed

    def __contains__(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
            return False
        inside = self.low < value if self.above else self.low <= value
        return inside and value <= self.high and (not self.whole or isinstance(value, int))

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        if math.isinf(self.high):
            return f"{kind} above {self.low:g}" if self.above else f"{kind} of at least {self.low:g}"
        return f"{kind} in {'(' if self.above else '['}{self.low:g}, {self.high:g}]"


POSITIVE = Range(0, above=True)
SHARE = Range(0, 1)


def check_ranges(owner: object, ranges: Mapping[str, Range]) -> None:
    """Raise PolicyError for the first field outside its range, with the given and the allowed values."""
    for name, allowed in ranges.items():
        value = getattr(owner, name)
        if value not in allowed:
            raise PolicyError(f"{type(owner).__name__}({name}={shown(value)}) is not allowed. It must be {allowed}.")
        if not allowed.whole:
            object.__setattr__(owner, name, float(value))  # so that 14 and 14.0 give the same policy


def check_choices(owner: object, choices: Mapping[str, tuple[str, ...]]) -> None:
    """Raise PolicyError for the first field that is not one of its allowed words."""
    for name, allowed in choices.items():
        value = getattr(owner, name)
        if value not in allowed:
            words = f"{', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}"
            raise PolicyError(f"{type(owner).__name__}({name}={shown(value)}) is not allowed. It must be {words}.")


def check_switches(owner: object, names: Iterable[str]) -> None:
    """Raise PolicyError for the first field that is not a bool."""
    for name in names:
        value = getattr(owner, name)
        if not isinstance(value, bool):
            raise PolicyError(
                f"{type(owner).__name__}({name}={shown(value)}) is not allowed. It must be True or False."
            )


def check_groups(owner: object) -> None:
    """Raise PolicyError for the first field that is not a group of its default's type."""
    for field in fields(owner):  # type: ignore[arg-type] # a dataclass
        given, kind = getattr(owner, field.name), type(field.default)
        if is_dataclass(kind) and not isinstance(given, kind):
            raise PolicyError(
                f"{type(owner).__name__}({field.name}={shown(given)}) is not allowed. "
                f"Give {kind.__name__}({fields(kind)[0].name}=..., ...)."
            )


Numbers = TypeVar("Numbers")


def by_kind(given: object, of: type[Numbers], what: str, example: str) -> tuple[tuple[str, Numbers], ...]:
    """A checked mapping from kinds of records to numbers of this type, sorted by name."""
    pairs: Any = list(given.items()) if isinstance(given, Mapping) else given
    usable = isinstance(pairs, list | tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], of) and isinstance(pair[0], str)
        for pair in pairs
    )
    if not usable or len(dict(pairs)) < len(pairs) or not all(name.strip() for name, _ in pairs):
        raise PolicyError(f"{what}={shown(given)}) is not allowed. Give a mapping {example}.")
    return tuple(sorted(pairs))
