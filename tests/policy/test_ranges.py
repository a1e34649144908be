"""Does every number of a policy refuse what is none, or lies outside its range?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import fields

import pytest

from adaptive_memory_core import PolicyError
from adaptive_memory_core.policy import (
    Advanced,
    Decay,
    Fusion,
    Graphs,
    Hierarchies,
    Keeping,
    Learning,
    Policy,
    Remembrance,
    Weights,
)

GROUPS = (Policy, Advanced, Fusion, Graphs, Hierarchies, Learning, Decay, Remembrance, Weights, Keeping)
NO_NUMBERS = [math.nan, math.inf, -math.inf, True, False, "1", None, [1], 1j, b"1"]
MAKERS: list[tuple[Callable[..., object], str]] = [*((make, name) for make in GROUPS for name in make.RANGES)]


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
    (Learning, "half_life_growth"): 10,
    (Policy, "recall_k"): 10_000,
    (Policy, "min_similarity"): 1,
    (Policy, "min_score"): 1,
    (Learning, "count_weight"): 1,
    (Learning, "count_decay_per_day"): 1,
    (Learning, "importance_step"): 0.05,
    (Policy, "reads_before_refresh"): 100,
    (Decay, "remembrance_threshold"): 1_000_000,
}


@pytest.mark.parametrize(("made", "highest"), HIGHEST.items())
def test_a_number_may_reach_its_bound_and_not_pass_it(made: tuple[Callable[..., object], str], highest: float) -> None:
    make, name = made
    assert getattr(make(**{name: highest}), name) == highest
    with pytest.raises(PolicyError, match=re.escape(f", {highest:g}]")):
        make(**{name: highest + 1})


@pytest.mark.parametrize(("make", "name"), [(Policy, "half_life_days"), (Policy, "recall_k")])
def test_where_0_has_no_meaning_it_is_refused(make: Callable[..., object], name: str) -> None:
    with pytest.raises(PolicyError, match=name):
        make(**{name: 0})


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (Policy, "recall_k"),
        (Policy, "reads_before_refresh"),
        (Decay, "remembrance_threshold"),
        (Advanced, "rerank_candidates"),
    ],
)
def test_a_count_is_a_whole_number(make: Callable[..., object], name: str) -> None:
    with pytest.raises(PolicyError, match="whole number"):
        make(**{name: 1.5})


@pytest.mark.parametrize(("make", "name"), MAKERS)
def test_a_number_no_float_can_hold_is_refused_like_any_other(make: Callable[..., object], name: str) -> None:
    with pytest.raises(PolicyError, match=name):
        make(**{name: 10**400})
