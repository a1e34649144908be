"""Which form do the caller's channels and rerankers have? Functions, blocking or async, or objects with `predict`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.policy.channel_names import check_names
from adaptive_memory_core.shown_in_errors import shown

Found = Mapping[str, float] | Iterable[tuple[str, float]]
Source = Callable[[str, str | None, int], Found | Awaitable[Found]]  # cue, user, limit -> ids with numbers
Judge = Callable[[str, Sequence[str]], Any]  # cue, texts -> a number for each, or something to await


class CrossEncoder(Protocol):
    """What sentence-transformers and those who are like it have."""

    def predict(self, sentences: Any) -> Any: ...


Reranker = Judge | CrossEncoder


def as_reranker(given: Any) -> Judge:
    """The function behind what the caller gave: one already, or an object with `predict(pairs)`.

    >>> def longest(cue, texts): return [len(text) for text in texts]
    >>> as_reranker(longest)("tea", ["a", "bcd"])
    [1, 3]
    >>> class Encoder:
    ...     def predict(self, pairs): return [len(cue) + len(text) for cue, text in pairs]
    >>> as_reranker(Encoder())("tea", ["a", "bcd"])
    [4, 6]
    """
    predict = getattr(given, "predict", None)
    if callable(predict) and not isinstance(given, type):  # first: a CrossEncoder can be called too, with tensors
        return lambda cue, texts: predict([(cue, text) for text in texts])
    if not callable(given) or isinstance(given, type):
        raise InvalidInputError(
            f"reranker is {shown(given)}. Give a function of a cue and a list of texts that returns one number for "
            "each text, an object with predict(pairs), or None."
        )
    judge: Judge = given
    return judge


def sources_of(given: Mapping[str, Source] | None) -> dict[str, Source]:
    """The caller's own channels, checked."""
    if given is None:
        return {}
    check_names(given)
    for name, one in given.items():
        if not callable(one) or isinstance(one, type):
            raise InvalidInputError(
                f"The channel {shown(name)} is {shown(one)}. Give a function of cue, user and limit that returns ids "
                "with a number in [0, 1] each."
            )
    return dict(given)
