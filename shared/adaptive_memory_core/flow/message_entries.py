"""Where does a message stand in its conversation? As its record says."""

from __future__ import annotations

from adaptive_memory_core.channels.conversation.turns import turn_of
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Stored
from adaptive_memory_core.flow.ports.hierarchy_values import Entry
from adaptive_memory_core.records import Metadata
from adaptive_memory_core.text_identity import said


def entry_of(one: Stored, fields: Fields) -> Entry:
    """The place of a record; of one without a time the beginning."""
    return entry(
        one.stored_id, one.record.text, one.record.metadata or one.record.stored, fields, at=one.record.created_at
    )


def entry(stored_id: str, text: str, metadata: Metadata | None, fields: Fields, *, at: float | None) -> Entry:
    """
    >>> entry("m1", "Hi!", {"speaker": "Ana", "session": 3}, Fields(), at=50.0)[:5]
    ('m1', '3', 50.0, 50.0, 'Ana')
    """
    turn, time = turn_of(text, metadata, fields, created_at=at), 0.0 if at is None else at
    place = time if turn.place is None else turn.place
    return Entry(stored_id, turn.session or "", place, time, turn.speaker, said(text))
