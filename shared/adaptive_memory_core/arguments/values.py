"""Checks of single values: names, numbers, times, flags, and user ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from typing import TypeVar

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError, ScopeError
from adaptive_memory_core.identity import is_namespaced
from adaptive_memory_core.records import EVERYONE, Scope

LONGEST_NAME = 1_000  # characters of a user or record id
LARGEST_K = 10_000
FIRST_MOMENT = -1e15  # POSIX seconds; before this, a float has no fraction of a second
LAST_MOMENT = 32_503_680_000.0  # the year 3000; a later time was given in milliseconds
Moment = float | str | datetime


def name(value: object, what: str) -> str:
    """A usable id: a non-empty string that can be stored."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_NAME:
        raise InvalidInputError(
            f"The {what} is {shown(value)}. Give a non-empty string of up to {LONGEST_NAME:,} characters."
        )
    return encodable(value, what)


def encodable(value: str, what: str) -> str:
    """The string, unless it contains half a surrogate pair, which UTF-8 cannot represent and no database can store."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"The {what} holds a lone surrogate at position {error.start}, which no database can store. Decode the "
            "source properly, or replace it: text.encode('utf-8', 'replace').decode()."
        ) from None
    return value


def nonblank_text(value: object, what: str) -> str:
    """The text or cue, if it is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInputError(f"The {what} is {shown(value)}. Give a string that is not blank.")
    return encodable(value, what)


def count(value: object, what: str, most: int = LARGEST_K) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidInputError(f"{what} is {shown(value)}. Give a whole number from 1 to {most:,}.")
    return value


def flag(value: object, what: str) -> bool:
    """True or False; any other value might be meant as the opposite of its truth value."""
    if not isinstance(value, bool):
        raise InvalidInputError(f"{what} is {shown(value)}. Give True or False.")
    return value


def progress(value: object) -> Callable[[int, int], object] | None:
    """The caller's progress function, or None."""
    if value is not None and not callable(value):
        raise InvalidInputError(
            f"progress is {shown(value)}. Give a function of two numbers, what is done and what there is, or None."
        )
    return value


def moment(value: object, what: str) -> float | None:
    """POSIX seconds from a number, or from a datetime or an ISO text with a time zone.

    >>> moment(86_400, "created_at"), moment("1970-01-02T00:00Z", "created_at")
    (86400.0, 86400.0)
    >>> moment(1_760_000_000_000, "created_at")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: created_at is 1760000000000, a time after the year 3000. ...
    >>> moment("2026-05-13", "created_at")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: created_at is '2026-05-13', a time without a time zone. ...
    """
    if value is None:
        return None
    given = _written(value) if isinstance(value, str) else value
    if isinstance(given, datetime):
        if given.tzinfo is None:
            aware = given.replace(tzinfo=timezone.utc)
            add = repr(aware.isoformat()) if isinstance(value, str) else "value.replace(tzinfo=timezone.utc)"
            raise InvalidInputError(
                f"{what} is {shown(value)}, a time without a time zone. Give it with its zone, e.g. {add} if it is UTC."
            )
        given = given.timestamp()
    if isinstance(given, int | float) and not isinstance(given, bool) and FIRST_MOMENT <= given <= LAST_MOMENT:
        return float(given)
    late = isinstance(given, int | float) and given > LAST_MOMENT
    endless = " For a memory without an end, leave valid_until out." if late and what == "valid_until" else ""
    raise InvalidInputError(
        f"{what} is {shown(value)}{', a time after the year 3000' if late else ''}. Give POSIX seconds, e.g. "
        f"time.time() (divide milliseconds by 1,000), a datetime with a time zone, e.g. datetime.now(timezone.utc), or "
        f"an ISO text with one, e.g. '2026-05-13T09:00+00:00'.{endless}"
    )


def _written(text: str) -> datetime | str:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return text


def in_turn(now: float, number: int) -> float:
    """The default time of record `number` of a batch: a microsecond after the record before, so that the batch is
    ordered in time. Chroma returns such a number unchanged.

    >>> in_turn(1_760_000_000.0, 0), in_turn(1_760_000_000.0, 2)
    (1760000000.0, 1760000000.000002)
    """
    return round(now + number / 1e6, 6)


def fraction(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInputError(f"{what} is {shown(value)}. Give a number in [0, 1].")
    return float(value)


def distinct(ids: Iterable[str], what: str) -> list[str]:
    """The ids, unless one occurs twice."""
    seen: dict[str, None] = {}
    for one in ids:
        if one in seen:
            raise InvalidInputError(f"The {what} {shown(one)} comes twice. Give each one once.")
        seen[one] = None
    return list(seen)


LARGEST_NUMBER = 2**63  # from here on, Chroma stores another number


def user_scope(user: object) -> Scope:
    """The scope of a user.

    >>> user_scope("alice")
    Scope(user='alice', over=None)
    >>> user_scope(7).name, user_scope(7) == user_scope("7")
    (7, False)
    >>> user_scope("")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.ScopeError: The user id is ''. Give a non-empty string or a whole number ...
    """
    if type(user) is int and 0 != abs(user) < LARGEST_NUMBER:  # 0 means no user in many programs
        return Scope.of(user)
    if not isinstance(user, str) or not user.strip():
        raise ScopeError(
            f"The user id is {shown(user)}. Give a non-empty string or a whole number other than 0, or use "
            "for_everyone() for records that are nobody's."
        )
    if is_namespaced(user):
        raise ScopeError(
            f"The user id {shown(user)} has a reserved form, used for memories without a user, such as a chat "
            "session's. Give another id; to read a session's memory, use e.g. AdaptiveMemoryBlock.for_session(...)."
        )
    return Scope(name(user, "user id"))


def over(scope: Scope, others: object, fallback: object = None) -> Scope:
    """The scope, extended to everyone's records if `others` is "everyone".

    >>> str(over(Scope("ana"), "everyone")), over(Scope("ana"), None) == Scope("ana")
    ("user 'ana' over everyone", True)
    >>> over(Scope("ana"), "bob")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.ScopeError: over is 'bob'. It is "everyone", for the records that belong to no user, ...
    """
    if others is None:
        return scope
    if others != EVERYONE:
        raise ScopeError(
            f'over is {shown(others)}. It is "everyone", for the records that belong to no user, or None for the '
            "user's own records alone."
        )
    if fallback is not None:
        raise ScopeError(
            'Both over="everyone" and a fallback were given. Give over= to find everyone\'s records at any time and '
            "learn of them, or fallback= to be shown some while the user has none."
        )
    return Scope(scope.user, over=EVERYONE)


def shared(users: object) -> frozenset[str]:
    """The ids of the users whose records other users may read.

    >>> shared("handbook")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.ScopeError: shared is 'handbook'. Give a list of user ids, e.g. shared=['handbook'].
    """
    if isinstance(users, str) or not isinstance(users, Iterable):
        raise ScopeError(f"shared is {shown(users)}. Give a list of user ids, e.g. shared=['handbook'].")
    return frozenset(str(user_scope(one).user) for one in users)


Given = TypeVar("Given")
Made = TypeVar("Made")


def each(items: Iterable[Given], made: Callable[[Given], Made], what: str) -> list[Made]:
    """Apply `made` to each item; if there are several, an error says which item it is about.

    >>> each(["1", "2"], int, "Item")
    [1, 2]
    >>> def checked(one):
    ...     if not one: raise InvalidInputError("The text is ''. Give a string that is not blank.")
    >>> each(["tea", ""], checked, "Item")
    Traceback (most recent call last):
    adaptive_memory_core.errors.InvalidInputError: Item 2 of 2: The text is ''. Give a string that is not blank.
    """
    known = list(items)
    found: list[Made] = []
    for number, one in enumerate(known, 1):
        try:
            found.append(made(one))
        except InvalidInputError as error:
            if len(known) == 1:
                raise
            raise type(error)(f"{what} {number:,} of {len(known):,}: {error}") from error
    return found
