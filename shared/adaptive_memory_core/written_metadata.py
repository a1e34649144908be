"""What is written into Chroma's metadata? A record's keys and types, what changes, and its read state."""

from __future__ import annotations

import hashlib
import math
from typing import Any

from adaptive_memory_core.fields import Fields, read_driven
from adaptive_memory_core.metadata_values import as_number
from adaptive_memory_core.records import Metadata, ReadState, Record, Scope
from adaptive_memory_core.where_values import HIGHEST, LOWEST, as_float


def metadata_of(scope: Scope, record: Record, fields: Fields) -> dict[str, Any]:
    """The metadata of a record to be written: the caller's keys and ours, numbers always of one type each."""
    ours = {
        fields.user_id: scope.name,
        fields.kind: record.kind,
        fields.importance: _on_scale(record.importance, fields.importance_scale),
        fields.created_at: _float(record.created_at),
        fields.valid_from: _float(record.valid_from),
        fields.valid_until: _float(record.valid_until),
        fields.supersedes: record.supersedes,
        fields.derived: 1 if record.derived_from else None,
        fields.derived_from: list(record.derived_from) or None,
        fields.derived_stale: record.derived_stale,
        **projection(record.read, {}, fields),
    }
    return {**record.metadata, **{key: value for key, value in ours.items() if value is not None}}


def merged(present: Metadata | None, changes: Metadata) -> dict[str, Any] | None:
    """The metadata that Chroma shows once these were merged into what was there; None where no key is left.

    >>> merged({"a": 1, "b": 2}, {"a": None, "c": 0.1}), merged(None, {"a": float("nan")})
    ({'b': 2, 'c': 0.1}, None)
    """
    both = {**(present or {}), **{key: _as_chroma_has(value) for key, value in changes.items()}}
    return {key: value for key, value in both.items() if value is not None} or None


def _as_chroma_has(value: Any) -> Any:
    """A value as it comes back: Chroma reads numbers in a way of its own, and those that are none take the key away."""
    if type(value) is float:
        return as_float(value)
    if isinstance(value, list):
        return [_as_chroma_has(one) for one in value]
    return as_float(value) if type(value) is int and not LOWEST <= value <= HIGHEST else value


def revision(scope: Scope, record: Record, present: Metadata, fields: Fields) -> dict[str, Any]:
    """What is to be merged into the metadata that are there: the new version, with what takes every other key of the
    old one away. The read state that it shows is left as it is: a read that came in between has been written back
    maybe, and would not be again."""
    state = projection(record.read, present, fields)
    shown = (state.keys() & present.keys()) - clashes(state, present, fields)
    revised = {**dict.fromkeys(present), **metadata_of(scope, record, fields)}
    return {key: value for key, value in revised.items() if key not in shown}


def unlinked(metadata: Metadata, record: str, began: float | None, fields: Fields) -> dict[str, Any]:
    """What is to be merged so that a record no longer supersedes another one, or is superseded by it. It is valid again
    where the other one's beginning had ended it.

    >>> unlinked({"superseded_by": "b", "valid_until": 5.0}, "b", 5.0, Fields())
    {'superseded_by': None, 'valid_until': None}
    """
    links = (fields.supersedes, fields.superseded_by)
    changes: dict[str, Any] = {link: None for link in links if metadata.get(link) == record}
    if fields.superseded_by in changes and began is not None and metadata.get(fields.valid_until) == began:
        changes[fields.valid_until] = None
    return changes


def projection(state: ReadState, present: Metadata, fields: Fields) -> dict[str, Any]:
    """The read-driven keys as the collection shall show them. Values are rounded so that Chroma gives them back whole.

    >>> projection(ReadState(last_read=50.0, retrieval_count=1), {}, Fields())
    {'retrieval_count': 1, 'remembered': 0, 'strength': 1.0, 'last_read': 50.0}
    """
    values: dict[str, Any] = {
        fields.retrieval_count: state.retrieval_count,
        fields.remembered: int(state.remembered),
        fields.strength: round(state.strength, 6),
    }
    if state.last_read is not None:
        values[fields.last_read] = round(state.last_read, 6)
    elif fields.last_read in present:  # of what the record said before
        values[fields.last_read] = None
    if state.boost != 0.0 or fields.boost in present:
        values[fields.boost] = round(state.boost, 6)
    if state.pinned or fields.pinned in present:
        values[fields.pinned] = int(state.pinned)
    if state.useful_at is not None or fields.useful_at in present:
        values[fields.useful_at] = 0.0 if state.useful_at is None else round(state.useful_at, 6)
    return values


def without_read_state(metadata: Metadata, fields: Fields) -> dict[str, Any]:
    """The metadata without what reads and feedback wrote. Another program's value under one of those keys stays.

    >>> without_read_state({"topic": "tea", "retrieval_count": 3, "strength": "500 mg"}, Fields())
    {'topic': 'tea', 'strength': '500 mg'}
    """
    ours = metadata.keys() & read_driven(fields)
    if ours:
        ours -= clashes(dict.fromkeys(ours), metadata, fields)
    return {key: value for key, value in metadata.items() if key not in ours}


def exported_digest(stored_id: str, text: str | None, metadata: Metadata | None, fields: Fields) -> bytes:
    """What changes as soon as a record does, but for its read state.

    >>> one = exported_digest("a", "tea", {"topic": "drinks"}, Fields())
    >>> one == exported_digest("a", "tea", {"topic": "drinks", "retrieval_count": 3}, Fields())
    True
    >>> one == exported_digest("a", "coffee", {"topic": "drinks"}, Fields())
    False
    """
    told = (stored_id, text or "", sorted(without_read_state(metadata or {}, fields).items()))
    return hashlib.blake2b(repr(told).encode(errors="surrogatepass"), digest_size=16).digest()


REMOVED = "removed"  # in the place of the text of what was taken out of the collection


def clashes(values: Metadata, present: Metadata, fields: Fields) -> set[str]:
    """Those keys under which the collection holds what is no read state: not ours, so not to be overwritten.

    >>> clashes({"strength": 1.0, "last_read": 5.0}, {"strength": "500 mg", "last_read": 4}, Fields())
    {'strength'}
    >>> clashes({"strength": 1.0, "last_read": 5.0}, {"strength": 99.0}, Fields())
    {'strength'}
    """
    highest = {fields.strength: 1.0, fields.remembered: 1.0, fields.pinned: 1.0, fields.boost: 1.0}
    whole = (fields.retrieval_count, fields.remembered, fields.pinned)

    def is_ours(key: str, value: Any) -> bool:
        if isinstance(value, bool):
            return key in (fields.remembered, fields.pinned)
        low = -1.0 if key == fields.boost else 0.0
        number = as_number(value, low, highest.get(key, math.inf))
        return number is not None and (key not in whole or number == int(number))

    return {key for key in values if key in present and not is_ours(key, present[key])}


def _on_scale(importance: float | None, scale: float) -> float | None:
    """An importance as the collection has it.

    >>> _on_scale(0.7, 10), _on_scale(0.7, 1.0), _on_scale(None, 10)
    (7.0, 0.7, None)
    """
    return None if importance is None else float(importance) if scale == 1.0 else round(importance * scale, 9)


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)
