"""Which policy does a memory use now? It may be changed at any time; past decay is not changed by it."""

from __future__ import annotations

from collections.abc import Callable, Collection

from adaptive_memory_core.arguments import channels as check_channels
from adaptive_memory_core.arguments import moment
from adaptive_memory_core.errors import InvalidInputError, PolicyError
from adaptive_memory_core.policy.learning import Phase, Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.shown_in_errors import shown

DIGITS = 6  # of a second


class PolicyInForce:
    """The policy, the paces of those before it, and the clock they go by."""

    def __init__(self, policy: Policy, clock: Callable[[], float], own_channels: Collection[str]) -> None:
        self._clock, self._own_channels = clock, own_channels
        self._policy = self._checked(policy)
        self._regime = Regime((Phase(policy.pace, self.now()),))

    @property
    def policy(self) -> Policy:
        return self._policy

    @property
    def regime(self) -> Regime:
        return self._regime

    def change(self, policy: Policy) -> None:
        """From now on this one."""
        checked = self._checked(policy)
        self._regime = self._regime.followed_by(checked.pace, at=self.now())
        self._policy = checked

    def now(self) -> float:
        """The time, read once for each call of a verb. To the microsecond: of a longer number Chroma gives back another
        one, and what was just written would seem to have been changed by somebody else."""
        now = moment(self._clock(), "the clock's time")
        if now is None:
            raise InvalidInputError("The clock gave None. Give a function that returns POSIX seconds, e.g. time.time.")
        return round(now, DIGITS)

    def _checked(self, policy: Policy) -> Policy:
        if not isinstance(policy, Policy):
            raise PolicyError(
                f"policy is {shown(policy)}. Give a Policy, e.g. memory.policy.replace(half_life_days=7)."
            )
        check_channels(policy, self._own_channels)
        return policy
