"""Are two scopes' lists looked up as one would be?"""

from __future__ import annotations

import numpy as np

from adaptive_memory_core.channels.matches import Asked, matches, posting
from adaptive_memory_core.channels.sessions import conversation
from adaptive_memory_core.channels.turns import Turns
from adaptive_memory_core.store.words.frozen_lists import Lists, concatenated_lists


def lists(session: str | None, words: float) -> Lists:
    """Four records of so many words, the second of which has the word that is looked for."""
    told = Turns([None] * 4, [0] * 4, [session] * 4, [0.0, 1.0, 2.0, 3.0])
    ids = [f"{session}{number}" for number in range(4)]
    talk = conversation(told, np.full(4, words), 4)
    talk = talk if session is None else talk._replace(people=talk.layout.turns)
    asked: Asked = {"tea": (1, posting("tea", np.array([1]), talk))}
    return Lists(talk, asked, ids, dict(zip(ids, range(4), strict=True)), None)


def test_long_replies_of_one_scope_are_no_turns_beside_the_turns_of_the_other() -> None:
    both = concatenated_lists(lists("chat", 10.0), lists("reply", 600.0))
    assert np.allclose(both.talk.layout.turns, [1.0] * 4 + [0.0025] * 4)
    found = matches(both.asked, both.talk)
    assert found.around is not None
    assert found.around[0] > 0.1 * found.own[1]
    assert found.around[4] < 0.01 * found.own[5]


def test_notes_of_one_scope_stand_alone_beside_the_conversations_of_the_other() -> None:
    both = concatenated_lists(lists("chat", 10.0), lists(None, 10.0)).talk.layout
    assert both.alone is not None
    assert both.alone.tolist() == [False] * 4 + [True] * 4
    assert concatenated_lists(lists(None, 10.0), lists(None, 10.0)).talk.layout.alone is None
