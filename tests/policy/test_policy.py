"""Does a policy refuse what makes no sense, and is it the same policy everywhere it is written down?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import AdaptiveMemory, PolicyError
from adaptive_memory_core.policy import (
    Copies,
    Decay,
    Fusion,
    Keeping,
    Policy,
    Reading,
    Remembrance,
    Rerank,
    Shown,
    Spreads,
    TimeWords,
    Usefulness,
    Weights,
)
from adaptive_memory_core.score.signals import decay

GROUPS = (
    Policy,
    Fusion,
    Reading,
    TimeWords,
    Decay,
    Remembrance,
    Copies,
    Rerank,
    Shown,
    Spreads,
    Usefulness,
    Weights,
    Keeping,
)
PRESETS = ["default", "equal", "assistant", "support", "coding", "planning", "generative_agents"]
NO_NUMBERS = [math.nan, math.inf, -math.inf, True, False, "1", None, [1], 1j, b"1"]
MAKERS: list[tuple[Callable[..., object], str]] = [
    *((make, name) for make in GROUPS for name in make.RANGES),
]


def test_every_number_of_a_policy_has_a_range() -> None:
    for kind in GROUPS:
        numbers = {field.name for field in fields(kind) if type(field.default) in (int, float)}
        assert numbers == set(kind.RANGES), kind


@pytest.mark.parametrize(("make", "name"), MAKERS)
@pytest.mark.parametrize("value", NO_NUMBERS)
def test_every_number_refuses_what_is_no_number(make: Callable[..., object], name: str, value: object) -> None:
    with pytest.raises(PolicyError, match=rf"{name}=.* is not allowed\. It must be a (whole )?number") as refusal:
        make(**{name: value})
    assert repr(value) in str(refusal.value)


@pytest.mark.parametrize(("make", "name"), MAKERS)
def test_every_number_refuses_what_is_below_its_range(make: Callable[..., object], name: str) -> None:
    with pytest.raises(PolicyError, match="It must be"):
        make(**{name: -1})


HIGHEST: dict[tuple[Callable[..., object], str], float] = {
    (Reading, "half_life_growth"): 10,
    (Policy, "recall_k"): 10_000,
    (Policy, "recall_limit"): 30_000,
    (Policy, "similarity_floor"): 1,
    (Policy, "score_floor"): 1,
    (Reading, "count_weight"): 1,
    (Reading, "count_boost_max"): 1,
    (Reading, "count_decay_per_day"): 1,
    (Usefulness, "importance_step"): 0.05,
    (Usefulness, "importance_bound"): 1,
    (Reading, "reads_before_refresh"): 100,
    (Decay, "remembrance_threshold"): 1_000_000,
    (Spreads, "recency"): 1,
    (Spreads, "importance"): 1,
    (Spreads, "similarity"): 2,
}


@pytest.mark.parametrize(("made", "highest"), HIGHEST.items())
def test_a_number_may_reach_its_bound_and_not_pass_it(made: tuple[Callable[..., object], str], highest: float) -> None:
    make, name = made
    assert getattr(make(**{name: highest}), name) == highest
    with pytest.raises(PolicyError, match=re.escape(f", {highest:g}]")):
        make(**{name: highest + 1})


@pytest.mark.parametrize(
    ("make", "name"),
    [(Policy, "half_life_days"), (Reading, "half_life_days_max"), (Reading, "window_days"), (Policy, "recall_k")],
)
def test_where_0_has_no_meaning_it_is_refused(make: Callable[..., object], name: str) -> None:
    with pytest.raises(PolicyError, match=name):
        make(**{name: 0})


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (Policy, "recall_k"),
        (Policy, "recall_limit"),
        (Reading, "reads_before_refresh"),
        (Decay, "remembrance_threshold"),
        (Rerank, "candidates"),
    ],
)
def test_a_count_is_a_whole_number(make: Callable[..., object], name: str) -> None:
    with pytest.raises(PolicyError, match="whole number"):
        make(**{name: 1.5})


@pytest.mark.parametrize(("make", "name"), MAKERS)
def test_a_number_no_float_can_hold_is_refused_like_any_other(make: Callable[..., object], name: str) -> None:
    with pytest.raises(PolicyError, match=name):
        make(**{name: 10**400})


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": None},
        {"weights": (1, 1, 1)},
        {"weights": {"recency": 1}},
        {"blend": "mean"},
        {"blend": None},
        {"blend": ["sum"]},
        {"channels": ()},
        {"channels": ["dense"]},
        {"channels": "dense"},
        {"channels": ("lexical",)},
        {"channels": ("dense", "dense")},
        {"channels": ("dense", "graph")},
        {"channels": (["dense"],)},
        {"channels": None},
        *(
            {name: None}
            for name in ("useful", "reading", "time_words", "decay", "copies", "rerank", "shown", "spreads")
        ),
        {"decay": {"rate": 0.9}},
        {"decay": Remembrance()},
        {"adaptive": 1},
    ],
)
def test_a_choice_refuses_what_is_not_among_its_values(wrong: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match="is not allowed"):
        Policy(**wrong)


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (Decay, {"unit": "weeks"}),
        (Decay, {"unit": None}),
        (Decay, {"by_kind": {"fact": {"rate": 0.9}}}),
        (Decay, {"by_kind": {1: Remembrance()}}),
        (Decay, {"by_kind": "fact"}),
        (Decay, {"by_kind": None}),
        (Decay, {"by_kind": [("fact",)]}),
        (Copies, {"duplicates": "burn"}),
        (Copies, {"duplicates": ["keep"]}),
        (TimeWords, {"enabled": 1}),
        (TimeWords, {"strict": None}),
        (Shown, {"intact": "yes"}),
    ],
)
def test_a_choice_of_a_group_refuses_what_is_not_among_its_values(
    make: Callable[..., object], wrong: dict[str, Any]
) -> None:
    with pytest.raises(PolicyError, match=f"{make.__name__}.* is not allowed"):
        make(**wrong)


def test_weights_of_0_are_refused_with_a_way_out() -> None:
    with pytest.raises(PolicyError, match=r"Weights\(similarity=1\)"):
        Weights(0, 0, 0)


def test_replace_changes_a_copy_and_checks_it() -> None:
    policy = Policy()
    assert policy.replace(recall_k=7).recall_k == 7
    assert policy.recall_k == 20
    with pytest.raises(PolicyError, match="recall_k=0"):
        policy.replace(recall_k=0)


def test_replace_refuses_names_it_does_not_know_and_lists_those_it_does() -> None:
    with pytest.raises(PolicyError, match=r"no halflife, k\. Its fields are: weights, .*half_life_days") as refusal:
        Policy().replace(halflife=3, k=5, recall_k=7)
    assert "recall_k" in str(refusal.value)


def test_replace_changes_the_named_fields_of_a_group_and_leaves_the_others() -> None:
    policy = Policy.preset("balanced").replace(decay={"rate": 0.5}, weights={"recency": 1})
    assert policy.decay == Decay(rate=0.5, grace=5, remembrance_threshold=3)
    assert policy.weights == Weights(1, 0, 1)
    assert policy.replace(decay=Decay()).decay.rate == 1.0
    with pytest.raises(PolicyError, match=r"Decay has no speed\. Its fields are: remembrance_threshold, grace, rate"):
        policy.replace(decay={"speed": 2})
    with pytest.raises(PolicyError, match=r"Decay\(rate=2\)"):
        policy.replace(decay={"rate": 2})


def test_a_policy_cannot_be_changed_in_place() -> None:
    policy = Policy()
    with pytest.raises(AttributeError):
        policy.recall_k = 7  # type: ignore[misc]


def test_after_a_refused_policy_the_old_one_stays_in_force(memory: AdaptiveMemory) -> None:
    alice, before = memory.for_user("alice"), memory.policy
    alice.remember("tea")
    with pytest.raises(PolicyError):
        memory.policy = memory.policy.replace(recall_k=-1)
    with pytest.raises(PolicyError, match="Give a Policy"):
        memory.policy = {"recall_k": 5}  # type: ignore[assignment]
    assert memory.policy is before
    assert alice.recall("tea").policy is before


def test_a_policy_set_on_a_live_memory_holds_from_the_next_recall(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    alice.remember("tea")
    memory.policy = Policy(similarity_floor=1.0)
    assert alice.recall("something else").ids == ()
    assert len(alice.recall("something else", policy=Policy())) == 1


numbers = st.fixed_dictionaries(
    {},
    optional={
        "half_life_days": st.floats(0.1, 1e6) | st.integers(1, 10_000),
        "recall_k": st.integers(1, 10_000),
        "similarity_floor": st.floats(0, 1),
        "useful": st.builds(Usefulness, importance_step=st.floats(0, 0.05)),
        "refresh_floor_seconds": st.floats(0, 1e6) | st.integers(0, 1000),
        "blend": st.sampled_from(["sum", "product"]),
        "decay": st.builds(
            Decay,
            unit=st.sampled_from(["recalls", "days"]),
            by_kind=st.sampled_from([(), {"fact": Remembrance(rate=0.9)}]),
        ),
        "reading": st.builds(Reading, half_life_growth=st.floats(0, 10)),
        "time_words": st.builds(TimeWords, strict=st.booleans()),
        "copies": st.builds(Copies, st.sampled_from(["keep", "drop"])),
        "rerank": st.builds(Rerank, candidates=st.integers(1, 99)),
        "shown": st.builds(Shown, st.booleans()),
        "spreads": st.builds(Spreads, st.floats(0.1, 1)),
        "channels": st.sampled_from(["auto", ("dense",), ("dense", "lexical"), ("lexical", "dense")]),
        "fusion": st.sampled_from(["auto", Fusion(), Fusion(dense=0.5)]),
        "kind_weights": st.sampled_from([(), {"fact": 1, "reflection": 0.8}]),
        "weights": st.builds(Weights, st.floats(0, 9), st.integers(0, 9), st.floats(0.1, 9)),
    },
)


@given(numbers)
def test_json_gives_the_same_policy_back(changes: dict[str, Any]) -> None:
    policy = Policy(**changes)
    again = Policy.from_json(policy.to_json())
    assert again == policy
    assert again.hash == policy.hash


@given(numbers, numbers)
def test_equal_policies_have_one_hash_and_others_another(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = Policy(**one), Policy(**other)
    assert (first.hash == second.hash) == (first == second)


def test_a_whole_number_and_its_float_are_one_policy() -> None:
    assert Policy(half_life_days=14) == Policy(half_life_days=14.0)
    assert Policy(half_life_days=14).hash == Policy(half_life_days=14.0).hash
    assert Policy(weights=Weights(1, 1, 1)).hash == Policy(weights=Weights(1.0, 1.0, 1.0)).hash


def test_a_hash_is_short_and_the_same_in_every_process() -> None:
    assert Policy().hash == Policy().hash
    assert len(Policy().hash) == 16
    assert int(Policy().hash, 16) >= 0


def test_json_of_a_newer_version_is_read_without_what_it_added() -> None:
    newer = Policy(recall_k=7).to_json().replace("{", '{"added_later": 1, ', 1)
    assert Policy.from_json(newer) == Policy(recall_k=7)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_policy_that_survives_json(name: str) -> None:
    assert Policy.from_json(Policy.preset(name).to_json()) == Policy.preset(name)


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("equal", (1, 1, 1)),
        ("assistant", (1.5, 1, 1)),
        ("support", (1, 1.5, 1)),
        ("coding", (0.5, 1, 1.5)),
        ("generative_agents", (1, 1, 1)),
    ],
)
def test_a_preset_carries_the_weights_of_its_source(name: str, weights: tuple[float, float, float]) -> None:
    assert Policy.preset(name).weights == Weights(*weights)


def test_planning_weighs_its_signals_equally() -> None:
    weights = Policy.preset("planning").weights
    assert weights.recency == weights.importance == weights.similarity


@pytest.mark.parametrize(("name", "days"), [("assistant", 7), ("support", 30)])
def test_a_preset_carries_the_half_life_of_its_source(name: str, days: float) -> None:
    assert Policy.preset(name).half_life_days == days


def test_generative_agents_lose_half_a_percent_an_hour() -> None:
    policy = Policy.preset("generative_agents")
    assert decay(3600, half_life_days=policy.half_life_days) == pytest.approx(0.995, abs=1e-12)
    assert decay(240 * 3600, half_life_days=policy.half_life_days) == pytest.approx(0.995**240, abs=1e-12)


def test_defaults_rank_nearly_as_similarity_does() -> None:
    weights = Policy().weights
    assert weights.similarity / weights.total >= 0.9


@pytest.mark.parametrize("name", ["", "Equal", "chat", None, 3, ["equal"]])
def test_an_unknown_preset_is_refused_with_those_there_are(name: Any) -> None:
    with pytest.raises(PolicyError, match=r"aggressive, assistant, balanced, .*, support, ultra_efficient"):
        Policy.preset(name)


def test_keeping_refuses_a_durability_it_does_not_know() -> None:
    with pytest.raises(PolicyError, match="'normal' or 'full'"):
        Keeping(durability="some")  # type: ignore[arg-type]
