"""Are copies the same ones, however long the texts beside them are?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.score.select import REMEMBERED, leaders, plain_words

WORDS = st.sampled_from(["tea", "Tea", "coffee", "tax.", "!", "...", ""])
TEXTS = st.lists(
    st.builds(
        lambda words, long: " ".join(words) + long * (" and so on" * REMEMBERED),
        st.lists(WORDS, max_size=4),
        st.booleans(),
    ),
    max_size=8,
)


@given(TEXTS)
def test_each_leads_to_the_first_with_its_words(texts: list[str]) -> None:
    words = [plain_words(text) for text in texts]
    assert leaders(texts, 1.0) == [words.index(one) if one else number for number, one in enumerate(words)]
