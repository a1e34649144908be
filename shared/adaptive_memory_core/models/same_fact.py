"""Which form has the caller's rule for what says the same? A function, blocking or async."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.shown_in_errors import shown

Labels = Sequence[Hashable | None]
SameFact = Callable[[str, Sequence[str]], Labels | Awaitable[Labels]]  # cue, texts -> a label for each


def as_rule(given: Any) -> SameFact | None:
    """The function that the caller gave, checked.

    >>> as_rule(lambda cue, texts: [None for text in texts])("tea", ["a"]), as_rule(None)
    ([None], None)
    """
    if given is not None and (not callable(given) or isinstance(given, type)):
        raise InvalidInputError(
            f"same_fact is {shown(given)}. Give a function of a cue and a list of texts that returns one label for "
            "each text (None: it says nothing that another one says), or None."
        )
    rule: SameFact | None = given
    return rule
