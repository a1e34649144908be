"""How does a verdict change a record's state, and how is it taken back? By a note of what it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from adaptive_memory_core.learn import lead_weights
from adaptive_memory_core.learn.after_read import latest
from adaptive_memory_core.learn.lead_weights import LeadWeights
from adaptive_memory_core.learn.usefulness_weight import Ranking, lean, moved
from adaptive_memory_core.learn.verdict_importance import rejudged
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState, Verdict


class Occasion(NamedTuple):
    """When something was read: the time, and which of the user's recalls it was."""

    at: float
    step: int


class Earlier(NamedTuple):
    """An earlier verdict on the same record of the same recall, as it was kept with what it did.

    `left` is the last useful read that remains without it.
    """

    verdict: Verdict
    boosts: tuple[float, float]  # without it and with it
    useful_at: float | None
    sway: float = 0.0
    left: Occasion | None = None


@dataclass(frozen=True, slots=True)
class Judging:
    """The verdicts on what one recall returned, by the policy in force."""

    policy: Policy
    read: Occasion  # the recall's own: a memory was of use when it was read, not when somebody says so
    now: float
    rankings: Mapping[str, Sequence[Ranking]] = field(default_factory=dict)  # by stored id; where balances adapt
    steps: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # of leads, by stored id; where those adapt

    def boost(self, state: ReadState, verdict: Verdict, earlier: Earlier | None) -> tuple[float, float]:
        """The boost without and with the verdict."""
        return rejudged(state.boost, verdict, None if earlier is None else earlier.boosts, self.policy)

    def state(self, state: ReadState, verdict: Verdict, earlier: Earlier | None) -> ReadState:
        """The state after the verdict; an earlier one that it replaces is taken back first."""
        before = state if earlier is None else withdrawn(state, earlier)
        after = self._counted(before, verdict)
        return replace(after, boost=self.boost(state, verdict, earlier)[1])

    def balance(self, stored_id: str, verdict: Verdict, balance: float, earlier: Earlier | None) -> tuple[float, float]:
        """How far the verdict moves the user's balance, and the balance after it."""
        useful = self.policy.useful
        before = balance if earlier is None or earlier.sway == 0.0 else moved(balance, -earlier.sway, useful)
        if verdict is not Verdict.HELPFUL or not self.policy.adaptive:
            return 0.0, before
        after = moved(before, lean(self.rankings.get(stored_id, ()), before, useful), useful)
        return after - before, after

    def lead_weights(
        self, stored_id: str, verdict: Verdict, before: LeadWeights, earlier: Earlier | None
    ) -> LeadWeights:
        """What the leads count after the verdict; the opposite one takes back what a helpful one did."""
        by, was = self.steps.get(stored_id), None if earlier is None else earlier.verdict
        if not by or (verdict is Verdict.UNHELPFUL and was is not Verdict.HELPFUL):
            return before
        return lead_weights.moved(before, by, 1 if verdict is Verdict.HELPFUL else -1, self.policy.useful)

    def _counted(self, state: ReadState, verdict: Verdict) -> ReadState:
        if verdict is Verdict.UNHELPFUL:
            return replace(state, unhelpful=state.unhelpful + 1)
        useful_at = latest(state.useful_at, self.read.at, now=max(self.now, self.read.at))
        step = self.read.step if useful_at == self.read.at else state.useful_step
        return replace(state, useful_at=useful_at, useful_step=step, helpful=state.helpful + 1)


def withdrawn(state: ReadState, earlier: Earlier) -> ReadState:
    """The state as if a verdict had not been given, but for the boost.

    >>> twice = ReadState(useful_at=9.0, useful_step=2, helpful=2)
    >>> first = Earlier(Verdict.HELPFUL, (0.0, 0.05), useful_at=9.0, left=Occasion(5.0, 1))
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
