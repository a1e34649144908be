"""How are two counts of one record's reads merged? The larger count and the later read, or their sum."""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core.records import ReadState


def larger(known: ReadState, shown: ReadState) -> ReadState:
    """Two accounts of the same reads, one of them older: what each has more of holds.

    >>> larger(ReadState(last_read=5.0, retrieval_count=10), ReadState(last_read=9.0, retrieval_count=22)).last_read
    9.0
    >>> larger(ReadState(last_read=9.0, retrieval_count=3), ReadState(last_read=5.0, retrieval_count=2)).retrieval_count
    3
    """
    return _joined(known, shown, more=max(0, shown.retrieval_count - known.retrieval_count))


def added(kept: ReadState, gone: ReadState) -> ReadState:
    """The reads of two records that say the same: all of them count.

    >>> added(ReadState(last_read=5.0, retrieval_count=2), ReadState(last_read=3.0, retrieval_count=1)).retrieval_count
    3
    """
    both = _joined(kept, gone, more=gone.retrieval_count)
    return replace(both, helpful=kept.helpful + gone.helpful, unhelpful=kept.unhelpful + gone.unhelpful)


def _joined(one: ReadState, other: ReadState, *, more: int) -> ReadState:
    useful = other if _after(other.useful_at, one.useful_at) else one
    return replace(
        one,
        last_read=_later(one.last_read, other.last_read),
        refreshed_at=_later(one.refreshed_at, other.refreshed_at),
        fresh_at=_later(one.fresh_at, other.fresh_at),
        fresh_step=max(one.fresh_step, other.fresh_step),
        streak=max(one.streak, other.streak),
        retrieval_count=one.retrieval_count + more,
        credit=one.credit + more,
        warmth=one.warmth + more,
        remembered=one.remembered or other.remembered,
        pinned=one.pinned or other.pinned,
        useful_at=useful.useful_at,
        useful_step=useful.useful_step,
    )


def _later(one: float | None, other: float | None) -> float | None:
    return other if _after(other, one) else one


def _after(one: float | None, other: float | None) -> bool:
    return one is not None and (other is None or one > other)
