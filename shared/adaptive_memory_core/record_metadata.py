"""A record's metadata in the collection: reading, writing, and ownership."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.fields import Fields, as_moment, as_number, as_texts, as_words, read_driven
from adaptive_memory_core.identity import MARK, record_id
from adaptive_memory_core.learn.after_read import MOST_READS
from adaptive_memory_core.metadata_columns import HIGHEST, LOWEST, as_float
from adaptive_memory_core.ranges import LARGEST
from adaptive_memory_core.records import (
    EVERYONE,
    NEVER_READ,
    NUMBERED,
    UNKNOWN_STEP,
    Hit,
    Metadata,
    ReadState,
    Record,
    Scope,
)
from adaptive_memory_core.score.ranking import CandidateColumns, Candidates
from adaptive_memory_core.score.signals import NEUTRAL_IMPORTANCE, boosted

SHARED = Scope(None)  # the records that belong to no user


def belongs(metadata: Metadata | None, scope: Scope, fields: Fields) -> bool:
    """Whether the scope reads the record. A record with any user key, even a non-string, is not everyone's.

    >>> belongs({"user_id": "alice"}, Scope("alice"), Fields()), belongs({"user_id": "alice"}, Scope(None), Fields())
    (True, False)
    >>> [belongs({"user_id": one}, Scope("alice", over="everyone"), Fields()) for one in ("alice", None, "bob", "")]
    [True, True, False, False]
    >>> belongs(None, Scope(None), Fields()), belongs({"user_id": ""}, Scope(None), Fields())
    (True, False)
    >>> [belongs({"user_id": one}, Scope.of(7), Fields()) for one in (7, "7", "number#n-7", True)]
    [True, False, False, False]
    """
    owner = None if metadata is None else metadata.get(fields.user_id)
    if owner is None:
        return scope.user is None or scope.over is not None
    if type(owner) is str:
        return owner == scope.user and not owner.startswith(NUMBERED)
    return type(owner) is int and Scope.of(owner).user == scope.user


def rows_of(
    rows: Iterable[tuple[str, str | None, Metadata | None]], scope: Scope, fields: Fields
) -> list[tuple[str, str | None, Metadata | None]]:
    """The rows of a collection that the scope reads, by `belongs`.

    >>> [row[0] for row in rows_of([("a", "tea", {"user_id": "ana"}), ("b", "tax", None)], Scope("ana"), Fields())]
    ['a']
    """
    user, key = scope.user, fields.user_id
    plain = user is not None and not user.startswith(NUMBERED)  # if so, records contain exactly this name
    return [
        row
        for row in rows
        if (plain and row[2] is not None and row[2].get(key) == user) or belongs(row[2], scope, fields)
    ]


def owner_of(metadata: Metadata | None, fields: Fields) -> Scope | None:
    """The scope that owns a record, by its user key; None if the key's value cannot be a user.

    >>> [owner_of({"user_id": one}, Fields()) == Scope.of(one) for one in ("ana", 7, None)]
    [True, True, True]
    >>> [owner_of({"user_id": one}, Fields()) for one in ("", True, 7.5, "number#n-7")]
    [None, None, None, None]
    """
    owner = None if metadata is None else metadata.get(fields.user_id)
    if owner is None:
        return SHARED
    if type(owner) is str:
        return None if owner == "" or owner.startswith(NUMBERED) else Scope(owner)
    return Scope.of(owner) if type(owner) is int else None


def record_of(
    scope: Scope,
    stored_id: str,
    text: str | None,
    metadata: Metadata | None,
    fields: Fields,
    state: ReadState | None = None,
) -> Record:
    """A record from Chroma's values. A key that is missing or has another type counts as unknown.

    Its read state is the given one, or else the one in its metadata; its importance includes the effect of feedback.
    Its metadata are copies, because others may use the same dicts.
    """
    found: Metadata = {} if metadata is None else metadata
    get = found.get
    known = state_in_metadata(found, fields) if state is None else state
    written, ours, kind = _written_importance(get(fields.importance), fields), _names(fields), get(fields.kind)
    return Record(
        record_id(scope, stored_id) if MARK in stored_id else stored_id,
        "" if text is None else text,
        kind if type(kind) is str else None,
        _importance(written, known),
        created_at(found, fields),
        None if (begin := get(fields.valid_from)) is None else as_moment(begin),
        None if (end := get(fields.valid_until)) is None else as_moment(end),
        None if (older := get(fields.supersedes)) is None else as_words(older),
        None if (newer := get(fields.superseded_by)) is None else as_words(newer),
        {} if found.keys() <= ours else {key: value for key, value in found.items() if key not in ours},
        known,
        written,
        {**found},
        () if (sources := get(fields.derived_from)) is None else as_texts(sources),
        None if (stale := get(fields.derived_stale)) is None else as_words(stale),
    )


def hits_of(
    scope: Scope,
    found: Iterable[tuple[str, str | None, Metadata | None, float]],
    states: Mapping[str, ReadState],
    fields: Fields,
) -> Sequence[Hit]:
    """The results of a search as hits, each with its read state, from the ledger if it has one."""
    rows = list(found)
    if scope.over is not None or not rows:
        return [_labelled(scope, one, states, fields) for one in rows]
    ids, texts, given, similarities = zip(*rows, strict=True)
    stored = given if all(given) else [one or {} for one in given]
    driven = read_driven(fields)
    reads = [
        read if read is not None else NEVER_READ if driven.isdisjoint(one) else state_in_metadata(one, fields)
        for one, read in zip(stored, map(states.get, ids), strict=True)
    ]

    def make(number: int, leads: Mapping[str, float]) -> Hit:
        record = record_of(scope, ids[number], texts[number], stored[number], fields, reads[number])
        return Hit(record, similarities[number], ids[number], leads)

    begins, ends, newer, when, worth = (
        *(fields.valid_from, fields.valid_until, fields.superseded_by),
        *(fields.created_at, fields.importance),
    )
    created = [
        at if (at := one.get(when)) is None or (type(at) is float and -LARGEST <= at <= LARGEST) else as_moment(at)
        for one in stored
    ]
    whole = 1.0 if fields.importance_scale == 1.0 else -1.0  # an upper bound that no importance meets if scales differ
    importances = [
        own
        if read.boost == 0.0 and ((own := one.get(worth)) is None or (type(own) is float and 0.0 <= own <= whole))
        else _importance(_written_importance(one.get(worth), fields), read)
        for one, read in zip(stored, reads, strict=True)
    ]
    gated = [number for number, one in enumerate(stored) if begins in one or ends in one or newer in one]
    began = created
    if gated:
        began = list(created)
        for number in gated:
            if (begin := as_moment(stored[number].get(begins))) is not None:
                began[number] = begin
    columns = CandidateColumns(
        [record_id(scope, one) if MARK in one else one for one in ids] if MARK in "".join(ids) else ids,
        ids,
        ["" if one is None else one for one in texts] if None in texts else texts,
        similarities,
        importances,
        created,
        began,
        reads,
        stored,
        [False] * len(ids),
        gated,
    )
    return Candidates(columns, make)


def _importance(written: float | None, read: ReadState) -> float | None:
    """The importance with the effect of feedback."""
    if read.boost == 0.0:
        return written
    return boosted(NEUTRAL_IMPORTANCE if written is None else written, read.boost)


def _written_importance(given: Any, fields: Fields) -> float | None:
    written = as_number(given, 0.0, fields.importance_scale)
    return written if written is None or fields.importance_scale == 1.0 else written / fields.importance_scale


def _labelled(
    scope: Scope, found: tuple[str, str | None, Metadata | None, float], states: Mapping[str, ReadState], fields: Fields
) -> Hit:
    """A hit of a user who also reads everyone's records. For everyone's records only the user's own reads count, since
    the read state in the metadata comes from others; the effect of everyone's feedback on the importance still
    applies."""
    stored_id, text, metadata, similarity = found
    if not belongs(metadata, SHARED, fields):
        return Hit(record_of(scope, stored_id, text, metadata, fields, states.get(stored_id)), similarity, stored_id)
    record = record_of(scope, stored_id, text, metadata, fields, states.get(stored_id, NEVER_READ))
    common = 0.0 if metadata is None else (as_number(metadata.get(fields.boost), -1.0, 1.0) or 0.0)
    if common != 0.0:
        importance = NEUTRAL_IMPORTANCE if record.importance is None else record.importance
        record = replace(record, importance=boosted(importance, common))
    return Hit(record, similarity, stored_id, shared=EVERYONE)


def created_at(metadata: Metadata | None, fields: Fields) -> float | None:
    """The time of creation in the metadata, or None."""
    return None if metadata is None else as_moment(metadata.get(fields.created_at))


def state_in_metadata(metadata: Metadata, fields: Fields) -> ReadState:
    """The read state in the collection's metadata, for records without a row in the ledger.

    >>> state_in_metadata({"retrieval_count": 2, "last_read": 50.0, "remembered": 1}, Fields()).remembered
    True
    >>> state_in_metadata({"retrieval_count": "often", "last_read": None}, Fields()) == ReadState()
    True
    """
    if metadata.keys().isdisjoint(read_driven(fields)):
        return NEVER_READ
    last_read = as_moment(metadata.get(fields.last_read))
    count = int(as_number(metadata.get(fields.retrieval_count), 0.0, MOST_READS) or 0)
    strength = as_number(metadata.get(fields.strength), 0.0, 1.0)
    boost = as_number(metadata.get(fields.boost), -1.0, 1.0)
    useful_at = as_moment(metadata.get(fields.useful_at)) or None  # 0.0: not useful any more
    return ReadState(
        last_read=last_read,
        refreshed_at=last_read,
        streak=min(count, 1),
        retrieval_count=count,
        credit=count,
        warmth=float(count),
        remembered=metadata.get(fields.remembered) in (1, True),
        strength=1.0 if strength is None else strength,
        boost=0.0 if boost is None else boost,
        pinned=metadata.get(fields.pinned) in (1, True),
        useful_at=useful_at,
        useful_step=0 if useful_at is None else UNKNOWN_STEP,
        helpful=0 if useful_at is None else 1,
    )


@lru_cache(maxsize=16)
def _names(fields: Fields) -> frozenset[str]:
    return frozenset(fields.names())


def windows_filter(windows: Sequence[Window], fields: Fields) -> dict[str, Any] | None:
    """The filter for records created or valid from a time within one of the windows; None if a window is unbounded.

    >>> windows_filter([Window(1.0, None)], Fields())
    {'$or': [{'created_at': {'$gte': 1.0}}, {'valid_from': {'$gte': 1.0}}]}
    """
    either: list[dict[str, Any]] = []
    for window in windows:
        for key in (fields.created_at, fields.valid_from):
            ends = [("$gte", window.start), ("$lt", window.end)]
            both = [{key: {compare: float(end)}} for compare, end in ends if end is not None]
            if not both:
                return None
            either.append(both[0] if len(both) == 1 else {"$and": both})
    return {"$or": either}


def metadata_of(scope: Scope, record: Record, fields: Fields) -> dict[str, Any]:
    """The metadata to write for a record: the caller's keys and ours, each number always of the same type."""
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


def merged_metadata(present: Metadata | None, changes: Metadata) -> dict[str, Any] | None:
    """The metadata in Chroma after merging the changes into the present metadata; None if no key is left.

    >>> merged_metadata({"a": 1, "b": 2}, {"a": None, "c": 0.1}), merged_metadata(None, {"a": float("nan")})
    ({'b': 2, 'c': 0.1}, None)
    """
    both = {**(present or {}), **{key: _as_chroma_has(value) for key, value in changes.items()}}
    return {key: value for key, value in both.items() if value is not None} or None


def _as_chroma_has(value: Any) -> Any:
    """A value as Chroma returns it: Chroma parses numbers in its own way, and drops keys with non-finite numbers."""
    if type(value) is float:
        return as_float(value)
    if isinstance(value, list):
        return [_as_chroma_has(one) for one in value]
    return as_float(value) if type(value) is int and not LOWEST <= value <= HIGHEST else value


def revision(scope: Scope, record: Record, present: Metadata, fields: Fields) -> dict[str, Any]:
    """The changes to merge into the present metadata: the new version, with None for all other keys. Read state in the
    metadata stays, because a read in the meantime may already have been written back and would not be again."""
    state = projection(record.read, present, fields)
    shown = (state.keys() & present.keys()) - clashes(state, present, fields)
    revised = {**dict.fromkeys(present), **metadata_of(scope, record, fields)}
    return {key: value for key, value in revised.items() if key not in shown}


def unlinked(metadata: Metadata, record: str, began: float | None, fields: Fields) -> dict[str, Any]:
    """The changes to merge so that a record no longer supersedes, or is superseded by, another record. If the start of
    the other record had ended its validity, it is valid again.

    >>> unlinked({"superseded_by": "b", "valid_until": 5.0}, "b", 5.0, Fields())
    {'superseded_by': None, 'valid_until': None}
    """
    links = (fields.supersedes, fields.superseded_by)
    changes: dict[str, Any] = {link: None for link in links if metadata.get(link) == record}
    if fields.superseded_by in changes and began is not None and metadata.get(fields.valid_until) == began:
        changes[fields.valid_until] = None
    return changes


def projection(state: ReadState, present: Metadata, fields: Fields) -> dict[str, Any]:
    """The read-driven keys to write into the collection, rounded so that Chroma returns the same values.

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
    elif fields.last_read in present:  # from the record's earlier text
        values[fields.last_read] = None
    if state.boost != 0.0 or fields.boost in present:
        values[fields.boost] = round(state.boost, 6)
    if state.pinned or fields.pinned in present:
        values[fields.pinned] = int(state.pinned)
    if state.useful_at is not None or fields.useful_at in present:
        values[fields.useful_at] = 0.0 if state.useful_at is None else round(state.useful_at, 6)
    return values


def without_read_state(metadata: Metadata, fields: Fields) -> dict[str, Any]:
    """The metadata without the keys that reads and feedback wrote. Another program's value under such a key stays.

    >>> without_read_state({"topic": "tea", "retrieval_count": 3, "strength": "500 mg"}, Fields())
    {'topic': 'tea', 'strength': '500 mg'}
    """
    ours = metadata.keys() & read_driven(fields)
    if ours:
        ours -= clashes(dict.fromkeys(ours), metadata, fields)
    return {key: value for key, value in metadata.items() if key not in ours}


def exported_digest(stored_id: str, text: str | None, metadata: Metadata | None, fields: Fields) -> bytes:
    """A digest of a record without its read state.

    >>> one = exported_digest("a", "tea", {"topic": "drinks"}, Fields())
    >>> one == exported_digest("a", "tea", {"topic": "drinks", "retrieval_count": 3}, Fields())
    True
    >>> one == exported_digest("a", "coffee", {"topic": "drinks"}, Fields())
    False
    """
    content = (stored_id, text or "", sorted(without_read_state(metadata or {}, fields).items()))
    return hashlib.blake2b(repr(content).encode(errors="surrogatepass"), digest_size=16).digest()


REMOVED = "removed"  # replaces the text of a record that was removed from the collection


def clashes(values: Metadata, present: Metadata, fields: Fields) -> set[str]:
    """The keys whose values in the collection are not read state: they are not ours and must not be overwritten.

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
    """An importance on the collection's scale.

    >>> _on_scale(0.7, 10), _on_scale(0.7, 1.0), _on_scale(None, 10)
    (7.0, 0.7, None)
    """
    return None if importance is None else float(importance) if scale == 1.0 else round(importance * scale, 9)


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)
