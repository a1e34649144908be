"""Whose memory is it? User ids, and the users whose records others may be given to read."""

from __future__ import annotations

from collections.abc import Iterable

from adaptive_memory_core.arguments.values import name
from adaptive_memory_core.errors import ScopeError
from adaptive_memory_core.identity import is_namespaced
from adaptive_memory_core.records import EVERYONE, Scope
from adaptive_memory_core.shown_in_errors import shown

LARGEST_NUMBER = 2**63  # from which on Chroma keeps another one


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
    if type(user) is int and 0 != abs(user) < LARGEST_NUMBER:  # 0 is nobody in many programs
        return Scope.of(user)
    if not isinstance(user, str) or not user.strip():
        raise ScopeError(
            f"The user id is {shown(user)}. Give a non-empty string or a whole number other than 0, or use "
            "for_everyone() for records that are nobody's."
        )
    if is_namespaced(user):
        raise ScopeError(
            f"The user id {shown(user)} has the form of those that are no user's, such as a chat session's. Give "
            "another; a session's memory is given by what keeps it, e.g. AdaptiveMemoryBlock.for_session(...)."
        )
    return Scope(name(user, "user id"))


def over(scope: Scope, others: object, fallback: object = None) -> Scope:
    """The scope over the records of others: everyone's, or nobody's.

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
    """The users whose records others may be given to read.

    >>> shared("handbook")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.ScopeError: shared is 'handbook'. Give a list of user ids, e.g. shared=['handbook'].
    """
    if isinstance(users, str) or not isinstance(users, Iterable):
        raise ScopeError(f"shared is {shown(users)}. Give a list of user ids, e.g. shared=['handbook'].")
    return frozenset(str(user_scope(one).user) for one in users)
