"""Which of many things that were given is wrong? The error says its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from adaptive_memory_core.errors import InvalidInputError

Given = TypeVar("Given")
Made = TypeVar("Made")


def each(items: Iterable[Given], made: Callable[[Given], Made], what: str) -> list[Made]:
    """What is made of each of them; where one is refused, the error says which, unless it is the only one.

    >>> each(["1", "2"], int, "Item")
    [1, 2]
    >>> def checked(one):
    ...     if not one: raise InvalidInputError("The text is ''. Give a string that is not blank.")
    >>> each(["tea", ""], checked, "Item")
    Traceback (most recent call last):
    adaptive_memory_core.errors.InvalidInputError: Item 2 of 2: The text is ''. Give a string that is not blank.
    """
    known = list(items)
    found: list[Made] = []
    for number, one in enumerate(known, 1):
        try:
            found.append(made(one))
        except InvalidInputError as error:
            if len(known) == 1:
                raise
            raise type(error)(f"{what} {number:,} of {len(known):,}: {error}") from error
    return found
