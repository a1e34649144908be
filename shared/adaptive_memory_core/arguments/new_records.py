"""Checks of new records: texts, mappings, records with their metadata, and messages of a conversation."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import count
from typing import Any

from adaptive_memory_core.arguments.values import each, encodable, fraction, in_turn, moment, name, nonblank_text
from adaptive_memory_core.error_messages import MOST_SHOWN, shortened_text, shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.fields import RESERVED, Fields
from adaptive_memory_core.identity import is_reserved
from adaptive_memory_core.records import MESSAGE_KIND, Metadata, NewRecord, Record
from adaptive_memory_core.score.signals import NEUTRAL_IMPORTANCE, boosted

_ARGUMENTS = tuple(field.name for field in fields(NewRecord))


def new_record(item: object, names: Fields) -> NewRecord:
    """The checked record of a text, a mapping with the arguments of `remember`, a Record or a NewRecord.

    >>> new_record("likes tea", Fields()).importance
    0.5
    >>> new_record({"text": "likes tea", "importance": 2}, Fields())
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: importance is 2. Give a number in [0, 1].
    """
    given = item if isinstance(item, NewRecord) else NewRecord(**_arguments(item))
    start, end = moment(given.valid_from, "valid_from"), moment(given.valid_until, "valid_until")
    if start is not None and end is not None and end <= start:
        raise InvalidInputError(f"valid_until ({end}) is not after valid_from ({start}). Give a later valid_until.")
    return NewRecord(
        text=nonblank_text(given.text, "text"),
        id=None if given.id is None else new_id(given.id),
        importance=fraction(given.importance, "importance"),
        kind=name(given.kind, "kind"),
        created_at=moment(given.created_at, "created_at"),
        valid_from=start,
        valid_until=end,
        supersedes=None if given.supersedes is None else name(given.supersedes, "supersedes"),
        metadata=metadata({} if given.metadata is None else given.metadata, names),
        derived_from=sources(given.derived_from),
    )


def _arguments(item: object) -> dict[str, Any]:
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, Record):
        known = {key: getattr(item, key) for key in _ARGUMENTS}
        known |= {"id": item.id or None, "importance": _written_importance(item)}
        return {key: value for key, value in known.items() if value is not None}
    if isinstance(item, Mapping) and "text" in item and set(item) <= set(_ARGUMENTS):
        return dict(item)
    unknown = f" with the keys {shown(sorted(map(str, item)))}" if isinstance(item, Mapping) else ""
    raise InvalidInputError(
        f"A record was given as {type(item).__name__}{unknown}. Give a text, a Record, or a mapping with 'text' and, "
        f"as needed, {', '.join(_ARGUMENTS[1:])}."
    )


def _written_importance(record: Record) -> float | None:
    """The importance to write for a record that was read back, without the effect of its verdicts, which is stored
    separately."""
    written = NEUTRAL_IMPORTANCE if record.written_importance is None else record.written_importance
    as_read = record.read.boost != 0.0 and record.importance == boosted(written, record.read.boost)
    return record.written_importance if as_read else record.importance


def sources(given: object) -> tuple[str, ...]:
    """The ids of the records that a record was derived from, without duplicates.

    >>> sources(["a", "b", "a"]), sources(None)
    (('a', 'b'), ())
    """
    if given is None:
        return ()
    if not isinstance(given, list | tuple):
        example = [given] if isinstance(given, str) else ["an id"]
        raise InvalidInputError(f"derived_from is {shown(given)}. Give a list of ids, e.g. {shown(example)}.")
    return tuple(dict.fromkeys(name(one, "id in derived_from") for one in given))


def new_id(value: object) -> str:
    """The id, if a caller may use it for a record."""
    record_id = name(value, "id")
    if is_reserved(record_id):
        raise InvalidInputError(
            f"The id {shown(record_id)} ends with a reserved suffix, which separates records that share an id. Choose "
            "another id."
        )
    return record_id


def mapping(given: object) -> Mapping[Any, Any]:
    """The given metadata, if it is a mapping."""
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"metadata is {shown(given)}. Give a mapping from string keys to str, int, float or bool."
        )
    return given


def metadata(given: object, names: Fields) -> Metadata:
    """The caller's keys, if Chroma can store them and this memory does not use them. Keys with the value None are left
    out."""
    keys = {key: value for key, value in mapping(given).items() if value is not None}
    for key, value in keys.items():
        if not isinstance(key, str) or not key or key.startswith(RESERVED):
            raise InvalidInputError(
                f"The metadata key {shown(key)} cannot be used: Chroma reserves keys that start with "
                f"{' or '.join(RESERVED)}. Give another non-empty string."
            )
        if key in names.names():
            raise InvalidInputError(
                f"The metadata key {shown(key)} is one of this memory's own. Use the argument of that name, another "
                "key, or rename ours with Fields(...)."
            )
        if not _storable(value):
            raise InvalidInputError(
                f"The metadata value {shortened_text(key, MOST_SHOWN)}={shown(value)} cannot be stored. Give a str, a "
                "finite number below 2**63, a bool, or a non-empty list of one of these types; text for a date, JSON "
                "text for anything nested."
            )
        encodable(key, "metadata key")
    return keys


def _storable(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and len({type(one) for one in value}) == 1 and all(_scalar(one) for one in value)
    return _scalar(value)


def _scalar(value: object) -> bool:
    """Whether Chroma stores the value unchanged: NaN would delete the key, a larger int would become a float."""
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) and not any("\ud800" <= one <= "\udfff" for one in value)


TIE_SECONDS = 0.001  # between two messages of a conversation that have the same time and no other order
_AS_REMEMBERED = ("importance", "kind", "valid_from", "valid_until", "supersedes", "derived_from")
_KEYS = ("text", "content", "speaker", "role", "at", "session", "seq", "id", "metadata", *_AS_REMEMBERED)


def messages(given: object, names: Fields, *, now: float) -> list[NewRecord]:
    """Records of the messages, in their order. A message without a time gets the present time, unless it has an id: it
    then stays without one, so that a repeated message is the same record.

    >>> first, = messages([{"speaker": "Ana", "text": "Hi!", "at": 5.0, "session": "s"}], Fields(), now=9.0)
    >>> first.kind, first.created_at, dict(first.metadata)
    ('message', 5.0, {'speaker': 'Ana', 'session': 's'})
    >>> again, = messages([{"speaker": "Ana", "text": "Hi!", "at": 5.0, "session": "s"}], Fields(), now=11.0)
    >>> first.id == again.id
    True
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InvalidInputError(
            f"observe was given {shown(given)}. Give a list of messages, each a mapping with 'text' and, as far as "
            "they are known, 'speaker' or 'role', 'at' and 'session'."
        )
    times: Counter[tuple[str, float]] = Counter()
    repeats: Counter[str] = Counter()
    numbers = count()
    return each(
        given, lambda one: _record(_checked(one), names, times, repeats, in_turn(now, next(numbers))), "Message"
    )


def distinct_messages(given: Sequence[NewRecord]) -> list[NewRecord]:
    """The messages without duplicate ids; the same id with two texts raises an error."""
    found: dict[str | None, NewRecord] = {}
    for one in given:
        before = found.setdefault(one.id, one)
        if before.text != one.text:
            raise InvalidInputError(
                f"Two messages have the id {shown(one.id)} and say different things. Give each message its own id, "
                "or none."
            )
    return list(found.values())


def _checked(item: object) -> Mapping[str, Any]:
    if not isinstance(item, Mapping) or not {"text", "content"} & set(item) or not set(item) <= set(_KEYS):
        unknown = f" with the keys {shown(sorted(map(str, item)))}" if isinstance(item, Mapping) else ""
        raise InvalidInputError(
            f"A message was given as {type(item).__name__}{unknown}. Give a mapping with 'text' and, as needed, "
            f"{', '.join(_KEYS[2:])}."
        )
    return item


def _record(
    item: Mapping[str, Any], names: Fields, times: Counter[tuple[str, float]], repeats: Counter[str], now: float
) -> NewRecord:
    text = nonblank_text(_text(item.get("text", item.get("content"))), "text")
    speaker, session = (_name(item, key) for key in (("speaker", "role"), ("session",)))
    given, named, at = item.get("metadata"), item.get("id"), moment(item.get("at"), "at")
    time = now if at is None else at
    own = {names.speaker: speaker, names.session: session, names.seq: _order(item, times, session, time)}
    known = {key: value for key, value in own.items() if value is not None}
    record: dict[str, Any] = {"text": text, "kind": MESSAGE_KIND}
    record["created_at"] = at if named is not None else time
    record["metadata"] = known if given is None else {**mapping(given), **known}
    record["id"] = _id(session, item.get("seq"), time, speaker, text, repeats) if named is None else named
    return new_record(record | {key: item[key] for key in _AS_REMEMBERED if key in item}, names)


def _text(given: object) -> object:
    """The text of a content that is a list of parts, as in chat models; images and similar parts are left out.

    >>> _text([{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "data:"}}, "Look!"])
    'What is it?\\nLook!'
    >>> _text("Hi!"), _text([5])
    ('Hi!', [5])
    """
    if not isinstance(given, list) or not all(isinstance(one, str | Mapping) for one in given):
        return given
    parts = [one if isinstance(one, str) else one.get("text") for one in given]
    return "\n".join(one for one in parts if isinstance(one, str)) or given


def _name(item: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """The value of the first of these keys that has one; a number may be a name."""
    for key in keys:
        value = item.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            return name(value, key)
    return None


def _order(
    item: Mapping[str, Any], times: Counter[tuple[str, float]], session: str | None, time: float
) -> float | int | None:
    """The given `seq`; without it, messages of the same time are ordered as they were given."""
    seq: object = item.get("seq")
    if seq is not None:
        if isinstance(seq, bool) or not isinstance(seq, int | float):
            raise InvalidInputError(f"seq is {shown(seq)}. Give a number: the place of the message in its session.")
        return seq
    before = times[session or "", time]
    times[session or "", time] += 1
    return time + TIE_SECONDS * before if before else None


def _id(session: str | None, seq: object, time: float, speaker: str | None, text: str, repeats: Counter[str]) -> str:
    """An id that is the same each time a message is given; identical messages of one call get a number each."""
    order = f"{time!r}" if seq is None else f"#{seq!r}"
    said = "".join(f"{len(one)}:{one}" for one in (session or "", order, speaker or "", text))
    digest = hashlib.blake2b(said.encode(), digest_size=12).hexdigest()
    repeats[digest] += 1
    return f"m-{digest}" if repeats[digest] == 1 else f"m-{digest}-{repeats[digest]}"
