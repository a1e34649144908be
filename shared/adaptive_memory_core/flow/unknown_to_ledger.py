"""Which records of a scope has the ledger never met? Those written by other programs and never recalled."""

from __future__ import annotations

from collections.abc import Iterator

from adaptive_memory_core.flow.ports import Found, Ports, seen
from adaptive_memory_core.records import Scope, Seen
from adaptive_memory_core.sources.read_state import known_states
from adaptive_memory_core.stored_metadata import hits_of


def unmet(ports: Ports, scope: Scope) -> dict[str, Seen]:
    """They and their states, as their metadata have them."""
    strangers: dict[str, Seen] = {}
    pages: Iterator[list[Found]] = ports.records.pages(scope)
    while (page := next(pages, None)) is not None:
        known = known_states(ports, scope, page, now=None)
        new = [one for one in page if one.stored_id not in known.states]
        hits = hits_of(scope, new, {}, ports.fields)
        strangers |= {hit._stored_id: seen(hit.record, shared=hit.shared is not None) for hit in hits}
    return strangers
