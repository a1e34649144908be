"""What do the vectors find? The cue embedded and its nearest records; without them, what the other channels found."""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core.errors import EmbedderError, EmbedderMismatchError, StoreError
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.time_limits import embedded
from adaptive_memory_core.flow.candidates.asked_time import then
from adaptive_memory_core.flow.candidates.gather import Finding, Request, find
from adaptive_memory_core.flow.candidates.other_channels import Looked
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import Cue


def dense(ports: Ports, request: Request, looked: Looked) -> Flow[tuple[Cue, Finding]]:
    """The cue with its vector, and the nearest. If they fail, another channel may answer; else the error stands."""
    cue = request.cue
    try:
        cue = yield from sense(ports, request, looked)
        return cue, (yield from then(ports, request, cue, (yield from find(ports, request, cue))))
    except (EmbedderError, StoreError) as error:
        if isinstance(error, EmbedderMismatchError) or not looked.found:
            raise
        note = f"the channel 'dense' was left out: {error}"
        return cue, Finding([], (note,), lost=error)


def sense(ports: Ports, request: Request, looked: Looked) -> Flow[Cue]:
    """The cue with its vector, unless the caller has made that already."""
    cue = request.cue
    if cue.vector is not None:
        return cue
    own = looked.leads is None or cue.words is not None  # the channel's cue is made of the words, not of the text
    text = cue.text if own or looked.leads is None else looked.leads.cue
    return replace(cue, vector=(yield from embedded(ports, text, request.policy)))
