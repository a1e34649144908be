"""Why is an answer empty though the collection has records? Whose records there are, and whose were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def looked_past(user: str | int | None, owners: Sequence[Any]) -> str | None:
    """What was looked past, where a scope holds no record at all; None where nothing is odd about that.

    `owners` are what the first records of the collection say of their user, None where they name nobody. That a user
    has nothing yet among others who have is no oddity.

    >>> looked_past("ana", [None, None])
    "no record of user 'ana' is there: the 2 records that were looked at name no user, and belong to everyone"
    >>> looked_past(None, ["ana", "ben"])
    'no record that belongs to nobody is there: the 2 records that were looked at all name a user'
    >>> looked_past("ana", ["ben"]) is None, looked_past("ana", []) is None
    (True, True)
    >>> looked_past("7", [7]).partition(":")[0]
    'records name their user as int, such as 7, and users are texts'
    >>> looked_past(7, ["7"]).partition(":")[0]
    "no record of user 7 is there, but some of user '7'"
    """
    if not owners:
        return None
    odd = next((one for one in owners if one is not None and not isinstance(one, (str, type(user)))), None)
    if odd is not None:
        return _of_another_kind(odd)
    if isinstance(user, int) and str(user) in owners:
        return f"no record of user {user!r} is there, but some of user {str(user)!r}: a text and a number are two users"
    named = [one for one in owners if one is not None]
    if user is not None and not named:
        number = f"{len(owners)} records that were looked at name no user, and belong to everyone"
        return f"no record of user {user!r} is there: the {number}"
    if user is None and len(named) == len(owners):
        return (
            f"no record that belongs to nobody is there: the {len(owners)} records that were looked at all name a user"
        )
    return None


def _of_another_kind(odd: Any) -> str:
    if type(odd) is int:
        return (
            f"records name their user as int, such as {odd!r}, and users are texts: ask for a number as one, "
            f"for_user({odd!r}), who is another than for_user({str(odd)!r})"
        )
    return (
        f"records name their user as {type(odd).__name__}, such as {odd!r}, and users are texts or whole numbers here: "
        "such records are nobody's that can be asked for. Write the name as a text into their metadata"
    )
