"""Do the other candidates of a conversation say what they should of a turn, and nothing of what stands alone?"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.conversation.session_similarity import session_similarity
from adaptive_memory_core.channels.conversation.sessions import Conversation, Turns, conversation

sessions = st.lists(st.sampled_from([None, "monday", "tuesday"]), min_size=1, max_size=12)


def talk(told: list[str | None]) -> Conversation:
    size = len(told)
    return conversation(Turns([None] * size, [0] * size, told, [float(n) for n in range(size)]), np.ones(size), size)


def test_a_turn_has_the_similarity_of_the_one_before_it() -> None:
    assert session_similarity({0: 0.9, 1: 0.1}, talk(["monday", "monday"]))[1][0] == 0.9


def test_the_turn_before_counts_nothing_where_it_is_no_candidate() -> None:
    assert session_similarity({1: 0.1}, talk(["monday", "monday"]))[1][0] == 0.0


def test_the_last_turn_of_another_session_is_not_the_turn_before() -> None:
    assert session_similarity({0: 0.9, 1: 0.1}, talk(["monday", "tuesday"]))[1] == (0.1, 0.1)


def test_no_candidate_is_no_company() -> None:
    assert session_similarity({}, talk(["monday"])) == {}


@given(sessions, st.data())
def test_a_candidate_is_in_the_company_of_the_best_of_its_own_session(
    told: list[str | None], data: st.DataObject
) -> None:
    numbers = data.draw(st.sets(st.integers(0, len(told) - 1)))
    similar = {number: data.draw(st.floats(0, 1)) for number in sorted(numbers)}
    for number, (_, best) in session_similarity(similar, talk(told)).items():
        own = [n for n in similar if n == number or (told[n] is not None and told[n] == told[number])]
        assert best == max(similar[n] for n in own)
