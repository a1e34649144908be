"""Gates and refusals: the rules that exclude records before scoring."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable

import numpy as np

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit, Record
from adaptive_memory_core.score.ranking import Candidates

ONE_CALL_SECONDS = 0.1  # tolerance for times: records of one call are a microsecond apart and visible together
BELOW_FLOOR = "below the similarity floor"
BEYOND_K = "beyond k"
SUPERSEDED, FORGOTTEN, CHANGED = "superseded", "forgotten", "changed"  # what happened to a record's source
STALE = {
    SUPERSEDED: "derived from a record that was superseded",
    FORGOTTEN: "derived from a record that was forgotten",
    CHANGED: "derived from a record that says something else by now",
}


def stale(hit: Hit, *, now: float) -> str | None:
    """Why this record may not be used at `now`, or None: superseded, expired, not valid yet, or derived from a source
    that is no longer valid.

    >>> from adaptive_memory_core.records import Record
    >>> stale(Hit(Record("a", "text", valid_until=10.0), 0.9, "a"), now=10.0)
    'expired'
    >>> stale(Hit(Record("a", "text", valid_from=0.0), 0.9, "a"), now=10.0) is None
    True
    """
    record = hit.record
    if record.valid_until is None and record.valid_from is None and record.superseded_by is None:  # nearly always
        return None
    ends, replaced = record.valid_until, record.superseded_by is not None or record.derived_stale is not None
    over = ends is not None and now + (ONE_CALL_SECONDS if replaced else 0.0) >= ends
    if record.superseded_by is not None and (over or ends is None):
        return f"superseded by {record.superseded_by}"
    if over:
        return "expired" if record.derived_stale is None else STALE.get(record.derived_stale, "expired")
    if record.valid_from is not None and now < record.valid_from:
        return "not valid yet"
    return None


def unfit(hit: Hit, policy: Policy, *, now: float) -> str | None:
    """Why this hit is excluded before scoring, or None. The floor is absolute and does not depend on other candidates.

    >>> from adaptive_memory_core.records import Record
    >>> unfit(Hit(Record("a", "text"), 0.1, "a"), Policy(min_similarity=0.3), now=0.0)
    'below the similarity floor'
    >>> unfit(Hit(Record("a", "text"), float("nan"), "a"), Policy(), now=0.0)
    'no usable distance'
    """
    if not math.isfinite(hit.similarity):
        return "no usable distance"
    if hit.refused is not None:
        return hit.refused
    if policy.min_similarity > 0 and hit.similarity < policy.min_similarity:
        return BELOW_FLOOR
    return stale(hit, now=now)


def unfit_ones(these: Candidates, policy: Policy, *, now: float) -> dict[int, str]:
    """The numbers of the candidates that are excluded before scoring, each with the reason.

    >>> from adaptive_memory_core.records import Record
    >>> from adaptive_memory_core.score.ranking import as_candidates
    >>> hits = as_candidates([Hit(Record("a", "text"), 0.5, "a"), Hit(Record("b", "text"), 0.1, "b")])
    >>> unfit_ones(hits, Policy(), now=0.0), unfit_ones(hits, Policy(min_similarity=0.3), now=0.0)
    ({}, {1: 'below the similarity floor'})
    """
    numbers, similarities = these.columns.gated, these.columns.similarities
    if policy.min_similarity > 0.0 or not math.isfinite(sum(similarities)):
        numbers = range(len(similarities))
    if not numbers:
        return {}
    return {one: reason for one in numbers if (reason := unfit(these[one], policy, now=now)) is not None}


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
