"""Under which id is a record stored in the collection? Its own, unless another user has taken that id.

And under which name a memory that is no user's but, say, a chat session's.
"""

from __future__ import annotations

import hashlib
import re

from adaptive_memory_core.records import Scope

MARK = "#u-"
NAMESPACE_MARK = "#n-"
ASIDE_MARK = "#was-"  # in the names under which the ledger sets aside what a record said before
_RESERVED = re.compile(rf"(?:{MARK}|{ASIDE_MARK})[0-9a-f]{{24}}#?\Z")


def scoped_id(scope: Scope, record_id: str) -> str:
    """The id a record gets where its own one belongs to somebody else: the same every time, and nobody else's.

    >>> scoped_id(Scope("bob"), "note") == scoped_id(Scope("bob"), "note") != scoped_id(Scope("eve"), "note")
    True
    """
    owner = "" if scope.user is None else scope.user
    digest = hashlib.blake2b(f"{len(owner)}:{owner}:{record_id}".encode(), digest_size=12).hexdigest()
    return f"{record_id}{MARK}{digest}"


def record_id(scope: Scope, stored_id: str) -> str:
    """The id as the user knows it.

    >>> record_id(Scope("bob"), scoped_id(Scope("bob"), "note"))
    'note'
    >>> record_id(Scope("bob"), "note#u-1"), record_id(Scope("bob"), "note")
    ('note#u-1', 'note')
    """
    if MARK not in stored_id:
        return stored_id
    own = stored_id.rpartition(MARK)[0]
    return own if any(scoped_id(one, own) == stored_id for one in scope.parts) else stored_id


def places_of(scope: Scope, record_id: str) -> list[str]:
    """Where in the collection a record of this id may stand, of all that the scope reads: the user's own place first,
    so that an own record hides everyone's of the same id.

    >>> places = places_of(Scope("bob"), "note")
    >>> places == ["note", scoped_id(Scope("bob"), "note")]
    True
    """
    return [record_id, *(scoped_id(one, record_id) for one in scope.parts)]


def own_places(scope: Scope, stored_id: str) -> list[str]:
    """Where a user's own record may stand that has the same id as this one of everyone's.

    >>> reader, everyones = Scope("bob", over="everyone"), scoped_id(Scope(None), "note")
    >>> own_places(reader, "note") == [scoped_id(reader, "note")]
    True
    >>> own_places(reader, everyones) == ["note", scoped_id(reader, "note")]
    True
    """
    known = record_id(scope, stored_id)
    return [one for one in (known, scoped_id(scope, known)) if one != stored_id]


def is_reserved(record: str) -> bool:
    """Whether an id has the form of a scoped one, or of what the ledger sets aside: a user who chose it would take
    another one's place.

    >>> is_reserved(scoped_id(Scope("bob"), "note")), is_reserved("note#u-1"), is_reserved(f"note#was-{'0' * 24}")
    (True, False, True)
    """
    return _RESERVED.search(record) is not None


def namespaced(namespace: str, name: str) -> str:
    """The name of a memory that is no user's: no user can have it, so what is called as a user is stays apart.

    >>> namespaced("session", "alice"), is_namespaced(namespaced("session", "alice")), is_namespaced("alice")
    ('session#n-alice', True, False)
    """
    return f"{namespace}{NAMESPACE_MARK}{name}"


def is_namespaced(user: str) -> bool:
    return NAMESPACE_MARK in user
