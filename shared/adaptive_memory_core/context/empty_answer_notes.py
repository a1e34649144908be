"""Why is an answer empty though the collection has records? Whose records there are, and whose were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def looked_past(user: str | None, owners: Sequence[Any]) -> str | None:
    """What was looked past, where a scope holds no record at all; None where nothing is odd about that.

    `owners` are what the first records of the collection say of their user, None where they name nobody. That a user
    has nothing yet among others who have is no oddity.

    >>> looked_past("ana", [None, None])
    "no record of user 'ana' is there: the 2 records that were looked at name no user, and belong to everyone"
    >>> looked_past(None, ["ana", "ben"])
    'no record that belongs to nobody is there: the 2 records that were looked at all name a user'
    >>> looked_past("ana", ["ben"]) is None, looked_past("ana", []) is None
    (True, True)
    """
    odd = next((one for one in owners if one is not None and not isinstance(one, str)), None)
    if not owners:
        return None
    if odd is not None:
        return (
            f"records name their user as {type(odd).__name__}, such as {odd!r}, and users are texts here: such records "
            "are nobody's that can be asked for. Write the name as a text into their metadata"
        )
    named = [one for one in owners if one is not None]
    if user is not None and not named:
        number = f"{len(owners)} records that were looked at name no user, and belong to everyone"
        return f"no record of user {user!r} is there: the {number}"
    if user is None and len(named) == len(owners):
        return (
            f"no record that belongs to nobody is there: the {len(owners)} records that were looked at all name a user"
        )
    return None
