"""Which channels does "auto" mean for this user? Those for the embedder, and the graph where records are linked."""

from __future__ import annotations

from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.verbs.blocking_and_async import User


def suited(user: User, policy: Policy) -> Policy:
    """The policy with all that is automatic decided."""
    memory = user.memory
    links = memory.ports().graph.links(user.scope) if policy.channels == "auto" else 0.0
    return policy.suited(memory.embedder_name, links=links)
