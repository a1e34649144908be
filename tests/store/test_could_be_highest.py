"""Are the highest of many numbers among those that could be, however many there are?"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.store.mirror.vector_matrix import GROUP, could_be_highest


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 20_000),
    most=st.integers(1, 90),
    kind=st.sampled_from([np.float32, np.float64]),
)
def test_none_of_the_highest_is_left_out(seed: int, count: int, most: int, kind: type) -> None:
    numbers = np.random.default_rng(seed).normal(size=count).astype(kind).round(2)  # with many equal ones
    places = could_be_highest(numbers, most)
    assert len(set(places.tolist())) == len(places) >= min(count, most)
    left_out = np.delete(numbers, places)
    assert not len(left_out) or left_out.max() < np.sort(numbers)[-most]


def test_most_of_many_are_left_out() -> None:
    numbers = np.random.default_rng(0).normal(size=10_000)
    assert len(could_be_highest(numbers, 20)) < 20 * GROUP


def test_what_is_no_number_is_the_highest() -> None:
    numbers = np.arange(1_000.0)
    numbers[[3, 500]] = np.nan
    assert {3, 500, 998, 999} <= set(could_be_highest(numbers, 4).tolist())
    numbers[:] = np.nan
    assert len(could_be_highest(numbers, 4)) == len(numbers)
