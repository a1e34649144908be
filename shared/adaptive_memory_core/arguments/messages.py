"""Can this be observed? Messages of a conversation on their way in, each with an id that is the same every time."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adaptive_memory_core.arguments.new_records import mapping, new_record
from adaptive_memory_core.arguments.one_of_many import each
from adaptive_memory_core.arguments.values import moment, name, words
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.records import MESSAGE_KIND, NewRecord
from adaptive_memory_core.shown_in_errors import shown

TIE_SECONDS = 0.001  # between two messages of one conversation and one time, whose order nothing else says
_KEYS = ("text", "content", "speaker", "role", "at", "session", "seq", "id", "metadata", "importance")


def messages(given: object, names: Fields, *, now: float) -> list[NewRecord]:
    """Records of the messages, in their order; one without a time is of now.

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
    return each(given, lambda one: _record(_checked(one), names, times, repeats, now), "Message")


def distinct_messages(given: Sequence[NewRecord]) -> list[NewRecord]:
    """Each id once; two messages that say different things under one id are an error."""
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
    text = words(_text(item.get("text", item.get("content"))), "text")
    speaker, session = (_name(item, key) for key in (("speaker", "role"), ("session",)))
    at = moment(item.get("at"), "at")
    time = now if at is None else at
    own = {names.speaker: speaker, names.session: session, names.seq: _order(item, times, session, time)}
    known = {key: value for key, value in own.items() if value is not None}
    given, named = item.get("metadata"), item.get("id")
    record: dict[str, Any] = {"text": text, "kind": MESSAGE_KIND, "created_at": time}
    record["metadata"] = known if given is None else {**mapping(given), **known}
    record["id"] = _id(session, item.get("seq"), time, speaker, text, repeats) if named is None else named
    return new_record({**record, "importance": item.get("importance", 0.5)}, names)


def _text(given: object) -> object:
    """The text of a content that is a list of parts, as chat models have it; images and the like say nothing.

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
    """The first of these that is there; a number serves as a name."""
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
    """The order that was given; where there is none, of those of one time in the order in which they came."""
    seq: object = item.get("seq")
    if seq is not None:
        if isinstance(seq, bool) or not isinstance(seq, int | float):
            raise InvalidInputError(f"seq is {shown(seq)}. Give a number: the place of the message in its session.")
        return seq
    before = times[session or "", time]
    times[session or "", time] += 1
    return time + TIE_SECONDS * before if before else None


def _id(session: str | None, seq: object, time: float, speaker: str | None, text: str, repeats: Counter[str]) -> str:
    """The same for the same message, whenever it is given again; of several that are all the same, one for each."""
    order = f"{time!r}" if seq is None else f"#{seq!r}"
    said = "".join(f"{len(one)}:{one}" for one in (session or "", order, speaker or "", text))
    digest = hashlib.blake2b(said.encode(), digest_size=12).hexdigest()
    repeats[digest] += 1
    return f"m-{digest}" if repeats[digest] == 1 else f"m-{digest}-{repeats[digest]}"
