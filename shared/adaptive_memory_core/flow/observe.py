"""How is a conversation observed? Each message becomes a record at once; what grows from it is left to the background.

The same messages again change nothing, so a call that was broken off is repeated as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adaptive_memory_core.arguments.messages import distinct_messages
from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.look_up import look_up
from adaptive_memory_core.flow.message_entries import entry_of
from adaptive_memory_core.flow.ports import Ports, Stored
from adaptive_memory_core.flow.remember import remember
from adaptive_memory_core.records import NewRecord, Scope

BATCH = 500  # messages that are written together, and after which progress is told
Progress = Callable[[int, int], object]


def observe(
    ports: Ports,
    scope: Scope,
    given: Sequence[NewRecord],
    *,
    now: float,
    new_id: Callable[[], str],
    progress: Progress | None = None,
) -> Flow[list[str]]:
    """Write those that are new, or say something else by now; gives the ids of all, in order."""
    yield from ask(ports.hierarchy.watch, scope)
    messages = distinct_messages(given)
    for start in range(0, len(messages), BATCH):
        batch = messages[start : start + BATCH]
        yield from _observe(ports, scope, batch, now=now, new_id=new_id)
        if progress is not None:
            progress(min(start + BATCH, len(messages)), len(messages))
    return [one.id or "" for one in given]


def _observe(
    ports: Ports, scope: Scope, batch: Sequence[NewRecord], *, now: float, new_id: Callable[[], str]
) -> Flow[None]:
    known = yield from look_up(ports, scope, [one.id for one in batch if one.id is not None], now=None)
    new = [one for one in batch if one.id is None or not _is_there(one, known.get(one.id))]
    if new:
        yield from remember(ports, scope, new, now=now, new_id=new_id)
    written = {one.id for one in new}
    old = {one.stored_id: one for one in known.values() if one.record.id not in written}
    if old:
        heard = yield from ask(ports.hierarchy.known, scope, list(old))
        missed = [entry_of(one, ports.fields) for stored_id, one in old.items() if stored_id not in heard]
        yield from ask(ports.hierarchy.missed, scope, missed)


def _is_there(message: NewRecord, known: Stored | None) -> bool:
    """Whether the record says just that already."""
    if known is None:
        return False
    record = known.record
    same = (record.text, record.kind, record.created_at) == (message.text, message.kind, message.created_at)
    return same and dict(record.metadata) == dict(message.metadata)
