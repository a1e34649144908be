"""The effects of feedback on a record's state, withdrawing feedback, and the state as of an earlier day.

`boost_for_everyone`: the share of one user's feedback on a shared record that counts for all. It is off by default. It
changes the importance that everyone sees, so a close observer can learn that a user rated the record, but not who.

`earned`: the weight of usefulness for a user. It is 0 until feedback has shown that usefulness helps.
Each helpful rating compares the record's rank with the full weight of usefulness and without it. A user who returns to
the same records within a short time earns the full weight in a few ratings. A user who asks about similar records in
turn earns nothing, because usefulness would lift the record of the previous question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from adaptive_memory_core.learn.decay import after_read, latest
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import NEVER_READ, ReadState, Verdict
from adaptive_memory_core.reports import Change
from adaptive_memory_core.score.signals import MOST_EARNED, raised

IMPORTANCE_BOUND = 0.5  # share of a record's importance that all feedback together may add or take; guess


class Occasion(NamedTuple):
    """The time of a read, and the number of the user's recall."""

    at: float
    step: int


class EarlierVerdict(NamedTuple):
    """Earlier feedback on the same record in the same recall, stored with its effects.

    `left` is the last useful read that remains without it.
    """

    verdict: Verdict
    boosts: tuple[float, float]  # without and with the feedback
    useful_at: float | None
    sway: float = 0.0
    left: Occasion | None = None


@dataclass(frozen=True, slots=True)
class Judging:
    """Applies feedback on the results of one recall, under the current policy."""

    policy: Policy
    read: Occasion  # of the recall: a memory was useful when it was read, not when it was rated
    now: float
    rankings: Mapping[str, HelpfulRank] = field(default_factory=dict)  # by stored ID, if usefulness must be earned

    def boost(self, state: ReadState, verdict: Verdict, earlier: EarlierVerdict | None) -> tuple[float, float]:
        """The boost without and with the new feedback."""
        return rejudged(state.boost, verdict, None if earlier is None else earlier.boosts, self.policy)

    def state(self, state: ReadState, verdict: Verdict, earlier: EarlierVerdict | None) -> ReadState:
        """The state after the feedback; earlier feedback that it replaces is withdrawn first."""
        before = state if earlier is None else withdrawn(state, earlier)
        after = self._counted(before, verdict)
        return replace(after, boost=self.boost(state, verdict, earlier)[1])

    def balance(
        self, stored_id: str, verdict: Verdict, balance: float, earlier: EarlierVerdict | None
    ) -> tuple[float, float]:
        """The change of the user's balance of usefulness by the feedback, and the balance after it."""
        before = balance if earlier is None else within_bounds(balance - earlier.sway)
        ranking = self.rankings.get(stored_id)
        if verdict is not Verdict.HELPFUL or ranking is None:
            return 0.0, before
        after = within_bounds(before + earned(ranking, self.policy.learning.usefulness))
        return after - before, after

    def _counted(self, state: ReadState, verdict: Verdict) -> ReadState:
        if verdict is Verdict.UNHELPFUL:
            return replace(state, unhelpful=state.unhelpful + 1)
        useful_at = latest(state.useful_at, self.read.at, now=max(self.now, self.read.at))
        step = self.read.step if useful_at == self.read.at else state.useful_step
        return replace(state, useful_at=useful_at, useful_step=step, helpful=state.helpful + 1)


def withdrawn(state: ReadState, earlier: EarlierVerdict) -> ReadState:
    """The state without the earlier feedback, except for the boost.

    >>> twice = ReadState(useful_at=9.0, useful_step=2, helpful=2)
    >>> first = EarlierVerdict(Verdict.HELPFUL, (0.0, 0.05), useful_at=9.0, left=Occasion(5.0, 1))
    >>> once = withdrawn(twice, first)
    >>> once.useful_at, once.useful_step, once.helpful
    (5.0, 1, 1)
    >>> withdrawn(once, first).useful_at is None
    True
    """
    if earlier.verdict is Verdict.UNHELPFUL:
        return replace(state, unhelpful=max(0, state.unhelpful - 1))
    helpful = max(0, state.helpful - 1)
    if helpful == 0:
        return replace(state, helpful=0, useful_at=None, useful_step=0)
    if earlier.left is None or state.useful_at != earlier.useful_at:
        return replace(state, helpful=helpful)
    return replace(state, helpful=helpful, useful_at=earlier.left.at, useful_step=earlier.left.step)


def boost_after(boost: float, verdict: Verdict, policy: Policy) -> float:
    """The boost after one rating. Each changes the importance by the share `importance_step`, and all together by
    `IMPORTANCE_BOUND` at most.

    >>> boost_after(0.0, Verdict.HELPFUL, Policy()), boost_after(0.0, Verdict.UNHELPFUL, Policy())
    (0.05, -0.05)
    >>> boost_after(0.5, Verdict.HELPFUL, Policy())
    0.5
    """
    step = policy.learning.importance_step
    moved = (1.0 + boost) * (1.0 + (step if verdict is Verdict.HELPFUL else -step)) - 1.0
    return _bounded(moved)


def rejudged(
    boost: float, verdict: Verdict, earlier: tuple[float, float] | None, policy: Policy
) -> tuple[float, float]:
    """The boost without and with a rating. An earlier rating, given as such a pair, is withdrawn first.

    >>> rejudged(0.0, Verdict.HELPFUL, None, Policy())
    (0.0, 0.05)
    >>> rejudged(0.05, Verdict.UNHELPFUL, (0.0, 0.05), Policy())      # a changed mind
    (0.0, -0.05)
    >>> rejudged(-1.0, Verdict.HELPFUL, (0.25, -1.0), Policy())       # not calculable; the stored one is used
    (0.25, 0.3125)
    """
    before, after = (0.0, 0.0) if earlier is None else earlier
    without = before if after <= -1.0 else round((1.0 + boost) * (1.0 + before) / (1.0 + after) - 1.0, 12)
    return without, boost_after(without, verdict, policy)


def demoted(state: ReadState, policy: Policy) -> ReadState:
    """The state of a record that was demoted: unpinned, not remembered, without the effects of reads and helpful
    feedback. `last_read` and `retrieval_count` are kept as history.

    >>> demoted(ReadState(retrieval_count=9, warmth=9.0, remembered=True, boost=0.2), Policy()).boost
    -0.05
    """
    return replace(
        state,
        pinned=False,
        remembered=False,
        credit=0,
        warmth=0.0,
        streak=0,
        refreshed_at=None,
        boost=boost_after(min(0.0, state.boost), Verdict.UNHELPFUL, policy),
        useful_at=None,
        useful_step=0,
        helpful=0,
    )


class HelpfulRank(NamedTuple):
    """The candidates of a recall as (relevance, usefulness), and the position of the helpful one among them."""

    candidates: Sequence[tuple[float, float]]
    place: int


def earned(ranking: HelpfulRank, weight: float) -> float:
    """The change of the user's balance by a helpful rating: 1/rank with usefulness minus 1/rank without.

    >>> used, fresh = (0.4, 1.0), (0.5, 0.0)
    >>> earned(HelpfulRank([used, fresh], 0), 3.0), earned(HelpfulRank([used, fresh], 1), 3.0)
    (0.5, -0.5)
    >>> earned(HelpfulRank([(0.4, 0.0), fresh], 0), 3.0)      # no candidate was useful recently
    0.0
    """
    return _reciprocal_rank(ranking, weight) - _reciprocal_rank(ranking, 0.0)


def within_bounds(balance: float) -> float:
    """The balance within its bounds.

    >>> within_bounds(-0.5), within_bounds(1.5), within_bounds(9.0)
    (0.0, 1.5, 4.0)
    """
    return min(MOST_EARNED, max(0.0, balance))


def _reciprocal_rank(ranking: HelpfulRank, weight: float) -> float:
    """The reciprocal rank of the helpful candidate."""
    scores = [raised(relevance, useful, weight) for relevance, useful in ranking.candidates]
    own = scores[ranking.place]
    return 1.0 / (1 + sum(score > own for score in scores))


def boost_for_everyone(boost: float, moved: float, policy: Policy) -> float:
    """Everyone's boost after feedback that has changed the user's own by `moved`; within the usual bound.

    >>> policy = Policy().replace(learning={"common_share": 0.2})
    >>> boost_for_everyone(0.0, 0.05, policy), boost_for_everyone(0.02, -0.05, policy)
    (0.01, 0.01)
    >>> boost_for_everyone(0.5, 0.05, policy), boost_for_everyone(0.1, 0.05, Policy())
    (0.5, 0.1)
    """
    return _bounded(boost + policy.learning.common_share * moved)


def _bounded(boost: float) -> float:
    return min(IMPORTANCE_BOUND, max(-IMPORTANCE_BOUND, round(boost, 12)))


VERDICTS = {one.value: one for one in Verdict}


@dataclass(frozen=True, slots=True)
class StateHistory:
    """The reads and changes of a user's records up to time `at`, when the user had made `step` recalls."""

    at: float
    step: int = 0
    reads: Mapping[str, Sequence[float]] = field(default_factory=dict)  # by id, oldest first
    changes: Mapping[str, Sequence[Change]] = field(default_factory=dict)  # by id, oldest first, later ones as well


def state_as_of(state: ReadState, record_id: str, past: StateHistory, policy: Policy) -> ReadState:
    """The state as of `past.at`; the same state if nothing has changed since. Its strength is the current one.

    >>> changes = [Change("a", 20.0, 1, "pinned", "me"), Change("a", 90.0, 2, "demoted", "me")]
    >>> past = StateHistory(50.0, 1, {"a": [10.0]}, {"a": changes})
    >>> then = state_as_of(ReadState(last_read=80.0, retrieval_count=2), "a", past, Policy())
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
