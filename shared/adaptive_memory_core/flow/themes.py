"""What is remembered of the conversations, grouped? The themes of a scope, once all that waits was worked in."""

from __future__ import annotations

from collections.abc import Callable

from adaptive_memory_core.context.themes import Themes, themes_of
from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import Scope


def themes(
    ports: Ports, scope: Scope, *, now: float, settle: bool, progress: Callable[[int, int], object] | None
) -> Flow[Themes]:
    """The hierarchy as a user reads it; empty for one who never observed."""
    if settle:
        yield from ask(ports.hierarchy.settle, scope, progress)
    found = yield from ask(ports.hierarchy.view, scope)
    if found is None:
        return Themes()
    over = yield from ask(ports.search.passing, scope, {ports.fields.valid_until: {"$lte": now}})
    return themes_of(scope, found, over)
