"""May a hit be returned at all? Yes-or-no rules, each with the reason that a caller reads."""

from __future__ import annotations

import math
from collections.abc import Sequence

from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit, Scored
from adaptive_memory_core.score.candidates import columns_of

ONE_CALL_SECONDS = 0.1  # records of one call are a microsecond apart, and all of them are there once it returns
BELOW_FLOOR = "below the similarity floor"
BEYOND_K = "beyond k"
SUPERSEDED, FORGOTTEN, CHANGED = "superseded", "forgotten", "changed"  # what became of what a record was derived from
STALE = {
    SUPERSEDED: "derived from a record that was superseded",
    FORGOTTEN: "derived from a record that was forgotten",
    CHANGED: "derived from a record that says something else by now",
}


def stale(hit: Hit, *, now: float) -> str | None:
    """Why this record may not be used at `now`, or None: superseded, expired, not valid yet, or derived from what is no
    longer so.

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
    """Why this hit is out before scoring, or None. The floor is absolute: it looks at no other candidate.

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


def unfit_ones(hits: Sequence[Hit], policy: Policy, *, now: float) -> dict[int, str]:
    """The numbers of those that are out before scoring, each with the reason.

    >>> from adaptive_memory_core.records import Record
    >>> unfit_ones([Hit(Record("a", "text"), 0.5, "a"), Hit(Record("b", "text"), 0.1, "b")], Policy(), now=0.0)
    {}
    """
    these = columns_of(hits)
    numbers: Sequence[int] = these.columns.gated
    if policy.min_similarity > 0.0 or not math.isfinite(sum(these.columns.similarities)):
        numbers = range(len(these))
    found = ((number, unfit(these[number], policy, now=now)) for number in numbers)
    return {number: reason for number, reason in found if reason is not None}


def too_weak(scored: Scored, policy: Policy) -> bool:
    """Whether the blended score is below the policy's floor for it."""
    return scored.score < policy.min_score
