"""Which records does the caller refuse? Those that a predicate refuses, and those that the model can see already."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable

import numpy as np

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.records import Record
from adaptive_memory_core.score.gates import ONE_CALL_SECONDS
from adaptive_memory_core.shown_in_errors import shown

REFUSED = "refused by the caller"
IN_CONTEXT = "already in the context"
LATER = "of a later day than asked"
AT_ONCE = "It is asked of every candidate and cannot wait: await what it needs before the recall,"
MOST_PLACES = 8  # where a text stands within longer words, until it is taken to stand nowhere by itself; guess
SHORTEST_SOUGHT = 12  # characters of a memory that is looked for inside longer texts: "tea" is in too many; guess


def refusal(accept: Callable[[Record], bool] | None, in_context: Iterable[str]) -> Callable[[Record], str | None]:
    """Why a record may not be returned, or None. `in_context` are ids of records and texts, whole or in longer ones.

    >>> refused = refusal(lambda record: record.kind != "secret", ["a", "You said: Bob likes  GREEN tea."])
    >>> [refused(Record(id, text, kind)) for id, text, kind in
    ...  (("a", "x", None), ("b", "bob likes green tea", None), ("c", "x", "secret"), ("d", "Bob likes", None))]
    ['already in the context', 'already in the context', 'refused by the caller', None]
    """
    given = frozenset(in_context)
    texts = frozenset(_plain(text) for text in given)
    whole = "\n".join(sorted(f" {text} " for text in texts))

    def refused(record: Record) -> str | None:
        text = _plain(record.text)
        if record.id in given or text in texts or (len(text) >= SHORTEST_SOUGHT and _within(text, whole)):
            return IN_CONTEXT
        return REFUSED if accept is not None and not _accepted(accept(record)) else None

    return refused


def is_later(record: Record, at: float) -> bool:
    """Whether it was written, or began, after that time; what is of an unknown time was there.

    >>> is_later(Record("a", "x", created_at=5.0), 4.0), is_later(Record("a", "x"), 4.0)
    (True, False)
    """
    latest = at + ONE_CALL_SECONDS
    return any(time is not None and time > latest for time in (record.created_at, record.valid_from))


def _accepted(answer: object) -> bool:
    """The answer of a predicate. Whatever else it gives is no answer: a coroutine or "no" would let everything in.

    >>> _accepted(True), _accepted(np.bool_(False))
    (True, False)
    """
    if isinstance(answer, bool | np.bool_):
        return bool(answer)
    if inspect.iscoroutine(answer):
        answer.close()
    how = f"{AT_ONCE} and have it" if inspect.isawaitable(answer) else "Have it"
    raise InvalidInputError(f"accept answered {shown(answer)} to a record. {how} return True or False, e.g. bool(...).")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!? ")


def _within(text: str, whole: str) -> bool:
    """Whether it stands there, as words of its own."""
    at = -1
    for _ in range(MOST_PLACES):
        at = whole.find(text, at + 1)
        if at < 0:
            return False
        if not whole[at - 1].isalnum() and not whole[at + len(text)].isalnum():
            return True
    return False
