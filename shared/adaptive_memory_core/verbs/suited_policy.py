"""Which channels does "auto" mean for this user? Those for the embedder, and the graph where records are linked."""

from __future__ import annotations

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.drive import Flow, attempt
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.verbs.blocking_and_async import User


def suited(user: User, policy: Policy) -> Flow[Policy]:
    """The policy with all that is automatic decided. The ledger is asked once a user and process; where it cannot be
    read, the records are taken for not linked."""
    name = user.memory.embedder_name
    if policy.channels != "auto":
        return policy.suited(name)
    graph = user.memory.ports().graph
    links = graph.known_links(user.scope)
    if links is None:
        links = (yield from attempt(LedgerError, graph.links, user.scope)).value or 0.0
    return policy.suited(name, links=links)
