"""Records that a caller excludes: by a function, because the context has them, or because they are of a later day."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable

import numpy as np

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.records import Record
from adaptive_memory_core.score.ranking import ONE_CALL_SECONDS

REFUSED = "refused by the caller"
IN_CONTEXT = "already in the context"
LATER = "of a later day than asked"
AT_ONCE = "It is asked of every candidate and cannot wait: await what it needs before the recall,"
MOST_PLACES = 8  # occurrences of a text that are checked for whole words; guess
SHORTEST_SOUGHT = 12  # characters of a memory that is searched inside longer texts: "tea" is in too many; guess


def refusal(accept: Callable[[Record], bool] | None, in_context: Iterable[str]) -> Callable[[Record], str | None]:
    """A function that returns why a record may not be returned, or None. `in_context` contains ids of records, and
    texts that equal or contain a record's text.

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
    """Whether a record was written, or began, after `at`; False for a record without a time.

    >>> is_later(Record("a", "x", created_at=5.0), 4.0), is_later(Record("a", "x"), 4.0)
    (True, False)
    """
    latest = at + ONE_CALL_SECONDS
    return any(time is not None and time > latest for time in (record.created_at, record.valid_from))


def _accepted(answer: object) -> bool:
    """The answer of the caller's function. Only a bool is accepted: a coroutine or "no" would let everything pass.

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
    """Whether `whole` contains the text as separate words."""
    at = -1
    for _ in range(MOST_PLACES):
        at = whole.find(text, at + 1)
        if at < 0:
            return False
        if not whole[at - 1].isalnum() and not whole[at + len(text)].isalnum():
            return True
    return False
