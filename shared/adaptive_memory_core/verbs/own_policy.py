"""By which policy does a user recall? The call's, else the user's own as kept in the ledger, else the memory's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from adaptive_memory_core import arguments as check
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.sources.ask import channels_of
from adaptive_memory_core.verbs.blocking_and_async import User

UNREAD: Final = "not read yet"


@dataclass(slots=True)
class OwnPolicy:
    """A user's own policy, read from the ledger once for each `UserMemory`."""

    policy: Policy | str | None = UNREAD


def usual_policy(user: User) -> Policy:
    """The user's own policy, else the memory's; also where the ledger cannot be read."""
    if user.own_policy.policy is UNREAD:
        ports = user.memory.ports()
        outcome = tried(LedgerError, kept_policy, ports, user.scope)
        if outcome.error is None:
            user.own_policy.policy = outcome.value
    own = user.own_policy.policy
    return own if isinstance(own, Policy) else user.memory.policy


def kept_policy(ports: Ports, scope: Scope) -> Policy | None:
    """What the ledger has; everyone's records have the memory's."""
    text = None if scope.user is None else ports.ledger.own_policies.get(scope)
    return None if text is None else Policy.from_json(text)


def keep_policy(ports: Ports, scope: Scope, policy: object) -> Policy:
    """Keep it for the user, unless it is the one that is kept already."""
    checked = check.policy(policy, Policy())
    check.channels(checked, channels_of(ports.sources))
    text = checked.to_json()
    if ports.ledger.own_policies.get(scope) != text:
        ports.ledger.own_policies.keep(scope, text)
    return checked


def reset_policy(user: User) -> None:
    """Let go of the policy that `for_user(policy=...)` has kept for this user: the memory's is in force again."""
    user.memory.ports().ledger.own_policies.keep(user.scope, None)
    user.own_policy.policy = None


def suited(user: User, policy: Policy) -> Policy:
    """The policy with all that is automatic decided. The ledger is asked once a user and process; where it cannot be
    read, the records are taken for not linked."""
    if policy.channels != "auto":
        return policy.suited()
    graph = user.memory.ports().graph
    links = graph.known_links(user.scope)
    if links is None:
        links = tried(LedgerError, graph.links, user.scope).value or 0.0
    return policy.suited(links=links)
