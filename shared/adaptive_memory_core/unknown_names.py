"""What does a setting say of a name that it does not have? Which one is meant, where it belongs, or all there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar

from adaptive_memory_core.shown_in_errors import shown

C = TypeVar("C", bound=type)
LIKE = 0.75  # how alike a name must be to be taken for the one that was meant, by difflib's ratio


def tells_unknown_names(where: Callable[[str], str | None] = lambda _: None) -> Callable[[C], C]:
    """A frozen dataclass that says more than Python of a name that it does not have. `where` tells which other setting
    has a field of that name, as one would write it."""

    def telling(kind: C) -> C:
        plain: Any = kind
        made = plain.__init__

        @wraps(made)
        def init(self: Any, *args: Any, **given: Any) -> None:
            try:
                made(self, *args, **given)
            except TypeError as error:
                names = [one.name for one in fields(plain) if one.init]
                unknown = [name for name in given if name not in names]
                if not unknown:
                    raise
                at = within(plain, unknown[0]) or where(unknown[0])
                raise TypeError(told(kind.__name__, unknown[0], names, at)) from error

        plain.__init__ = init
        return kind

    return telling


def told(kind: str, name: str, names: Sequence[str], where: str | None) -> str:
    """The words for it.

    >>> told("Keeping", "lag", ["lag_seconds", "batch"], None)
    "Keeping() got an unexpected keyword argument 'lag'. Allowed are lag_seconds, batch."
    >>> told("Keeping", "lag_second", ["lag_seconds", "batch"], None)
    "Keeping() got an unexpected keyword argument 'lag_second'. Did you mean 'lag_seconds'?"
    """
    said = f"{kind}() got an unexpected keyword argument {shown(name)}."
    if where is not None:
        return f"{said} It belongs into {where}."
    if near := get_close_matches(name, names, n=1, cutoff=LIKE):
        return f"{said} Did you mean {shown(near[0])}?"
    return f"{said} Allowed are {', '.join(names)}."


def within(kind: Any, name: str) -> str | None:
    """Which of the groups of a setting has such a field, as one would write it.

    >>> from adaptive_memory_core.policy.policy import Policy
    >>> within(Policy, "importance"), within(Policy, "nothing")
    ('Policy(weights=Weights(importance=...))', None)
    """
    for one in fields(kind):
        group = one.default
        if is_dataclass(group) and any(inner.name == name for inner in fields(group)):
            return f"{kind.__name__}({one.name}={type(group).__name__}({name}=...))"
    return None
