"""Which candidates answer a question for a set? Those that score well and cover what is not shown yet.

What was said of such a set stands far apart, so each further candidate of a session that is shown counts for less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class Member(NamedTuple):
    """A candidate: its score, and the session that it is of; None for one of none, which stands alone."""

    score: float
    session: str | None


def members(among: Sequence[Member], shown: int, most: int, *, cover: float) -> list[int]:
    """The numbers of at most so many more, the best first; the first `shown` are shown already. A score counts from the
    lowest one there is, and `1 / (1 + cover * others)` times for that many others of its session.

    >>> among = [Member(0.9, "a"), Member(0.8, "a"), Member(0.79, "b"), Member(0.5, "b"), Member(0.1, "c")]
    >>> members(among, 1, 3, cover=0.1), members(among, 1, 3, cover=0.0), members(among, 5, 3, cover=0.1)
    ([2, 1, 3], [1, 2, 3], [])
    """
    low = min((one.score for one in among), default=0.0)
    seen: Counter[str] = Counter(one.session for one in among[:shown] if one.session is not None)
    left, chosen = list(range(shown, len(among))), list[int]()

    def worth(number: int) -> tuple[float, int]:
        score, session = among[number]
        others = 0 if session is None else seen[session]
        return (score - low) / (1.0 + cover * others), -number

    while left and len(chosen) < most:
        best = max(left, key=worth)
        left.remove(best)
        chosen.append(best)
        session = among[best].session
        if session is not None:
            seen[session] += 1
    return chosen
