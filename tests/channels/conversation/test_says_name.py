"""Are turns that say a name told from others, and are only turns among people looked at?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.conversation.sessions import LONGEST, named_in, says_name

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
    assert named_in(["Hi Ana", "Hi Lima", "Hi Rex"], [1.0] * 3, ["ana lima"]) == [0.0, 0.0, 1.0]


@given(said, shares, shares)
def test_the_less_it_is_a_turn_the_less_it_loses_for_saying_none(text: str, one: float, other: float) -> None:
    less, more = sorted((one, other))
    [first], [second] = named_in([text], [less], ()), named_in([text], [more], ())
    assert 0.0 <= second <= first <= 1.0
    assert named_in([text], [0.0], ()) == [1.0]
