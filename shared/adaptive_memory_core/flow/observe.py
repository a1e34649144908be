"""How is a conversation observed? Each message becomes a record at once; what grows from it is left to the background.

The same messages again change nothing, so a call that was broken off is repeated as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from adaptive_memory_core.arguments.new_records import distinct_messages
from adaptive_memory_core.arguments.values import in_turn
from adaptive_memory_core.context.themes import Themes, themes_of
from adaptive_memory_core.flow.look_up import look_up
from adaptive_memory_core.flow.message_entries import entry_of
from adaptive_memory_core.flow.ports import Ports, Stored
from adaptive_memory_core.flow.remember import remember
from adaptive_memory_core.hierarchy.nodes import NOTHING, Hierarchy
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.records import MESSAGE_KIND, NewRecord, Scope

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
) -> list[str]:
    """Write those that are new, or say something else by now; gives the ids of all, in order."""
    ports.hierarchy.watch(scope)
    messages = distinct_messages(given)
    for start in range(0, len(messages), BATCH):
        batch = [(one, in_turn(now, place)) for place, one in enumerate(messages[start : start + BATCH], start)]
        _observe(ports, scope, batch, now=now, new_id=new_id)
        if progress is not None:
            progress(min(start + BATCH, len(messages)), len(messages))
    return [one.id or "" for one in given]


def _observe(
    ports: Ports, scope: Scope, batch: Sequence[tuple[NewRecord, float]], *, now: float, new_id: Callable[[], str]
) -> None:
    """A batch of messages, each with the time that it has if it says none."""
    known = look_up(ports, scope, [one.id for one, _ in batch if one.id is not None], now=None)
    new = [
        one if one.created_at is not None else replace(one, created_at=time)
        for one, time in batch
        if one.id is None or not _is_there(one, known.get(one.id))
    ]
    if new:
        remember(ports, scope, new, now=now, new_id=new_id)
    written = {one.id for one in new}
    others = [one.id for one in new if one.id is not None and one.kind != MESSAGE_KIND]  # of which nobody was told
    known = {one: found for one, found in known.items() if one not in written} | look_up(ports, scope, others, now=None)
    old = {one.stored_id: one for one in known.values()}
    if old:
        heard = ports.hierarchy.known(scope, list(old))
        missed = [entry_of(one, ports.fields) for stored_id, one in old.items() if stored_id not in heard]
        ports.hierarchy.missed(scope, missed)


def _is_there(message: NewRecord, known: Stored | None) -> bool:
    """Whether the record says just that already."""
    if known is None:
        return False
    record = known.record
    said = ("created_at", "valid_from", "valid_until", "supersedes")
    same = all(getattr(message, one) in (None, getattr(record, one)) for one in said)
    same = same and (record.text, record.kind) == (message.text, message.kind)
    return same and dict(record.metadata) == dict(message.metadata)


def hierarchy(ports: Ports, scope: Scope, *, settle: bool, progress: Progress | None) -> Hierarchy:
    """All of it, with the ids that the user knows; empty for one who never observed."""
    found = _grown(ports, scope, settle=settle, progress=progress)
    return found.with_ids(lambda stored_id: record_id(scope, stored_id))


def _grown(ports: Ports, scope: Scope, *, settle: bool, progress: Progress | None) -> Hierarchy:
    if settle:
        ports.hierarchy.settle(scope, progress)
    found = ports.hierarchy.view(scope)
    return NOTHING if found is None else found


def themes(ports: Ports, scope: Scope, *, now: float, settle: bool, progress: Progress | None) -> Themes:
    """The hierarchy as a user reads it; empty for one who never observed."""
    found = _grown(ports, scope, settle=settle, progress=progress)
    over = ports.search.passing(scope, {ports.fields.valid_until: {"$lte": now}}) if found.themes else frozenset()
    return themes_of(scope, found, over)
