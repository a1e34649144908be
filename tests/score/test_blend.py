"""Is a score what it says? A mean in [0, 1] whose parts add up, blind to order and to constants."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, ReadState, Record, Weights
from adaptive_memory_core.policy import Advanced
from adaptive_memory_core.reports import Hit
from adaptive_memory_core.score.blend import score
from adaptive_memory_core.score.literature import normalise
from adaptive_memory_core.score.signals import DAY

NOW = 1_760_000_000.0
weight = st.floats(0, 100)
all_weights = st.builds(Weights, weight, weight, st.floats(0.01, 100))
spreads = st.floats(1e-6, 1)
policies = st.builds(
    Policy,
    weights=all_weights,
    advanced=st.builds(Advanced, blend=st.sampled_from(["sum", "minmax", "product"])),
    half_life_days=st.floats(0.1, 1000),
)
states = st.builds(
    ReadState,
    last_read=st.none() | st.floats(NOW - 1e9, NOW + 1e9),
    refreshed_at=st.none() | st.floats(NOW - 1e9, NOW + 1e9),
    retrieval_count=st.integers(0, 10**6),
    warmth=st.floats(0, 1e6),
)
records = st.builds(
    Record,
    id=st.uuids().map(str),
    text=st.just("text"),
    importance=st.none() | st.floats(0, 1),
    created_at=st.none() | st.floats(NOW - 1e9, NOW + 1e9),
    read=states,
)
similarities = st.floats(-1, 1) | st.floats(-1e30, 1e30)
hits = st.builds(lambda record, close: Hit(record, close, record.id), records, similarities)
many_hits = st.lists(hits, max_size=12, unique_by=lambda hit: hit.record.id)


@given(many_hits, policies)
def test_every_score_and_every_part_lies_in_0_to_1(found: list[Hit], policy: Policy) -> None:
    for one in score(found, policy, now=NOW):
        assert 0 <= one.score <= 1
        assert all(-1e-12 <= part <= 1 + 1e-12 for part in one.parts.values())


@given(many_hits, policies)
def test_the_parts_add_up_to_the_score(found: list[Hit], policy: Policy) -> None:
    for one in score(found, policy, now=NOW):
        assert sum(one.parts.values()) == pytest.approx(one.score, abs=1e-9)


@given(many_hits, policies, st.randoms(use_true_random=False))
def test_the_ranking_does_not_depend_on_the_order_of_the_candidates(
    found: list[Hit], policy: Policy, shuffler: random.Random
) -> None:
    before = score(found, policy, now=NOW)
    shuffler.shuffle(found)
    assert score(found, policy, now=NOW) == before


@given(st.permutations(["a", "b", "c", "d"]))
def test_ties_are_broken_by_id_in_any_order(names: list[str]) -> None:
    found = [Hit(Record(name, "text"), 0.5, name) for name in names]
    assert [one.id for one in score(found, Policy(), now=NOW)] == ["a", "b", "c", "d"]


def test_of_equals_the_nearer_then_the_newer_comes_first() -> None:
    plain = Policy(weights=Weights(recency=0, importance=1, similarity=0))
    near, new = Hit(Record("z", "text", created_at=1.0), 0.9, "z"), Hit(Record("y", "text", created_at=2.0), 0.5, "y")
    old = Hit(Record("a", "text", created_at=1.0), 0.5, "a")
    assert [one.id for one in score([old, new, near], plain, now=NOW)] == ["z", "y", "a"]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12), st.floats(-1, 1), spreads)
def test_adding_a_constant_to_a_signal_changes_nothing(values: list[float], constant: float, spread: float) -> None:
    moved = normalise([value + constant for value in values], spread=spread)
    assert moved == pytest.approx(normalise(values, spread=spread), abs=1e-8)


@given(st.floats(-1e6, 1e6), st.integers(1, 20), spreads)
def test_a_constant_signal_says_nothing(value: float, count: int, spread: float) -> None:
    assert normalise([value] * count, spread=spread) == [0.5] * count


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(1e-6, 2))
def test_normalised_values_lie_in_0_to_1_and_keep_their_order(values: list[float], spread: float) -> None:
    ranked = normalise(sorted(values), spread=spread)
    assert ranked == sorted(ranked)
    assert all(-1e-9 <= value <= 1 + 1e-9 for value in ranked)


def test_nothing_normalises_to_nothing() -> None:
    assert normalise([], spread=0.5) == []
    assert score([], Policy(), now=NOW) == []


@pytest.mark.parametrize("name", ["default", "equal", "assistant", "support", "coding", "planning"])
def test_records_written_seconds_apart_differ_by_next_to_nothing(name: str) -> None:
    policy = Policy.preset(name).replace(weights=Weights(recency=1, importance=0, similarity=0))
    twins = [Hit(Record(str(n), "text", created_at=NOW - n), 0.5, str(n)) for n in range(2)]
    newer, older = score(twins, policy, now=NOW)
    assert 0 < newer.parts["recency"] - older.parts["recency"] < 0.001


@given(st.integers(2, 30), st.floats(0.1, 1000))
def test_a_candidate_of_similarity_0_is_no_better_than_its_similarity(count: int, days: float) -> None:
    """The trap `score or 1.0`: the worst candidate became the best one."""
    found = [Hit(Record(str(n), "text"), n / count, str(n)) for n in range(count)]
    assert score(found, Policy(half_life_days=days), now=NOW)[-1].similarity == 0.0


def test_trap_a_similarity_of_0_is_not_perfect() -> None:
    unrelated, related = Hit(Record("a", "text"), 0.0, "a"), Hit(Record("b", "text"), 0.4, "b")
    best, last = score([unrelated, related], Policy(), now=NOW)
    assert (best.id, last.id) == ("b", "a")
    assert last.parts["similarity"] == 0.0
    assert last.signals["similarity"] == 0.0


def test_trap_no_metadata_can_add_more_than_its_weight() -> None:
    """An `importance` of a million in the metadata once drowned similarity."""
    loud = Hit(Record("a", "text", importance=1.0, read=ReadState(warmth=1e9, retrieval_count=10**9)), 0.1, "a")
    fitting = Hit(Record("b", "text", importance=0.0), 0.9, "b")
    assert [one.id for one in score([loud, fitting], Policy(), now=NOW)] == ["b", "a"]


def test_only_the_ratio_of_weights_counts() -> None:
    found = [
        Hit(Record(str(n), "text", importance=n / 3, created_at=NOW - n * DAY), 1 - n / 4, str(n)) for n in range(3)
    ]
    small, large = Policy(weights=Weights(0.1, 0.2, 0.3)), Policy(weights=Weights(10, 20, 30))
    for one, other in zip(score(found, small, now=NOW), score(found, large, now=NOW), strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-12)


def test_a_read_memory_outranks_its_unread_twin() -> None:
    twin = Record("a", "text", created_at=NOW - 30 * DAY)
    read = replace(twin, id="b", read=ReadState(NOW - DAY, NOW - DAY, 1, 1, 1, 1.0))
    found = [Hit(twin, 0.5, "a"), Hit(read, 0.5, "b")]
    assert [one.id for one in score(found, Policy(), now=NOW)] == ["b", "a"]


def test_in_the_product_what_was_important_long_ago_fades() -> None:
    policy = Policy(advanced=Advanced(blend="product"), weights=Weights(1, 1, 0), half_life_days=1)
    old = Hit(Record("old", "text", importance=1.0, created_at=NOW - 100 * DAY), 0.5, "old")
    new = Hit(Record("new", "text", importance=0.6, created_at=NOW), 0.5, "new")
    dull = Hit(Record("dull", "text", importance=0.0, created_at=NOW), 0.5, "dull")
    ranked = score([old, new, dull], policy, now=NOW)
    assert ranked[0].id == "new"
    assert {one.id: one.score for one in ranked}["old"] == 0.0
    assert set(ranked[0].parts) == {"recency*importance", "similarity"}


@given(st.lists(st.floats(0, 1), min_size=2, max_size=10), st.floats(0, 1))
def test_default_weights_let_learning_move_a_score_by_a_tenth_at_most(close: list[float], worth: float) -> None:
    found = [
        Hit(Record(str(n), "text", importance=worth, created_at=NOW - n * DAY), value, str(n))
        for n, value in enumerate(close)
    ]
    for one in score(found, Policy(), now=NOW):
        assert one.parts["recency"] + one.parts["importance"] <= 0.1 + 1e-9
