"""Is a set chosen by score and by what it covers, each once, however candidates lie?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.score.diversity import Member, members

CANDIDATES = st.lists(st.builds(Member, st.floats(0, 1), st.sampled_from(["a", "b", None])), max_size=20)


@given(CANDIDATES, st.integers(0, 5), st.integers(0, 20), st.floats(0, 2))
def test_each_is_chosen_once_and_none_that_is_shown(among: list[Member], shown: int, most: int, cover: float) -> None:
    found = members(among, shown, most, cover=cover)
    assert len(found) == len(set(found)) == min(most, max(0, len(among) - shown))
    assert all(number >= shown for number in found)


@given(CANDIDATES)
def test_without_coverage_they_come_by_score(among: list[Member]) -> None:
    scores = [among[one].score for one in members(among, 0, 20, cover=0.0)]
    assert scores == sorted(scores, reverse=True)


def test_a_session_that_was_not_shown_comes_before_a_little_more_of_one_that_was() -> None:
    among = [Member(0.9, "a"), Member(0.85, "a"), Member(0.84, "a"), Member(0.8, "b"), Member(0.2, None)]
    assert members(among, 1, 3, cover=0.5) == [3, 1, 2]
