"""Who speaks, which turns are among people, and what a question or a name in a turn says of it."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.matches import kinds_of_texts
from adaptive_memory_core.channels.sessions import LONGEST, ROLES, among_people, conversation, says_name, take_turns
from adaptive_memory_core.channels.turns import ONLY_IN_TEXT, Turns, stated

said = st.text(alphabet="aB ?.!'\"\u2026\u3002\uff1f\u2019\u201c", max_size=40)
shares = st.floats(0.0, 1.0)


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
    names = ["ana", "ben", "ana", "cyd", "ben", "cyd", "ana", "cyd", "ben", "ana", "ben", "cyd"]
    assert names_that_take_turns(names) == {"ana", "ben", "cyd"}


def test_pages_in_pieces_are_no_conversation() -> None:
    names = [*["Rome"] * 5, *["Oslo"] * 5]
    turns = Turns(names, [ONLY_IN_TEXT] * 10, [None] * 10, [0.0] * 10)
    found = conversation(turns, np.ones(10), 10)
    assert not found.speakers
    assert not found.in_sessions


@pytest.mark.parametrize("role", sorted(ROLES))
def test_a_session_with_an_assistant_is_none_among_people_and_leaves_the_others_be(role: str) -> None:
    speakers = {"ana": np.array([0, 3]), "ben": np.array([1]), role: np.array([2])}
    found = among_people(speakers, np.array([5, 5, 6, 6]), 1.0)
    assert found is not None
    assert found.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_where_nobody_but_an_assistant_and_its_user_speaks_there_is_nothing_to_say() -> None:
    assert among_people({"user": np.array([0]), "assistant": np.array([1])}, np.array([0, 0]), 1.0) is None
    assert among_people({}, np.array([0, -1]), 1.0) is None


@given(said)
def test_what_is_stated_is_a_share_and_all_of_it_where_nothing_is_asked(text: str) -> None:
    assert 0.0 <= stated(text) <= 1.0
    assert stated(text.replace("?", ".").replace("\uff1f", "\u3002")) == 1.0


@given(said, shares, shares, st.sampled_from(["stated", "named"]))
def test_the_less_it_is_a_turn_the_less_it_loses_for_a_question_or_for_saying_no_name(
    text: str, one: float, other: float, kind: str
) -> None:
    first, second = (
        float(kinds_of_texts([text], np.array([share]), ())[0].get(kind, [0.0])[0]) for share in sorted((one, other))
    )
    assert abs(first) <= abs(second)
    gains = stated(text) == 1.0 if kind == "stated" else says_name(text)
    assert second >= 0.0 if gains else second <= 0.0
    assert kinds_of_texts([text], np.zeros(1), ()) == ({}, 0.0)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Fine\u3002\u5143\u6c17\uff1f", 5 / 8),
        ("What?! No.", 4 / 10),
        ('"Why?" he said.', 10 / 15),
        ("no full stop at the end", 1.0),
    ],
)
def test_sentences_are_told_apart_by_how_they_end(text: str, share: float) -> None:
    assert stated(text) == pytest.approx(share)


def test_what_is_hardly_a_turn_is_not_looked_at() -> None:
    speakers = {"ana": np.array([0, 1]), "ben": np.array([2])}
    found = among_people(speakers, np.array([5, 5, 6]), np.array([0.04, 0.06, 0.01]))
    assert found is not None
    assert found.tolist() == [0.0, 0.06, 0.0]
    assert among_people(speakers, np.array([5, 5, 6]), 0.01) is None
    assert stated("Why? " * 399 + "Why?") == 0.0
    assert stated("Why? " * 401) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "my dog is called Rex",
        "We read \u201cDune\u201d.",
        "I'm from Oslo's outskirts",
        "we flew with (Norwegian)",
        "Hi Ana! I met Rex.",
        "On Monday I met Rex",
    ],
)
def test_a_capital_within_a_sentence_is_a_name(text: str) -> None:
    assert says_name(text, {"ana", "ben"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Rex",
        "How are you? Fine! And you\u2026 Well.",
        "Oh, I think I'm off, and I\u2019ve to go on Friday in May, OK?",
        "Thanks, Ben! How is Ana\u2019s leg?",
        "he said:  Go",
        " Hello",
    ],
)
def test_beginnings_the_speakers_and_the_calendar_are_none(text: str) -> None:
    assert not says_name(text, {"ana", "ben"})


def test_what_is_hardly_a_turn_is_not_looked_through() -> None:
    assert says_name("x" * (LONGEST + 1))


def test_a_part_of_a_speakers_name_is_no_name_of_others() -> None:
    found, _ = kinds_of_texts(["Hi Ana", "Hi Lima", "Hi Rex"], np.ones(3), ["ana lima"])
    assert (found["named"] > 0.0).tolist() == [False, False, True]
