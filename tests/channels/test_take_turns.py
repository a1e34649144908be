"""Are speakers told from titles by the way they take turns?"""

from __future__ import annotations

import random

import numpy as np

from adaptive_memory_core.channels.sessions import conversation, take_turns
from adaptive_memory_core.channels.turns import ONLY_IN_TEXT, Turns


def names_that_take_turns(names: list[str]) -> set[str]:
    different = sorted(set(names))
    return {different[one] for one in take_turns(np.array([different.index(one) for one in names]), len(different))}


def test_a_title_that_many_pieces_begin_with_is_nobody_who_speaks() -> None:
    pages = [name for name in ("rome", "oslo", "lima", "cairo") for _ in range(6)]
    assert names_that_take_turns(pages) == set()
    random.Random(1).shuffle(many := [name for number in range(60) for name in [f"page {number}"] * 4])
    assert names_that_take_turns(many) == set()


def test_speakers_are_known_among_notes_and_pages() -> None:
    talk = ["ana", "ben", "ana", "ana", "ben", "ana", "ben", "ben", "ana", "ben"]
    assert names_that_take_turns([*["rome"] * 5, *talk, "todo", *["oslo"] * 5]) == {"ana", "ben"}


def test_in_a_group_everybody_speaks_who_is_answered() -> None:
    assert names_that_take_turns(
        ["ana", "ben", "ana", "cyd", "ben", "cyd", "ana", "cyd", "ben", "ana", "ben", "cyd"]
    ) == {
        "ana",
        "ben",
        "cyd",
    }


def test_pages_in_pieces_are_no_conversation() -> None:
    names = [*["Rome"] * 5, *["Oslo"] * 5]
    turns = Turns(names, [ONLY_IN_TEXT] * 10, [None] * 10, [0.0] * 10)
    found = conversation(turns, np.ones(10), 10)
    assert not found.speakers
    assert not found.in_sessions
