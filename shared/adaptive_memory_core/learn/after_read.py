"""What does being read change? From the read state before to the read state after."""

from __future__ import annotations

from typing import Any

from adaptive_memory_core.frozen import changed
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState
from adaptive_memory_core.score.signals import DAY, cooled


def counts(state: ReadState, policy: Policy, *, now: float) -> bool:
    """Whether a read at `now` counts: the last counted one is further back than the refresh floor.

    Where the clock went back, nothing counts until it has caught up - unless it is a whole day behind: then the older
    time was wrong. Without a floor everything counts.

    >>> counts(ReadState(last_read=100.0), Policy(), now=130.0), counts(ReadState(last_read=100.0), Policy(), now=160.0)
    (False, True)
    """
    if state.last_read is None or policy.refresh_floor_seconds == 0:
        return True
    return now - state.last_read >= policy.refresh_floor_seconds or state.last_read > now + DAY


def after_read(state: ReadState, policy: Policy, *, now: float, kind: str | None = None, **settled: Any) -> ReadState:
    """The state after a read; the same state where the read does not count. What the read does to its strength is for
    `remembrance.read` to say, in the fields `settled`.

    >>> after_read(ReadState(), Policy(), now=5.0).retrieval_count
    1
    >>> after_read(ReadState(last_read=5.0, retrieval_count=1), Policy(), now=6.0).retrieval_count
    1
    """
    if not counts(state, policy, now=now):
        return state
    credit = state.credit + 1
    streak = _streak(state, policy, now=now)
    last_read = latest(state.last_read, now, now=now)
    return changed(
        state,
        last_read=last_read,
        refreshed_at=last_read if streak >= policy.reading.reads_before_refresh else state.refreshed_at,
        streak=streak,
        retrieval_count=state.retrieval_count + 1,
        credit=credit,
        warmth=cooled(state.warmth, state.last_read, policy, now=now) + 1.0,
        remembered=state.remembered or credit >= policy.remembrance(kind).remembrance_threshold,
        **settled,
    )


def _streak(state: ReadState, policy: Policy, *, now: float) -> int:
    """Reads in a row, this one included: one that comes after the window starts a new row."""
    if state.last_read is None or now - state.last_read > policy.reading.window_days * DAY:
        return 1
    return state.streak + 1


def latest(known: float | None, at: float, *, now: float) -> float:
    """The later of the two, unless the first lies more than a day ahead: a clock was wrong, and this mends it.

    >>> latest(5.0, 9.0, now=9.0), latest(9.0, 5.0, now=9.0), latest(1e9, 5.0, now=9.0)
    (9.0, 9.0, 5.0)
    """
    return at if known is None or known > now + DAY else max(known, at)
