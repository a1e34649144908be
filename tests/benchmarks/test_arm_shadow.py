"""Does the benchmark's own Algorithm 1 do what the paper prints, and does it see where a fixed search goes wrong?"""

from __future__ import annotations

import numpy as np
import pytest

from adaptive_memory_core import Policy
from benchmarks.arm_shadow import DAY, Shadow
from tests.behaviour.naive_arm import NaiveARM


@pytest.mark.parametrize("profile", ["balanced", "ultra_efficient", "conservative", "aggressive"])
def test_the_columns_are_the_paper_s_loop(profile: str) -> None:
    policy, chance = Policy.preset(profile), np.random.default_rng(0)
    vectors = chance.normal(size=(30, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    shadow, naive = Shadow(policy, 8), NaiveARM()
    for step in range(60):
        if step % 20 == 0:
            new = [str(row) for row in range(step // 2, step // 2 + 10)]
            shadow.add(new, vectors[[int(name) for name in new]], now=0.0)
            for name in new:
                naive.add(name, vectors[int(name)])
        cue = chance.normal(size=8)
        cue /= np.linalg.norm(cue)
        best = shadow.best(cue, 3, now=0.0)
        assert best.scores == pytest.approx(sorted(naive.scores(cue).values(), reverse=True)[:3], abs=1e-12)
        shadow.read(best.ids, now=0.0)
        theta, gamma, alpha = policy.decay.remembrance_threshold, int(policy.decay.grace), policy.decay.rate
        naive.query(best.ids, theta=theta, gamma=gamma, alpha=alpha)
        assert shadow.strengths == pytest.approx([item.norm for item in naive.items.values()], rel=1e-9)
        assert list(shadow.remembered) == [item.remembered for item in naive.items.values()]


def test_a_fixed_search_misses_the_strong_record_behind_the_faded() -> None:
    shadow = Shadow(Policy.preset("aggressive"), 2)
    shadow.add(["near", "far"], np.array([[1.0, 0.0], [0.6, 0.8]]), now=0.0)
    for _ in range(30):
        shadow.read(["far"], now=0.0)
    cue = np.array([1.0, 0.0])
    assert shadow.best(cue, 1, now=0.0, nearest=1).ids == ["near"]
    assert shadow.best(cue, 1, now=0.0).ids == ["far"]


def test_in_days_time_fades_and_recalls_do_not() -> None:
    policy = Policy.preset("balanced").replace(decay={"unit": "days", "grace": 1, "rate": 0.5, "restore_on_read": 1.0})
    shadow = Shadow(policy, 2)
    shadow.add(["a", "b"], np.array([[1.0, 0.0], [0.0, 1.0]]), now=0.0)
    shadow.read(["a"], now=DAY)
    assert list(shadow.strengths) == [1.0, 1.0]
    shadow.best(np.array([1.0, 0.0]), 1, now=3 * DAY)
    assert shadow.strengths == pytest.approx([0.5, 0.25])
    shadow.read(["b"], now=3 * DAY)
    assert shadow.strengths == pytest.approx([0.5, 1.0])
