"""Is a scope empty though the collection is not? The trace says whose records were looked past."""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.context.empty_answer_notes import looked_past
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.calls.drive import Flow, attempt
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports

LOOKED_AT = 100  # of the latest records


def nothing_there(ports: Ports, request: Request, answer: Recall) -> Flow[Recall]:
    """The answer, with a note where nothing at all was there to choose from and that is odd."""
    if answer.kept or answer.dropped or request.where is not None:
        return answer
    found = yield from attempt(StoreError, _owners, ports)
    note = looked_past(request.scope.name, found.value or [])
    return answer if note is None else replace(answer, trace=(*answer.trace, note))


def _owners(ports: Ports) -> list[object]:
    """What the latest records say of their user."""
    rows = ports.records.rows(ports.records.latest(LOOKED_AT))
    return [(metadata or {}).get(ports.fields.user_id) for _, _, metadata in rows]
