"""Does a policy refuse what makes no sense, each number outside its range too, and change as a whole or not at all?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, PolicyError
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

GROUPS: tuple[Any, ...] = (
    *(Policy, Advanced, Fusion, Graphs, Hierarchies, Learning, Decay, Remembrance, Weights, Keeping),
)
NO_NUMBERS = [math.nan, math.inf, -math.inf, True, False, "1", None, [1], 1j, b"1", 10**400]


@pytest.mark.parametrize("make", GROUPS)
def test_every_number_has_a_range_and_refuses_what_is_outside_it(make: Any) -> None:
    assert {one.name for one in fields(make) if type(one.default) in (int, float)} == set(make.RANGES)
    for name, allowed in make.RANGES.items():
        for value in [*NO_NUMBERS, -1, *([1.5] if allowed.whole else []), *([] if 0 in allowed else [0])]:
            number = rf"{name}=.* is not allowed\. It must be a (whole )?number"
            with pytest.raises(PolicyError, match=number) as refusal:
                make(**{name: value})
            assert value == 10**400 or repr(value) in str(refusal.value)


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
FROM_1 = [(Policy, "half_life_days"), (Policy, "recall_k")]
WHOLE = [
    *((Policy, name) for name in ("recall_k", "reads_before_refresh")),
    *((Decay, "remembrance_threshold"), (Advanced, "rerank_candidates")),
]


def test_a_number_may_reach_its_bound_and_not_pass_it() -> None:
    for (make, name), highest in HIGHEST.items():
        assert getattr(make(**{name: highest}), name) == highest
        with pytest.raises(PolicyError, match=re.escape(f", {highest:g}]")):
            make(**{name: highest + 1})
    for make, name, wrong in [*((*one, 0) for one in FROM_1), *((*one, 1.5) for one in WHOLE)]:
        with pytest.raises(PolicyError, match=name):
            make(**{name: wrong})


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": None},
        {"weights": (1, 1, 1)},
        {"weights": {"recency": 1}},
        {"channels": ()},
        {"channels": ["dense"]},
        {"channels": "dense"},
        {"channels": ("lexical",)},
        {"channels": ("dense", "dense")},
        {"channels": ("dense", "hierarchy")},
        {"channels": (["dense"],)},
        {"channels": None},
        *({name: None} for name in ("learning", "time_words", "decay", "shape", "advanced")),
        {"advanced": {"blend": "sum"}},
        {"time_words": True},
        {"time_words": "strict"},
        {"newest_first": 1},
        {"shape": "round"},
        {"decay": {"rate": 0.9}},
        {"decay": Remembrance()},
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
        *((Advanced, {name: None}) for name in ("blend", "duplicates", "fusion", "graph", "hierarchy", "search")),
        (Advanced, {"blend": "mean"}),
        (Advanced, {"blend": ["sum"]}),
        (Advanced, {"duplicates": "burn"}),
        (Advanced, {"duplicates": ["keep"]}),
        (Advanced, {"neighbours": "yes"}),
        (Hierarchies, {"expand": 1}),
        (Learning, {"earned": 1}),
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


def test_keeping_refuses_a_durability_it_does_not_know() -> None:
    with pytest.raises(PolicyError, match="'normal' or 'full'"):
        Keeping(durability="some")  # type: ignore[arg-type]


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
    with pytest.raises(PolicyError, match=r"graph belongs in Policy\(advanced=Advanced\(graph=\.\.\.\)\)"):
        Policy().replace(graph={"rounds": 2})


def test_replace_reaches_groups_within_groups() -> None:
    policy = Policy().replace(advanced={"blend": "sum"}).replace(advanced={"graph": {"rounds": 2}})
    assert policy == Policy(advanced=Advanced(blend="sum", graph=Graphs(rounds=2)))


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
    assert alice.recall("tea").policy == before.suited()


def test_a_policy_set_on_a_live_memory_holds_from_the_next_recall(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    alice.remember("tea")
    memory.policy = Policy(min_similarity=1.0)
    assert alice.recall("something else").ids == ()
    assert len(alice.recall("something else", policy=Policy())) == 1
