"""What tells whether others have written? Numbers that are looked at together, once in a call."""

from __future__ import annotations

from typing import NamedTuple


class Look(NamedTuple):
    """Another `version` as soon as another connection has written, but for what the others tell of by themselves.

    `of_rows`: another one after each change of a row of the mirror. `of_user`: another one as soon as a recall of the
    user was counted. None: the version tells of that, too.
    """

    version: int
    of_rows: int | None = None
    of_user: int | None = None
