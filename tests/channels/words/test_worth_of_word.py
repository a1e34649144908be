"""Are words that are kept worth what they would be if they were reckoned anew?"""

from __future__ import annotations

import numpy as np

from adaptive_memory_core.channels.words import worth_of_word
from adaptive_memory_core.channels.words.worth_of_word import Worths, by_length, saturated


def test_a_kept_worth_is_the_one_of_the_formula() -> None:
    rng = np.random.default_rng(3)
    lengths = rng.integers(1, 40, 500).astype(float)
    records, kept = by_length(lengths, 500), Worths()
    for word in ("tea", ("häuser", "haus"), None, "tea"):
        docs = np.arange(0, 500, 3)
        counts = np.ones(len(docs))
        found = kept.of(word, docs, counts, records)
        by_chance = records.of_the_others[docs] * (found.said - counts)
        assert found.said == len(docs)
        assert np.array_equal(found.values, saturated(counts, records.held_back[docs], by_chance))


def test_no_more_is_kept_than_so_much_a_record() -> None:
    records, kept = by_length(np.ones(10), 10), Worths()
    docs, counts = np.arange(10), np.ones(10)
    first = kept.of(0, docs, counts, records)
    for word in range(1, 2 * worth_of_word.MOST_KEPT + 2):
        kept.of(word, docs, counts, records)
        assert kept._size <= (worth_of_word.MOST_KEPT + 1) * 10
    assert kept.of(0, docs, counts, records) is not first
