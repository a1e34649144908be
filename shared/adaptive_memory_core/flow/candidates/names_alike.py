"""What are the vectors of the names in a cue that the graph does not know? They find those that are like them."""

from __future__ import annotations

from collections.abc import Mapping

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.calls.time_limits import embedded_texts
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.search import Vector


def vectors_of_unknown_names(ports: Ports, request: Request) -> Mapping[str, Vector]:
    """By name. None where names are not taken for others, where the graph knows all of them, as nearly always, and
    where the embedder fails, since a recall can do without."""
    if request.policy.advanced.graph.names_alike == 0.0:
        return {}
    ports.graph.compare_names()
    found = tried(AdaptiveMemoryError, ports.graph.unknown_names, request.scope, request.cue.own_words)
    names = found.value or ()
    if not names:
        return {}
    try:
        vectors = embedded_texts(ports.embedder, names)
    except AdaptiveMemoryError:
        return {}
    return dict(zip(names, vectors, strict=True))
