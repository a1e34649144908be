"""Are turns that say a name told from others, and are only turns among people looked at?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.matches import kinds_of_texts
from adaptive_memory_core.channels.sessions import LONGEST, says_name

said = st.text(alphabet="aB .?!'\u2019\u201c", max_size=40)
shares = st.floats(0.0, 1.0)


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


@given(said, shares, shares)
def test_the_less_it_is_a_turn_the_less_it_loses_for_saying_none(text: str, one: float, other: float) -> None:
    less, more = sorted((one, other))
    first, second = (
        float(kinds_of_texts([text], np.array([share]), ())[0].get("named", [0.0])[0]) for share in (less, more)
    )
    assert abs(first) <= abs(second)
    assert second >= 0.0 if says_name(text) else second <= 0.0
    assert kinds_of_texts([text], np.zeros(1), ()) == ({}, 0.0)
