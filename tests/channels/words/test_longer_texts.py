"""Are words doubted only where they find longer texts than vectors do, and the more the longer those are?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.words.lengths_found import lengths_found
from adaptive_memory_core.channels.words.longer_texts import as_many_texts, chance_among

LABELS, NEAR, UNWORDED = ["lost card"] * 10, [0.9] * 10, [0.0] * 10


def chance(longest: int, given: float = 0.001) -> float:
    """Ten labels are the nearest, and words find one text of that many characters."""
    return chance_among(given, as_many_texts(lengths_found([*LABELS, "x" * longest], [*NEAR, 0.1], [*UNWORDED, 0.5])))


def test_the_longer_the_texts_that_words_find_the_less_they_are_believed() -> None:
    found = [chance(length) for length in (9, 30, 60, 120, 4_000, 1_000_000)]
    assert found == sorted(found)
    assert found[0] == 0.001
    assert found[2] > 0.01
    assert found[-1] > 0.999


@given(st.floats(0.0, 1.0), st.integers(0, 10_000))
def test_it_never_falls_and_stays_a_chance(given: float, longest: int) -> None:
    assert given <= chance(longest, given) + 1e-12 <= 1.0 + 1e-9


@given(st.lists(st.tuples(st.text(max_size=50), st.floats(-1.0, 1.0), st.floats(0.0, 1.0)), max_size=30))
def test_where_words_find_shorter_texts_or_nothing_nothing_changes(rows: list[tuple[str, float, float]]) -> None:
    texts, similarities = [row[0] for row in rows], [row[1] for row in rows]
    for words in ([0.0] * len(rows), similarities):  # in the second case both find the same
        assert chance_among(0.25, as_many_texts(lengths_found(texts, similarities, words))) == 0.25


@pytest.mark.parametrize("similarity", [0.0, -0.5])
def test_vectors_that_find_nothing_put_no_words_in_doubt(similarity: float) -> None:
    texts = [*LABELS, "x" * 400]
    assert (
        chance_among(0.001, as_many_texts(lengths_found(texts, [similarity] * len(texts), [*UNWORDED, 0.5]))) == 0.001
    )
