"""What do Chroma's metadata say of a record? Keys and types as they are read; other keys are left alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.fields import Fields, read_driven
from adaptive_memory_core.identity import MARK, record_id
from adaptive_memory_core.learn.after_read import MOST_READS
from adaptive_memory_core.metadata_values import as_moment, as_number, as_texts, as_words
from adaptive_memory_core.policy.ranges import LARGEST
from adaptive_memory_core.records import EVERYONE, NEVER_READ, UNKNOWN_STEP, Hit, Metadata, ReadState, Record, Scope
from adaptive_memory_core.score.ranking import Candidates, Columns
from adaptive_memory_core.score.signals import NEUTRAL_IMPORTANCE, boosted
from adaptive_memory_core.stored_owner import SHARED, belongs


def record_of(
    scope: Scope,
    stored_id: str,
    text: str | None,
    metadata: Metadata | None,
    fields: Fields,
    state: ReadState | None = None,
) -> Record:
    """A record from what Chroma holds; a key that is missing or of another type counts as unknown.

    Its read state is the one given, else the one its metadata shows; its importance is as verdicts moved it. What it
    has of the metadata are copies: others may be given the same ones.
    """
    found: Metadata = {} if metadata is None else metadata
    get = found.get
    known = state_of(found, fields) if state is None else state
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
    """What a search brought, as hits: each record with its read state, the ledger's where there is one."""
    if scope.over is not None:
        return [_labelled(scope, one, states, fields) for one in found]
    rows = list(found)
    ids, texts, given, similarities = zip(*rows, strict=True) if rows else ((), (), (), ())
    stored = [{} if one is None else one for one in given]
    reads = [
        state_of(one, fields) if (known := states.get(name)) is None else known
        for name, one in zip(ids, stored, strict=True)
    ]

    def make(number: int) -> Hit:
        record = record_of(scope, ids[number], texts[number], stored[number], fields, reads[number])
        return Hit(record, similarities[number], ids[number])

    plain = ["" if one is None else one for one in texts]
    known_as = [record_id(scope, one) if MARK in one else one for one in ids]
    return Candidates(_columns((known_as, ids, plain, similarities), reads, stored, fields), make)


def _columns(
    given: tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[float]],
    reads: Sequence[ReadState],
    stored: Sequence[Metadata],
    fields: Fields,
) -> Columns:
    """The columns of these records, as `record_of` makes of them."""
    begins, ends, newer, when, worth = (
        *(fields.valid_from, fields.valid_until, fields.superseded_by),
        *(fields.created_at, fields.importance),
    )
    given_times = [one.get(when) for one in stored]
    created = [
        one if one is None or (type(one) is float and -LARGEST <= one <= LARGEST) else as_moment(one)
        for one in given_times
    ]
    whole = 1.0 if fields.importance_scale == 1.0 else -1.0  # what is known to be in [0, 1] stands as it is
    importances = [
        written
        if read.boost == 0.0
        and ((written := one.get(worth)) is None or (type(written) is float and 0.0 <= written <= whole))
        else _importance(_written_importance(one.get(worth), fields), read)
        for one, read in zip(stored, reads, strict=True)
    ]
    gated = [number for number, one in enumerate(stored) if begins in one or ends in one or newer in one]
    began = list(created)
    for number in gated:
        if (begin := as_moment(stored[number].get(fields.valid_from))) is not None:
            began[number] = begin
    return Columns(*given, importances, created, began, reads, stored, [False] * len(stored), gated)


def _importance(written: float | None, read: ReadState) -> float | None:
    """The importance as verdicts moved it."""
    if read.boost == 0.0:
        return written
    return boosted(NEUTRAL_IMPORTANCE if written is None else written, read.boost)


def _written_importance(given: Any, fields: Fields) -> float | None:
    written = as_number(given, 0.0, fields.importance_scale)
    return written if written is None or fields.importance_scale == 1.0 else written / fields.importance_scale


def _labelled(
    scope: Scope, found: tuple[str, str | None, Metadata | None, float], states: Mapping[str, ReadState], fields: Fields
) -> Hit:
    """A hit of a user who reads everyone's records as well. Of those that are everyone's the user's own reads alone
    count: the read state in the metadata is that of others, but for what everyone's own verdicts made of the
    importance."""
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
    """When it happened, as far as the metadata say."""
    return None if metadata is None else as_moment(metadata.get(fields.created_at))


def state_of(metadata: Metadata, fields: Fields) -> ReadState:
    """The read state as the collection shows it, for records whose ledger is elsewhere.

    >>> state_of({"retrieval_count": 2, "last_read": 50.0, "remembered": 1}, Fields()).remembered
    True
    >>> state_of({"retrieval_count": "often", "last_read": None}, Fields()) == ReadState()
    True
    """
    if metadata.keys().isdisjoint(read_driven(fields)):
        return NEVER_READ
    last_read = as_moment(metadata.get(fields.last_read))
    count = int(as_number(metadata.get(fields.retrieval_count), 0.0, MOST_READS) or 0)
    strength = as_number(metadata.get(fields.strength), 0.0, 1.0)
    boost = as_number(metadata.get(fields.boost), -1.0, 1.0)
    useful_at = as_moment(metadata.get(fields.useful_at)) or None  # 0.0: no longer
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


def within(windows: Sequence[Window], fields: Fields) -> dict[str, Any] | None:
    """The filter for what happened, or began to hold, within one of the windows; None where they are open on all sides.

    >>> within([Window(1.0, None)], Fields())
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
