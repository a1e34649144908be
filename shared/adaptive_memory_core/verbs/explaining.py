"""Why is a record among a recall's hits, or why not? Of one record, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.verbs import recalling
from adaptive_memory_core.verbs.blocking_and_async import User

WIDEST = 10_000  # candidates among which a record is looked for that was none


def why(user: User, recall: Recall, id: str, filter: Mapping[str, Any] | None = None) -> str:  # noqa: A002
    """Why a record is, or is not, among the hits of a recall, in a sentence; an unknown id raises NotFoundError.

    `filter` is that of the recall. Of a record that was no candidate, the recall is done once more, with more
    candidates and counting nothing.
    """
    if not isinstance(recall, Recall):
        raise InvalidInputError(f"recall is {shown(recall)}. Give what recall() returned.")
    return _why(user, recall, check.name(id, "id"), check.where(filter))


def _why(user: User, recall: Recall, record_id: str, where: Mapping[str, Any] | None) -> str:
    told = _told(recall, record_id)
    if told is not None:
        return told
    recalling.get(user, record_id)  # raises where there is no such record
    wide = recalling.recall(
        user, recall.cue.text, recall.k, filter=where, reinforce=False, policy=recall.policy.replace(recall_k=WIDEST)
    )
    ids = [*wide.ids, *(one.id for one in wide.dropped)]
    far = (
        f"would be number {ids.index(record_id) + 1}" if record_id in ids else "is not among those that pass the filter"
    )
    return f"{record_id} was no candidate: too far from the cue. Among {WIDEST:,} candidates (recall_k), it {far}."


def _told(recall: Recall, record_id: str) -> str | None:
    """What the recall itself says of it, if anything."""
    for place, one in enumerate(recall, 1):
        if one.id == record_id:
            parts = ", ".join(f"{name} {value:.3f}" for name, value in one.parts.items())
            return f"{record_id} is hit {place} of {len(recall)}: score {one.score:.3f} ({parts})"
    for drop in recall.dropped:
        if drop.id == record_id:
            last = f", the last hit has {recall[-1].score:.3f}" if len(recall) else ""
            return f"{record_id} was dropped: {drop.reason}" + (
                "" if drop.score is None else f"; score {drop.score:.3f}{last}"
            )
    return None
