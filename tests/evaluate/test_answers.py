"""Do the measures of answers agree with the tools that others publish with: sacrebleu, rouge-score, SQuAD's script?"""

from __future__ import annotations

import re
import string
from collections import Counter
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.metrics import (
    best_of,
    bleu_1,
    contains,
    exact_match,
    f1,
    key_terms,
    rouge_l,
    term_coverage,
)

ALPHABET = "ab the A.,-:'!7 3_/\"(x"
WORDS = ["the", "tea", "Oslo", "in", "7", "May", "2023,", "3.5", "a", "well-known", "don't", "$40", "A.D.", "é", "x_y"]
texts = st.text(st.sampled_from(ALPHABET), max_size=30)
phrases = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
said = st.one_of(texts, phrases)
SACREBLEU: Any = import_module("sacrebleu.metrics").BLEU(
    max_ngram_order=1, smooth_method="none", lowercase=True, tokenize="13a", effective_order=True
)
ROUGE: Any = import_module("rouge_score.rouge_scorer").RougeScorer(["rougeL"], use_stemmer=False)


def squad_words(text: str) -> list[str]:
    """As SQuAD's evaluation normalises, written from its description."""
    kept = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


@given(said, said)
def test_bleu_1_agrees_with_sacrebleu(ours: str, right: str) -> None:
    assert bleu_1(ours, right) == pytest.approx(SACREBLEU.sentence_score(ours, [right]).score / 100, abs=1e-9)


@given(said.filter(str.isascii), said.filter(str.isascii))
def test_rouge_l_agrees_with_rouge_score(ours: str, right: str) -> None:
    assert rouge_l(ours, right) == pytest.approx(ROUGE.score(right, ours)["rougeL"].fmeasure, abs=1e-9)


@given(said, said)
def test_exact_match_and_f1_are_those_of_squad(ours: str, right: str) -> None:
    one, other = squad_words(ours), squad_words(right)
    assert exact_match(ours, right) == float(one == other)
    both = sum((Counter(one) & Counter(other)).values())
    share = 2 * (both / len(one)) * (both / len(other)) / (both / len(one) + both / len(other)) if both else 0.0
    assert f1(ours, right) == pytest.approx(float(one == other) if not one or not other else share, abs=1e-9)


@given(said, said)
def test_every_measure_is_a_share_and_1_for_the_right_answer(ours: str, right: str) -> None:
    for measure in (exact_match, f1, bleu_1, rouge_l, contains):
        assert 0.0 <= measure(ours, right) <= 1.0
    if squad_words(right):
        assert exact_match(right, right) == f1(right, right) == contains(f"I say {right} now", right) == 1.0


def test_words_of_other_writing_count() -> None:
    assert rouge_l("она пьёт чай", "она пьёт кофе") == pytest.approx(2 / 3)


def test_terms_are_covered_in_any_inflection_and_several_words_together() -> None:
    assert term_coverage("They were deploying on a Tuesday", key_terms("Deploys are on Tuesdays")) == 1.0
    assert term_coverage("green leaves", ["green tea", "leaf green", "green leaves"]) == pytest.approx(1 / 3)
    assert term_coverage("tea", ["the"]) == 0.0


@pytest.mark.parametrize("terms", [[], "tea"])
def test_no_terms_are_refused(terms: Any) -> None:
    with pytest.raises(InvalidInputError, match="the terms are"):
        term_coverage("tea", terms)


def test_the_closest_of_several_right_answers_counts() -> None:
    assert best_of(exact_match, "Oslo", ["Rome", "oslo."]) == 1.0
    assert best_of(exact_match, "Oslo", []) == 0.0
