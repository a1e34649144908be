"""Is a question no answer among people, while what somebody asks an assistant is what they said?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.matches import kinds_of_texts
from adaptive_memory_core.channels.sessions import ROLES, among_people
from adaptive_memory_core.channels.turns import stated

said = st.text(alphabet="ab ?.!'\"\u2026\u3002\uff1f", max_size=40)


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


@given(said, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_the_less_it_is_a_turn_the_less_a_question_loses(text: str, one: float, other: float) -> None:
    less, more = sorted((one, other))
    first, second = (
        float(kinds_of_texts([text], np.array([share]), None)[0].get("stated", [0.0])[0]) for share in (less, more)
    )
    assert abs(first) <= abs(second)
    assert second >= 0.0 if stated(text) == 1.0 else second <= 0.0


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
