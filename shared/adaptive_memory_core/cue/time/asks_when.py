"""Does a cue ask for a time ("when ...?")? Then turns that say a time count more. The rules are English."""

from __future__ import annotations

import re

_ASKS = re.compile(
    r"^\W*(?:(?:and|but|so)\s+)?when(?:'s|\s+(?:is|was|were|are|am|do|does|did|has|have|had|will|would|can|could|should))\b"
    r"|\b(?:what|which)\s+(?:date|day|week|month|year|time)\b|\bhow\s+long\b|\bsince\s+when\b",
    re.IGNORECASE,
)
SAYS = (
    *"yesterday today tonight tomorrow ago last next recently".split(),  # noqa: SIM905 - as below
    *"day days week weeks weekend month months year years morning evening night".split(),  # noqa: SIM905
    *"monday tuesday wednesday thursday friday saturday sunday".split(),  # noqa: SIM905 - one a line would be a page
    *"january february march april may june july august september october november december".split(),  # noqa: SIM905
    *"spring summer fall autumn winter early mid late".split(),  # noqa: SIM905
    *map(str, range(1900, 2101)),
)


def asks_when(cue: str) -> bool:
    """Whether a time would answer it.

    >>> [asks_when(cue) for cue in ("When did Ana move?", "what year was that", "what did I say when we met?")]
    [True, True, False]
    """
    return _ASKS.search(cue) is not None
