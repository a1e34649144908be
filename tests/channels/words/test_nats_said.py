"""A word said again is no rarer, where any words of the cue would have done."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.words.bm25 import Coverage, Layout, Posting, coverage
from adaptive_memory_core.channels.words.nats_said import In, nats_said

RECORDS = 400
WORTHS = st.lists(st.floats(0.01, 1.9), min_size=1, max_size=5)


def found(times_said: float, *, names: bool = False, beside: bool = False) -> Coverage:
    """What is found of a cue of four words, two of which one of many records has, each said so often; with `beside`
    half of the others are turns of a conversation."""
    order = np.arange(RECORDS)
    alone = order < RECORDS // 2 if beside else None
    last = np.where(order < RECORDS // 2, order + 1, RECORDS) if beside else order + 1
    first = np.where(order < RECORDS // 2, order, RECORDS // 2) if beside else order
    layout = Layout(np.full(RECORDS, 20.0), RECORDS, order, first, last, alone=alone)
    words = [Posting(1, np.array([0, other]), np.array([times_said, 1.0])) for other in (1, 2)]
    others = [Posting(1, np.array([other]), np.ones(1)) for other in (5, 6)]
    return coverage([*words, *others], layout, in_sessions=beside, names=names)


def test_a_word_said_again_makes_no_match_of_any_words_surer() -> None:
    once, again = found(1.0), found(9.0)
    assert again.chance < once.chance / 100
    assert again.chance_any is not None
    assert once.chance_any is not None
    assert again.chance_any > 0.9 * once.chance_any
    assert again.words[0] > once.words[0]


def test_of_what_stands_alone_beside_conversations_neither() -> None:
    once, again = found(1.0, beside=True), found(9.0, beside=True)
    assert again.chance_alone is not None
    assert once.chance_alone is not None
    assert again.chance_alone > 0.9 * once.chance_alone


def test_who_names_something_means_it_more_often_said() -> None:
    once, again = (found(times, names=True, beside=True) for times in (1.0, 9.0))
    assert again.chance_alone is not None
    assert once.chance_alone is not None
    assert again.chance_alone < once.chance_alone / 100


@given(WORTHS, st.booleans())
def test_nothing_says_more_at_once_than_in_all(worths: list[float], any_words: bool) -> None:
    there = In([np.array([0])] * len(worths), [np.array([one]) for one in worths], 2)
    weigh, nats = nats_said([2.0] * len(worths), [0.0] * len(worths), there, any_words)
    assert nats.all[0] == weigh[0]
    assert nats.once[0] <= nats.all[0] + 1e-9
    assert nats.once[0] <= 2.0 * len(worths) + 1e-9 or not any_words
    assert nats.best_of(np.array([False, True])) == 0.0
