"""Which form has the caller's reader, which says how uncertain an answer is? A function, blocking or async."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.shown_in_errors import shown

Reader = Callable[[str, Sequence[str]], float | Awaitable[float]]  # question, texts -> nats a token


def as_reader(given: Any) -> Reader | None:
    """The function that the caller gave, checked.

    >>> as_reader(lambda question, texts: 0.5)("tea?", ["a"]), as_reader(None)
    (0.5, None)
    """
    if given is not None and (not callable(given) or isinstance(given, type)):
        raise InvalidInputError(
            f"reader is {shown(given)}. Give a function of a question and a list of texts that returns how uncertain "
            "an answer from them is, in nats a token, such as judges.OpenAIReader(...), or None."
        )
    reader: Reader | None = given
    return reader
