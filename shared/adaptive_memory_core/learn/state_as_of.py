"""What was a record's read state on an earlier day? Its logged reads and changes up to then, gone through again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from adaptive_memory_core.learn.after_read import after_read
from adaptive_memory_core.learn.verdict_importance import rejudged
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import NEVER_READ, ReadState, Verdict
from adaptive_memory_core.reports import Change

VERDICTS = {one.value: one for one in Verdict}


@dataclass(frozen=True, slots=True)
class Past:
    """What the ledger knows of a user's records up to a day (`at`), at which the user had made `step` recalls."""

    at: float
    step: int = 0
    reads: Mapping[str, Sequence[float]] = field(default_factory=dict)  # by id, oldest first
    changes: Mapping[str, Sequence[Change]] = field(default_factory=dict)  # by id, oldest first, later ones as well


def state_then(state: ReadState, record_id: str, past: Past, policy: Policy) -> ReadState:
    """The state as of then; the same where nothing has changed since. Its strength is that of now.

    >>> changes = [Change("a", 20.0, 1, "pinned", "me"), Change("a", 90.0, 2, "demoted", "me")]
    >>> past = Past(50.0, 1, {"a": [10.0]}, {"a": changes})
    >>> then = state_then(ReadState(last_read=80.0, retrieval_count=2), "a", past, Policy())
    >>> then.last_read, then.retrieval_count, then.pinned
    (10.0, 1, True)
    """
    changes = past.changes.get(record_id, ())
    known = (state.last_read, state.useful_at, *(one.at for one in changes))
    if all(time is None or time <= past.at for time in known):
        return state
    reads = [(time, None) for time in past.reads.get(record_id, ())]
    events = sorted([*reads, *((one.at, one) for one in changes if one.at <= past.at)], key=lambda event: event[0])
    then = NEVER_READ
    for time, change in events:
        then = after_read(then, policy, now=time) if change is None else _changed(then, change, policy)
    settled = {
        name: getattr(state, name) for name in ("strength", "settled_step", "settled_at", "fresh_step", "fresh_at")
    }
    return replace(then, **settled)


def _changed(state: ReadState, change: Change, policy: Policy) -> ReadState:
    if change.what in ("pinned", "unpinned"):
        return replace(state, pinned=change.what == "pinned")
    if change.what == "demoted":
        return replace(NEVER_READ, pinned=state.pinned)
    verdict = VERDICTS.get(change.what)
    if verdict is None:
        return state
    state = replace(state, boost=rejudged(state.boost, verdict, None, policy)[1])
    if verdict is Verdict.UNHELPFUL:
        return replace(state, unhelpful=state.unhelpful + 1)
    read_at = change.at if state.last_read is None else state.last_read
    return replace(state, helpful=state.helpful + 1, useful_at=read_at, useful_step=change.step)
