"""Which records were recently called helpful? Adds them to the candidates, however dissimilar."""

from __future__ import annotations

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Asked

REACH = 10  # recalls of the user within which a useful record is always a candidate; benchmarks/bursts.py
MOST_RECENT = 8  # records that are compared besides the nearest; bursts have fewer


class RecentlyHelpful:
    """Records of the user's that were of use within the last recalls."""

    name = "recently helpful"

    def wanted(self, request: Request) -> bool:
        """Not beside a filter: to ask Chroma for ids and a filter at once costs more than the search."""
        policy = request.policy
        counts = policy.blending == "bounded" and policy.learning.usefulness > 0.0
        return counts and request.where is None

    def ask(self, ports: Ports, request: Request, asked: Asked) -> Answer:
        """Nothing, where the vectors failed or brought all records that there are."""
        if len(asked.nearest.found) < request.candidates:
            return Answer(self.name)
        ledger, scope = ports.ledger.states, request.scope
        outcome = tried(LedgerError, ledger.recently_helpful, scope, recalls=REACH, limit=MOST_RECENT)
        return Answer(self.name, named=outcome.value or ())
