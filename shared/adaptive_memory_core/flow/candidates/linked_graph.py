"""Is the graph there for a user who never asked for it? It is made once a question names a title."""

from __future__ import annotations

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Asked, Found
from adaptive_memory_core.graph.build import split_title
from adaptive_memory_core.graph.known_names import MOST_LOOKED_UP, known_names
from adaptive_memory_core.graph.names import handle
from adaptive_memory_core.graph.titles import title_of
from adaptive_memory_core.length_limits import start_and_end
from adaptive_memory_core.policy.channels_and_kinds import LEXICAL
from adaptive_memory_core.policy.graph_and_hierarchy import LINKED_FROM


def is_made(ports: Ports, request: Request, asked: Asked) -> bool:
    """Whether this user's records are linked, and the graph is made of them. Until it is, recalls that count see
    whether the question names the title of what it found: that begins it, beside the calls."""
    if ports.graph.links(request.scope) < LINKED_FROM:
        return False
    made = ports.graph.made(request.scope)
    if not made and request.reinforce:
        found = _found(ports, request, asked)
        titles = {handle(title) for one in found if (title := _title(one, request))}
        if known_names(start_and_end(request.cue.own_words, MOST_LOOKED_UP), titles.intersection):
            ports.graph.want(request.scope)
    return made


def _found(ports: Ports, request: Request, asked: Asked) -> list[Found]:
    """What vectors and words found."""
    nearest = [*asked.nearest.found, *asked.nearest.beside]
    known = {one.stored_id for one in nearest}
    worded = [
        stored_id for one in asked.earlier if one.source == LEXICAL for stored_id in one.named if stored_id not in known
    ]
    more = tried(StoreError, ports.search.stored, request.scope, worded)
    return [*nearest, *(more.value or ())]


def _title(one: Found, request: Request) -> str | None:
    return split_title(one.text or "", title_of(one.metadata, request.fields))[0]
