"""Where in a conversation was it said? The speaker, the session and the order of a record, where it has any."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from adaptive_memory_core.records import Fields, Metadata

BY_FIELD, IN_TEXT, ONLY_IN_TEXT = 0, 1, 2  # where a speaker is told
_PREFIX = re.compile(r"(?=[^\W\d_])([\w.'-]{1,30}(?: [\w.'-]{1,30}){0,2}): ")


class Turn(NamedTuple):
    """Who spoke, in which session, and what orders the turns of a session; None where the record does not say."""

    speaker: str | None = None
    session: str | None = None
    place: float | None = None
    told: int = BY_FIELD


def turn_of(text: str, metadata: Metadata | None, fields: Fields, *, created_at: float | None) -> Turn:
    """What a record says of it; without an order of its own, turns stand in the order of their time.

    >>> turn_of("Hi!", {"speaker": "Ana", "session": 3, "seq": 7}, Fields(), created_at=None)
    Turn(speaker='Ana', session='3', place=7.0, told=0)
    >>> turn_of("Ana: Hi!", {"session": "monday"}, Fields(), created_at=50.0)
    Turn(speaker='Ana', session='monday', place=50.0, told=2)
    >>> turn_of("At 10:30 we met.", None, Fields(), created_at=None)
    Turn(speaker=None, session=None, place=None, told=0)
    """
    found: Metadata = {} if metadata is None else metadata
    place = _number(found.get(fields.seq))
    place = created_at if place is None else place
    speaker, session = _name(found.get(fields.speaker)), _name(found.get(fields.session))
    if speaker is not None:
        return Turn(speaker, session, place, IN_TEXT if text.startswith(f"{speaker}:") else BY_FIELD)
    prefix = _PREFIX.match(text)
    return Turn(None, session, place) if prefix is None else Turn(prefix[1], session, place, ONLY_IN_TEXT)


def _name(value: object) -> str | None:
    """A name, or a number that serves as one."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None


def _number(value: object) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if usable else None  # type: ignore[arg-type] # it is a number, or not used
