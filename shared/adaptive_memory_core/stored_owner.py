"""Whose is a record of the collection? What its metadata say of its user."""

from __future__ import annotations

from collections.abc import Iterable

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.records import NUMBERED, Metadata, Scope

SHARED = Scope(None)  # the records that belong to nobody


def belongs(metadata: Metadata | None, scope: Scope, fields: Fields) -> bool:
    """Whether the scope reads the record. Any user key at all, even one that is no string, means: not everyone's.

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
    """Those of a collection's rows that the scope reads: `belongs` of each.

    >>> [row[0] for row in rows_of([("a", "tea", {"user_id": "ana"}), ("b", "tax", None)], Scope("ana"), Fields())]
    ['a']
    """
    user, key = scope.user, fields.user_id
    plain = user is not None and not user.startswith(NUMBERED)  # then its records have just this text
    return [
        row
        for row in rows
        if (plain and row[2] is not None and row[2].get(key) == user) or belongs(row[2], scope, fields)
    ]


def owner_of(metadata: Metadata | None, fields: Fields) -> Scope | None:
    """Whose record it is, by what names its user; None for what can be no user.

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
