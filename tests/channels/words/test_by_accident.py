"""A match of some words is likelier by accident than it looks, for other words of the cue would have done as well."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.words.bm25 import Layout, Posting, coverage
from adaptive_memory_core.channels.words.by_accident import Asked, by_accident, nats_of_choice

NATS = st.lists(st.floats(0.2, 12.0), min_size=1, max_size=7)


def tail(rarities: list[float], least: float) -> float:
    """The exact chance that words which come by accident, each by itself, say that much together."""
    there = [math.exp(-one) for one in rarities]
    total = 0.0
    for size in range(len(rarities) + 1):
        for chosen in combinations(range(len(rarities)), size):
            if sum(rarities[one] for one in chosen) >= least - 1e-9:
                total += math.prod(there[one] if one in chosen else 1.0 - there[one] for one in range(len(rarities)))
    return total


@given(NATS, st.floats(0.0, 1.0))
def test_what_is_left_is_never_rarer_than_it_is(rarities: list[float], share: float) -> None:
    nats, words = share * sum(rarities), np.array(rarities)
    left = nats - nats_of_choice(nats, words, words)
    assert math.exp(-left) >= tail(rarities, nats) * (1.0 - 1e-6)


@given(NATS)
def test_all_words_of_a_cue_leave_hardly_any_choice(rarities: list[float]) -> None:
    words = np.array([*rarities, 9.0]) + 3.0
    assert nats_of_choice(float(words.sum()), words, words) < 0.2


def test_half_of_a_long_cue_is_found_sooner_than_the_whole_of_a_short_one() -> None:
    half = Asked(np.full(8, 5.0), np.full(8, 5.0), 1000)
    whole = Asked(np.full(4, 5.0), np.full(4, 5.0), 1000)
    assert half.chance(20.0, alone=1.0) > 10.0 * whole.chance(20.0, alone=1.0)


def test_turns_are_judged_as_if_the_words_had_been_meant() -> None:
    asked = Asked(np.full(8, 5.0), np.full(8, 5.0), 1000)
    assert asked.chance(20.0, alone=0.0) == by_accident(20.0, 1000)
    assert by_accident(20.0, 1000) < asked.chance(20.0, alone=0.5) < asked.chance(20.0, alone=1.0)


def test_no_other_words_would_have_done_where_the_cue_names_something() -> None:
    """Two of four words stand in one of many records."""
    records = 400
    order = np.arange(records)
    layout = Layout(np.full(records, 20.0), records, order, order, order + 1)
    rare = [Posting(1, np.array([number, number + 1]), np.ones(2)) for number in (0, 0, 50, 90)]
    free = coverage(rare, layout, in_sessions=False)
    named = coverage(rare, layout, in_sessions=False, names=True)
    assert free.chance_any is not None
    assert free.chance_any > 2.0 * free.chance
    assert named.chance_any == named.chance == free.chance
