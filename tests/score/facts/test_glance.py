"""Does a glance at a text leave out none that few words tell from another one?"""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from adaptive_memory_core.score.facts.glance import glance, may_differ_little
from adaptive_memory_core.score.facts.statement import differ, statement

WORDS = [
    "Ilse",
    "lives",
    "in",
    "Oslo",
    "it's",
    "3.5",
    "(now)",
    "Stra\u00dfe",
    "STRASSE",
    "A-4",
    '"home"',
    "km",
    "\u4e1c",
]
texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from([" ", ", ", "! ", "-"])), max_size=12).map(
    lambda pairs: "".join(word + mark for word, mark in pairs)
)


@given(texts, texts, st.integers(0, 5))
@example("Ilse is at home now, in Oslo", "ilse is, at home! (now); in Oslo.", 0)
def test_no_text_is_left_out_that_differs_in_so_few_words(one: str, other: str, most: int) -> None:
    said = statement(one)
    kept = may_differ_little(said, [glance(other)], [0], most)
    assert kept == [0] or differ(said.said, statement(other).said) > most


def test_texts_with_other_words_are_left_out() -> None:
    looks = [glance(text) for text in ("The gate of billing is open.", "Ilse lives in Turin.", "Colm likes old maps.")]
    assert may_differ_little(statement("Ilse lives in Oslo."), looks, [0, 1, 2], 1) == [1]
