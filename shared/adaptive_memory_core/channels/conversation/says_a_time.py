"""How much does it count for each record that it says a time, where the cue asks for one or says one?"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def dated(times: Array, in_turns: float, elsewhere: float, alone: Array | None, in_sessions: bool) -> Array | None:
    """For each record that says a time, what that counts in a turn of a conversation, or in a text of none; None where
    it counts nowhere. `times` marks such records, `alone` those of no conversation.

    >>> times, alone = np.array([1.0, 1.0, 0.0]), np.array([False, True, True])
    >>> dated(times, 1.0, 0.5, alone, in_sessions=True).tolist()
    [1.0, 0.5, 0.0]
    >>> dated(times, 1.0, 0.5, None, in_sessions=False).tolist(), dated(times, 0.5, 0.0, None, in_sessions=False)
    ([0.5, 0.5, 0.0], None)
    """
    if not in_sessions:
        return elsewhere * times if elsewhere else None
    if not in_turns:
        return None
    return in_turns * times if alone is None else np.where(alone, elsewhere, in_turns) * times
