"""Is the user there under another kind of name? 7 and "7" are two users, and an empty answer says which has records."""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core.context.reasons import looked_past
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.gather import Gathered
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import Scope

MOST_DIGITS = 20  # of a user's number, more than Chroma's whole numbers have


def other_kind_of_user(ports: Ports, request: Request, gathered: Gathered) -> Gathered:
    """What was gathered; with a note, where that is nothing and the other user of this name has records."""
    if gathered.hits or request.where is not None:
        return gathered
    user = request.scope.name
    other = other_kind(user)
    if other is None:
        return gathered
    outcome = tried(StoreError, ports.records.count, Scope.of(other))
    note = looked_past(user, [other]) if outcome.value else None
    return gathered if note is None else replace(gathered, notes=(*gathered.notes, note))


def other_kind(user: str | int | None) -> str | int | None:
    """The number that a text names, and the text of a number.

    >>> other_kind("7"), other_kind(7), other_kind("-7"), other_kind("07"), other_kind("ana"), other_kind(None)
    (7, '7', -7, None, None, None)
    """
    if isinstance(user, int):
        return str(user)
    try:
        number = int(user) if user is not None and len(user) <= MOST_DIGITS else None
    except ValueError:
        return None
    return number if str(number) == user else None
