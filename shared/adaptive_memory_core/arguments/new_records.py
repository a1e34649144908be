"""Can this be stored? Texts, mappings and records on their way in, with their metadata."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from adaptive_memory_core.arguments.values import encodable, moment, name, share, words
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.fields import RESERVED, Fields
from adaptive_memory_core.identity import is_reserved
from adaptive_memory_core.records import Metadata, NewRecord, Record
from adaptive_memory_core.score.signals import NEUTRAL_IMPORTANCE, boosted
from adaptive_memory_core.shown_in_errors import MOST_SHOWN, shortened, shown

_ARGUMENTS = tuple(field.name for field in fields(NewRecord))


def new_record(item: object, names: Fields) -> NewRecord:
    """A text, a mapping with the arguments of `remember`, a Record or a NewRecord, checked.

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
        text=words(given.text, "text"),
        id=None if given.id is None else new_id(given.id),
        importance=share(given.importance, "importance"),
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
    """What to write of a record that was read: its verdicts are kept elsewhere and must not be written in twice."""
    written = NEUTRAL_IMPORTANCE if record.written_importance is None else record.written_importance
    as_read = record.read.boost != 0.0 and record.importance == boosted(written, record.read.boost)
    return record.written_importance if as_read else record.importance


def sources(given: object) -> tuple[str, ...]:
    """The ids of what a record was derived from, each once.

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
    """An id that a caller may give to a record."""
    record_id = name(value, "id")
    if is_reserved(record_id):
        raise InvalidInputError(
            f"The id {shown(record_id)} ends like those that keep two users' records of one id, or two texts of one "
            "record, apart. Give another."
        )
    return record_id


def mapping(given: object) -> Mapping[Any, Any]:
    """What was given as metadata, if it is a mapping at all."""
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"metadata is {shown(given)}. Give a mapping from string keys to str, int, float or bool."
        )
    return given


def metadata(given: object, names: Fields) -> Metadata:
    """The caller's own keys: what Chroma can hold, and none that means something to us."""
    keys = mapping(given)
    for key, value in keys.items():
        if not isinstance(key, str) or not key or key.startswith(RESERVED):
            raise InvalidInputError(
                f"The metadata key {shown(key)} cannot be used: Chroma keeps keys that start with "
                f"{' or '.join(RESERVED)} "
                "for itself. Give another non-empty string."
            )
        if key in names.names():
            raise InvalidInputError(
                f"The metadata key {shown(key)} is one of this memory's own. Use the argument of that name, another "
                "key, or rename ours with Fields(...)."
            )
        if not _storable(value):
            raise InvalidInputError(
                f"The metadata value {shortened(key, MOST_SHOWN)}={shown(value)} cannot be stored. Give a str, a "
                "finite number below 2**63, a bool, or a non-empty list of one of these types; text for a date, JSON "
                "text for anything nested."
            )
        encodable(key, "metadata key")
    return dict(keys)


def _storable(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and len({type(one) for one in value}) == 1 and all(_scalar(one) for one in value)
    return _scalar(value)


def _scalar(value: object) -> bool:
    """Whether Chroma keeps it as it is: NaN would delete the key, a larger int would become a float."""
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) and not any("\ud800" <= one <= "\udfff" for one in value)
