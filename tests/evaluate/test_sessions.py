"""Are sessions measured as others publish them, and is LongMemEval's own NDCG the one of its script?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.evaluate.datasets import Item, Question
from adaptive_memory_core.evaluate.metrics import ndcg_of_their_script, session_measures

ITEMS = {
    f"s{number}:{turn}": Item(f"s{number}:{turn}", "x", session=f"s{number}") for number in range(12) for turn in "ab"
}
SESSIONS = [f"s{number}" for number in range(12)]


def ask(*gold: str) -> Question:
    return Question("q", "?", gold)


def test_a_session_stands_where_its_best_record_does() -> None:
    row = session_measures(ask("s1:b", "s7:a"), ["s0:a", "s0:b", "s1:a", "s2:a", "s3:a", "s4:a", "s7:b"], ITEMS)
    assert (row["session hit@1"], row["session R@5"], row["session all@5"], row["session all@10"]) == (
        0.0,
        1.0,
        0.0,
        1.0,
    )
    assert row["session NDCG@10 (LME)"] == pytest.approx((1 / np.log2(2) + 1 / np.log2(6)) / 2)
    assert row["session NDCG@10"] == pytest.approx((1 / np.log2(3) + 1 / np.log2(7)) / (1 + 1 / np.log2(3)))


def test_the_sessions_that_the_set_names_hold_and_without_sessions_nothing_is_said() -> None:
    named = Question("q", "?", ("s1:a",), more={"answer_sessions": ["s2"]})
    assert session_measures(named, ["s2:a"], ITEMS)["session hit@1"] == 1.0
    assert session_measures(ask("plain"), ["plain"], {"plain": Item("plain", "x")}) == {}
    assert session_measures(ask("s1:a"), [], ITEMS)["session R@10"] == 0.0


@given(
    ranking=st.lists(st.sampled_from(SESSIONS), unique=True),
    gold=st.sets(st.sampled_from(SESSIONS), min_size=1),
    k=st.integers(1, 12),
)
def test_ndcg_is_that_of_their_script(ranking: list[str], gold: set[str], k: int) -> None:
    """The script, from what it does: the first gain as it is, then each by log2 of its rank; the best order of all."""

    def discounted(gains: list[int]) -> float:
        later = np.array(gains[1:]) / np.log2(np.arange(2, len(gains) + 1))
        return float(gains[0] + later.sum()) if gains else 0.0

    best = sorted((int(one in gold) for one in SESSIONS), reverse=True)
    theirs = discounted([int(one in gold) for one in ranking[:k]]) / discounted(best[:k])
    assert ndcg_of_their_script(ranking, gold, k=k) == pytest.approx(theirs, abs=1e-12)
