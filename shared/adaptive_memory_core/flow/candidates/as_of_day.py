"""Which records were there on an earlier day? The nearest of those, as a source of candidates."""

from __future__ import annotations

import math

from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Asked
from adaptive_memory_core.score.gates import ONE_CALL_SECONDS


class AsOfDay:
    """The vector search once more, among what was written or began up to the day that is asked as of."""

    name = "as of that day"

    def wanted(self, request: Request) -> bool:
        return request.as_of is not None

    def ask(self, ports: Ports, request: Request, asked: Asked) -> Answer:
        """Nothing, where the vectors failed or brought all records that there are."""
        if request.as_of is None or len(asked.nearest.found) < request.candidates:
            return Answer(self.name)
        until = [Window(None, math.nextafter(request.as_of + ONE_CALL_SECONDS, math.inf))]
        vector = asked.cue(request).vector
        outcome = tried(
            AdaptiveMemoryError, ports.search.during, request.scope, vector, request.candidates, request.where, until
        )
        if outcome.value is None:
            return Answer(self.name, notes=(f"what was there on that day was not searched by itself: {outcome.error}",))
        return Answer(self.name, found=outcome.value)
