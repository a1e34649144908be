"""How similar to the cue are the turn before a record and the best turn of its session?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from adaptive_memory_core.channels.conversation.sessions import Conversation


def session_similarity(similar: Mapping[int, float], talk: Conversation) -> dict[int, tuple[float, float]]:
    """For each candidate, given by its number with its similarity: that of the turn before it, 0 where that is no
    candidate, and the best of its session. What stands alone has only itself, and so has, the more the longer they are,
    what is no turn but a long reply.

    >>> from adaptive_memory_core.channels.conversation.sessions import Turns, conversation
    >>> turns = Turns([None] * 4, [0] * 4, ["s", "s", "s", None], [1.0, 2.0, 3.0, 0.0])
    >>> session_similarity({0: 0.5, 1: 0.2, 3: 0.4}, conversation(turns, np.ones(4), 4))
    {0: (0.5, 0.5), 1: (0.5, 0.5), 3: (0.4, 0.4)}
    """
    layout = talk.layout
    turns = np.broadcast_to(layout.turns, len(layout.order))
    best: dict[int, float] = {}
    stands = {number: (int(layout.first[place]), place) for number, place in _places(similar, talk).items()}
    for number, (session, _) in stands.items():
        best[session] = max(best.get(session, 0.0), similar[number])
    found = {}
    for number, (session, place) in stands.items():
        earlier = number if place == session else int(layout.order[place - 1])
        own, turn = similar[number], float(turns[number])
        found[number] = (
            turn * similar.get(earlier, 0.0) + (1.0 - turn) * own,
            turn * best[session] + (1.0 - turn) * own,
        )
    return found


def _places(similar: Mapping[int, float], talk: Conversation) -> dict[int, int]:
    return {number: int(talk.places[number]) for number in similar}
