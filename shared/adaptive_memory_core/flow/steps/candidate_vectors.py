"""How similar are the candidates to each other? Their vectors, fetched if the policy wants diversity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.time_limits import in_collection
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import Hit


class Compared(NamedTuple):
    """The candidates' vectors, by their ids in the collection; empty where nothing compares them."""

    vectors: Mapping[str, Any]
    notes: tuple[str, ...] = ()


NOT_COMPARED = Compared({})


def candidate_vectors(ports: Ports, request: Request, hits: Sequence[Hit]) -> Compared:
    """The vectors that this ranking depends on; without them it is by score alone, and a note says so."""
    if not request.policy.diversity or len(hits) < 2:
        return NOT_COMPARED
    ids = [hit._stored_id for hit in hits]
    try:
        vectors = in_collection(ports, request.policy, ports.search.vectors, request.scope, ids)
    except AdaptiveMemoryError as error:
        return Compared({}, (f"the hits were not compared with each other: {error}",))
    return Compared(vectors)
