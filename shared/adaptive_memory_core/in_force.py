"""The policy in force for a user, the clock, and new ids."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments.values import FIRST_MOMENT, LAST_MOMENT
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError, LedgerError, PolicyError
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.policy.advanced import LINKED_FROM
from adaptive_memory_core.policy.learning import Phase, Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.sources.ask import channels_of

if TYPE_CHECKING:
    from adaptive_memory_core.user_memory import UserMemory

DIGITS = 6  # of a second


class PolicyInForce:
    """The policy, the paces of earlier policies, and the clock."""

    def __init__(self, policy: Policy, clock: Callable[[], float], own_channels: Collection[str]) -> None:
        self._clock, self._own_channels = clock, own_channels
        self.policy = self._checked(policy)
        self.regime = Regime((Phase(policy.pace, self.now()),))

    def change(self, policy: Policy) -> None:
        """Use this policy from now on."""
        checked = self._checked(policy)
        self.regime = self.regime.followed_by(checked.pace, at=self.now())
        self.policy = checked

    def now(self) -> float:
        """The time, read once per call and rounded to microseconds. Chroma does not return longer numbers exactly, so a
        new record would seem to have been changed by another program."""
        reading: object = self._clock()
        if isinstance(reading, float) and FIRST_MOMENT <= reading <= LAST_MOMENT:
            return round(reading, DIGITS)
        now = check.moment(reading, "the clock's time")
        if now is None:
            raise InvalidInputError("The clock gave None. Give a function that returns POSIX seconds, e.g. time.time.")
        return round(now, DIGITS)

    def _checked(self, policy: Policy) -> Policy:
        if not isinstance(policy, Policy):
            raise PolicyError(
                f"policy is {shown(policy)}. Give a Policy, e.g. memory.policy.replace(half_life_days=7)."
            )
        check.channels(policy, self._own_channels)
        return policy


UNREAD: Final = "not read yet"


@dataclass(slots=True)
class OwnPolicy:
    """A user's own policy, read from the ledger once for each `UserMemory`."""

    policy: Policy | str | None = UNREAD


def usual_policy(user: UserMemory) -> Policy:
    """The user's own policy; the memory's if there is none or the ledger cannot be read."""
    if user.own_policy.policy is UNREAD:
        with suppress(LedgerError):
            user.own_policy.policy = stored_policy(user.memory.opened.parts.ports, user.scope)
    own = user.own_policy.policy
    return own if isinstance(own, Policy) else user.memory.opened.in_force.policy


def stored_policy(ports: Ports, scope: Scope) -> Policy | None:
    """The user's policy in the ledger; None for everyone's records, which use the memory's."""
    text = None if scope.user is None else ports.ledger.own_policies.get(scope)
    return None if text is None else Policy.from_json(text)


def keep_policy(ports: Ports, scope: Scope, policy: object) -> Policy:
    """Check the policy and store it for the user, unless the same policy is already stored."""
    checked = check.policy(policy, Policy())
    check.channels(checked, channels_of(ports.sources))
    text = checked.to_json()
    if ports.ledger.own_policies.get(scope) != text:
        ports.ledger.own_policies.keep(scope, text)
    return checked


def suited(ports: Ports, scope: Scope, policy: Policy) -> Policy:
    """The policy with its automatic settings resolved. The ledger is read once per user and process; if it cannot be
    read, the records are treated as not linked."""
    if policy.channels != "auto":
        return policy
    known, links = ports.graph.linked.known.get(scope), 0.0
    if known is not None:
        links = known.links.links
    else:
        with suppress(LedgerError):
            links = ports.graph.linked.links(scope)
    return policy.linked if links >= LINKED_FROM else policy.unlinked


# Ids that cannot be guessed, from random bytes that are read from the system in large blocks. Each read lets another
# thread run, which a recall then waits for.
SIZE, AT_ONCE = 16, 256


class RandomIds:
    """A source of ids for one process; a fork starts with new bytes.

    >>> import uuid
    >>> ids, one = RandomIds(), uuid.UUID(random_ids.next())
    >>> len({ids.next() for _ in range(1_000)}), one.version, one.variant == uuid.RFC_4122
    (1000, 4, True)
    """

    def __init__(self) -> None:
        self._octets: list[bytes] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._octets.clear)

    def next(self) -> str:
        """A random UUID."""
        while True:
            try:
                octets = self._octets.pop()  # each block goes to one thread only
            except IndexError:
                many = os.urandom(SIZE * AT_ONCE)
                self._octets.extend(many[start : start + SIZE] for start in range(0, len(many), SIZE))
            else:
                digits, variant = octets.hex(), "89ab"[octets[8] & 3]
                return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


random_ids = RandomIds()
