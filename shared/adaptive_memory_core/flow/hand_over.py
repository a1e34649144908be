"""Does what was learned of a record outlive it? It passes to another one of the same source that says the same."""

from __future__ import annotations

from adaptive_memory_core.flow.look_up import look_up
from adaptive_memory_core.flow.ports import Ports, Stored
from adaptive_memory_core.learn.after_read import added
from adaptive_memory_core.records import Scope
from adaptive_memory_core.stored_owner import belongs
from adaptive_memory_core.text_identity import origin, said


def hand_over(ports: Ports, scope: Scope, record_id: str, *, now: float) -> None:
    """Give the state of a record that is about to go to its twin, if there is one."""
    found = look_up(ports, scope, [record_id], now=now)
    for leaving in found.values():
        twin = _twin(ports, scope, leaving)
        if twin is not None:
            ports.ledger.comparison.merge(scope, twin, leaving.stored_id, added)
            ports.write_back.wake()


def _twin(ports: Ports, scope: Scope, leaving: Stored) -> str | None:
    """The first other record that is there, is of the same source and says the same."""
    text, mark = leaving.record.text, origin(leaving.record.text, leaving.record.stored)
    if mark is None:
        return None
    named = ports.ledger.inheritance.ancestors(scope, [mark])
    rows = ports.records.rows([one for one in named if one != leaving.stored_id])
    same = (row[0] for row in rows if said(row[1]) == said(text) and belongs(row[2], scope, ports.fields))
    return next(same, None)
