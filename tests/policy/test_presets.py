"""Does each preset carry the numbers of its source?"""

from __future__ import annotations

from typing import Any

import pytest

from adaptive_memory_core import PolicyError
from adaptive_memory_core.policy import Policy, Weights
from adaptive_memory_core.score.signals import decay

PRESETS = ["default", "equal", "assistant", "support", "coding", "planning", "generative_agents"]


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
