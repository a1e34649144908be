"""Do the measures keep their promises, and do they agree with trec_eval (through ir-measures)?"""

from __future__ import annotations

import math
from collections.abc import Callable

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, R, Success, nDCG

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.metrics import (
    Gold,
    all_found_at,
    hit_rate_at,
    mean,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
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
