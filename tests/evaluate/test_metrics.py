"""Do measures keep their promises and agree with others' tools: trec_eval, LongMemEval's script, sacrebleu, SQuAD?"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, R, Success, nDCG

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.datasets import Item, Question
from adaptive_memory_core.evaluate.metrics import (
    Gold,
    all_found_at,
    best_of,
    bleu_1,
    contains,
    exact_match,
    f1,
    hit_rate_at,
    key_terms,
    mean,
    ndcg_at,
    ndcg_of_their_script,
    precision_at,
    recall_at,
    reciprocal_rank,
    rouge_l,
    session_measures,
    term_coverage,
)

MEASURES: dict[str, Callable[..., float]] = {
    measure.__name__: measure
    for measure in (recall_at, hit_rate_at, all_found_at, precision_at, ndcg_at, reciprocal_rank)
}
IDS = [f"m{number}" for number in range(12)]

rankings = st.lists(st.sampled_from(IDS), unique=True)
golds = st.dictionaries(st.sampled_from(IDS), st.integers(1, 3), min_size=1)
cuts = st.integers(1, 15)
every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


@every_measure
@given(ranking=rankings, gold=golds, k=cuts)
def test_every_score_lies_between_0_and_1(
    measure: Callable[..., float], ranking: list[str], gold: dict[str, float], k: int
) -> None:
    assert 0.0 <= measure(ranking, gold, k=k) <= 1.0


@every_measure
@given(ranking=rankings, gold=golds, k=cuts, order=st.randoms(use_true_random=False))
def test_what_stands_beyond_k_changes_nothing(
    measure: Callable[..., float], ranking: list[str], gold: dict[str, float], k: int, order: object
) -> None:
    tail = ranking[k:]
    order.shuffle(tail)  # type: ignore[attr-defined]
    assert measure(ranking[:k] + tail, gold, k=k) == measure(ranking, gold, k=k) == measure(ranking[:k], gold, k=k)


@pytest.mark.parametrize("measure", [recall_at, hit_rate_at, all_found_at, reciprocal_rank])
@given(ranking=rankings, gold=golds, k=cuts)
def test_a_longer_look_never_finds_less(
    measure: Callable[..., float], ranking: list[str], gold: dict[str, float], k: int
) -> None:
    assert measure(ranking, gold, k=k) <= measure(ranking, gold, k=k + 1)


@every_measure
@given(ranking=rankings, gold=golds, k=cuts, place=st.integers(0, 12))
def test_moving_gold_up_never_lowers_a_score(
    measure: Callable[..., float], ranking: list[str], gold: dict[str, float], k: int, place: int
) -> None:
    right = [item for item in ranking if item in gold]
    if right:
        best = max(right, key=lambda item: gold[item])
        better = list(ranking)
        better.remove(best)
        better.insert(min(place, ranking.index(best)), best)
        assert measure(better, gold, k=k) >= measure(ranking, gold, k=k) - 1e-12


@given(ranking=rankings, gold=golds, k=cuts)
def test_ndcg_is_1_exactly_when_the_first_k_gains_are_the_best_possible(
    ranking: list[str], gold: dict[str, float], k: int
) -> None:
    gains = ([gold.get(item, 0) for item in ranking] + [0] * k)[:k]
    best = (sorted(gold.values(), reverse=True) + [0] * k)[:k]
    assert (ndcg_at(ranking, gold, k=k) == 1.0) == (gains == best)


@given(ranking=rankings, gold=golds, k=cuts)
def test_any_part_and_all_of_the_gold_stand_in_order(ranking: list[str], gold: dict[str, float], k: int) -> None:
    share = recall_at(ranking, gold, k=k)
    assert hit_rate_at(ranking, gold, k=k) == (share > 0)
    assert all_found_at(ranking, gold, k=k) == (share == 1)


@given(ranking=rankings, gold=golds, k=cuts)
def test_without_gains_each_gold_counts_the_same(ranking: list[str], gold: dict[str, float], k: int) -> None:
    for measure in MEASURES.values():
        alike: list[Gold] = [
            list(gold),
            set(gold),
            dict.fromkeys(gold, 1.0),
            dict.fromkeys(IDS, 0.0) | dict.fromkeys(gold, 1),
        ]
        assert len({measure(ranking, one, k=k) for one in alike}) == 1


@given(st.lists(st.tuples(rankings, golds), min_size=1, max_size=8), cuts)
def test_all_agree_with_trec_eval(questions: list[tuple[list[str], dict[str, int]]], k: int) -> None:
    qrels = {f"q{number}": gold for number, (_, gold) in enumerate(questions)}
    run = {f"q{n}": {item: -float(place) for place, item in enumerate(order)} for n, (order, _) in enumerate(questions)}
    pairs: dict[ir_measures.Measure, Callable[..., float]] = {
        R @ k: recall_at,
        P @ k: precision_at,
        nDCG @ k: ndcg_at,
        Success @ k: hit_rate_at,
        RR @ k: reciprocal_rank,
    }
    theirs = {(one.query_id, one.measure): one.value for one in ir_measures.iter_calc([*pairs, RR], qrels, run)}
    for number, (ranking, gold) in enumerate(questions):
        for trec, ours in pairs.items():
            assert ours(ranking, gold, k=k) == pytest.approx(theirs.get((f"q{number}", trec), 0.0), abs=1e-9)
        assert reciprocal_rank(ranking, gold) == pytest.approx(theirs.get((f"q{number}", RR), 0.0), abs=1e-9)


@every_measure
@pytest.mark.parametrize("gold", [[], set(), {}, {"a": 0.0}])
def test_a_question_without_gold_is_refused(measure: Callable[..., float], gold: Gold) -> None:
    with pytest.raises(InvalidInputError, match="no gold"):
        measure(["a"], gold, k=1)


@every_measure
@pytest.mark.parametrize("k", [0, -1, 2.0, True, "5"])
def test_a_k_that_is_no_count_is_refused(measure: Callable[..., float], k: object) -> None:
    with pytest.raises(InvalidInputError, match="whole number from 1 up"):
        measure(["a"], {"a"}, k=k)


@every_measure
def test_an_id_ranked_twice_is_refused_even_beyond_k(measure: Callable[..., float]) -> None:
    with pytest.raises(InvalidInputError, match="'b' twice"):
        measure(["a", "b", "c", "b"], {"a"}, k=1)


@every_measure
def test_a_text_is_not_taken_for_a_list_of_ids(measure: Callable[..., float]) -> None:
    with pytest.raises(InvalidInputError, match="the gold is the text"):
        measure(["a"], "abc", k=1)
    with pytest.raises(InvalidInputError, match="the ranking is the text"):
        measure("abc", {"a"}, k=1)


@pytest.mark.parametrize("gain", [-1.0, math.nan, math.inf])
def test_a_gain_that_is_no_amount_is_refused(gain: float) -> None:
    with pytest.raises(InvalidInputError, match="finite number from 0 up"):
        ndcg_at(["a"], {"a": gain}, k=1)


@given(st.lists(st.floats(0, 1), min_size=1))
def test_the_mean_lies_among_its_scores(scores: list[float]) -> None:
    assert min(scores) - 1e-12 <= mean(scores) <= max(scores) + 1e-12


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


ALPHABET = "ab the A.,-:'!7 3_/\"(x"
WORDS = ["the", "tea", "Oslo", "in", "7", "May", "2023,", "3.5", "a", "well-known", "don't", "$40", "A.D.", "é", "x_y"]
texts = st.text(st.sampled_from(ALPHABET), max_size=30)
phrases = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
said = st.one_of(texts, phrases)


@cache
def sacrebleu() -> Any:
    """Imported when it is asked, as it takes long."""
    plain = {"max_ngram_order": 1, "smooth_method": "none", "tokenize": "13a", "effective_order": True}
    return import_module("sacrebleu.metrics").BLEU(lowercase=True, **plain)


@cache
def rouge_score() -> Any:
    return import_module("rouge_score.rouge_scorer").RougeScorer(["rougeL"], use_stemmer=False)


def squad_words(text: str) -> list[str]:
    """As SQuAD's evaluation normalises, written from its description."""
    kept = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


@given(said, said)
def test_bleu_1_agrees_with_sacrebleu(ours: str, right: str) -> None:
    assert bleu_1(ours, right) == pytest.approx(sacrebleu().sentence_score(ours, [right]).score / 100, abs=1e-9)


@given(said.filter(str.isascii), said.filter(str.isascii))
def test_rouge_l_agrees_with_rouge_score(ours: str, right: str) -> None:
    assert rouge_l(ours, right) == pytest.approx(rouge_score().score(right, ours)["rougeL"].fmeasure, abs=1e-9)


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
