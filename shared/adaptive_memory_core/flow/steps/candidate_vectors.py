"""How alike are the candidates? Their vectors, fetched where the policy asks for diversity."""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.time_limits import stored
from adaptive_memory_core.flow.candidates.gather import Finding, Request
from adaptive_memory_core.flow.ports import Ports


def compared(ports: Ports, request: Request, finding: Finding) -> Flow[Finding]:
    """The candidates with their vectors; without them they are ranked by score alone, and a note says so."""
    if request.policy.copies.diversity == 0.0 or len(finding.hits) < 2:
        return finding
    ids = [hit.stored_id for hit in finding.hits]
    try:
        vectors = yield from stored(ports, request.policy, ports.store.vectors, request.scope, ids)
    except AdaptiveMemoryError as error:
        note = f"the hits were not compared with each other: {error}"
        return replace(finding, notes=(*finding.notes, note))
    return replace(finding, vectors=vectors)
