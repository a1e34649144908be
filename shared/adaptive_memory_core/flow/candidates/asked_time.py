"""Which records are of the time that the question names? The nearest of them, as a source of candidates."""

from __future__ import annotations

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Asked


class AskedTime:
    """The vector search once more, among the records of the time that the question names."""

    name = "the time asked about"

    def wanted(self, request: Request) -> bool:
        return bool(request.intent.windows) and request.policy.advanced.time_weight > 0.0

    def ask(self, ports: Ports, request: Request, asked: Asked) -> Answer:
        """Nothing, where the vectors failed or brought all records that there are."""
        if len(asked.nearest.found) < request.candidates:
            return Answer(self.name)
        vector, windows = asked.cue(request).vector, request.intent.windows
        outcome = tried(
            AdaptiveMemoryError, ports.search.during, request.scope, vector, request.candidates, request.where, windows
        )
        if outcome.value is None:
            return Answer(self.name, notes=(f"the time asked about was not searched by itself: {outcome.error}",))
        return Answer(self.name, found=outcome.value)
