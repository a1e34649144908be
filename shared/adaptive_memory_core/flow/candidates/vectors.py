"""Which records are nearest to the cue's vector? The cue is embedded, and the collection is searched."""

from __future__ import annotations

from adaptive_memory_core.errors import EmbedderError, EmbedderMismatchError, StoreError
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.time_limits import embedded, nearest_and_named
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Asked
from adaptive_memory_core.frozen import changed
from adaptive_memory_core.policy.channel_names import DENSE


class Vectors:
    """The channel "dense". It is asked after those that may take something out of the cue."""

    name = DENSE

    def wanted(self, request: Request) -> bool:  # noqa: ARG002 - every recall compares vectors
        return True

    def ask(self, ports: Ports, request: Request, asked: Asked) -> Flow[Answer]:
        """The cue with its vector, and the nearest records. Where another source named something, a failure is an
        answer as well; vectors of another embedder never are."""
        cue = asked.cue(request)
        try:
            if cue.vector is None:
                vector = yield from embedded(ports, cue.text, request.policy)
                cue = changed(cue, vector=vector)
            named = list(dict.fromkeys([one for answer in asked.earlier for one in answer.named]))
            found = yield from nearest_and_named(ports, request, cue.vector, request.candidates, named)
        except EmbedderMismatchError:
            raise
        except (EmbedderError, StoreError) as error:
            if not any(one.says_something for one in asked.earlier):
                raise
            return Answer(DENSE, cue=cue, error=error)
        if found.named is None:
            return Answer(DENSE, found=found.nearest, cue=cue)
        return Answer(DENSE, found=found.nearest, cue=cue, beside=found.named, looked_up=frozenset(named))
