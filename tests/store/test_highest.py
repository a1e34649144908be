"""Are the highest of many numbers found, however many there are?"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.store.highest import highest


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 20_000),
    most=st.integers(1, 90),
    kind=st.sampled_from([np.float32, np.float64]),
)
def test_the_highest_are_found_however_many_there_are(seed: int, count: int, most: int, kind: type) -> None:
    numbers = np.random.default_rng(seed).normal(size=count).astype(kind).round(2)  # with many equal ones
    found = highest(numbers, most)
    assert len(set(found.tolist())) == len(found) == min(count, most)
    assert np.array_equal(np.sort(numbers[found]), np.sort(numbers)[count - len(found) :])


def test_what_is_no_number_stands_where_sorting_puts_it() -> None:
    numbers = np.arange(1_000.0)
    numbers[[3, 500]] = np.nan
    assert sorted(highest(numbers, 4).tolist()) == [3, 500, 998, 999]
    numbers[:] = np.nan
    assert len(set(highest(numbers, 4).tolist())) == 4
