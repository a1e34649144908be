"""Is a policy that one user was given kept for that user, and in force wherever a call brings none?"""

from __future__ import annotations

from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy, PolicyError
from tests.conftest import Open

OWN = Policy.preset("equal").replace(half_life_days=3)


def test_it_is_in_force_in_later_processes_and_for_nobody_else(open_memory: Open) -> None:
    with open_memory() as first:
        first.for_user("ana").remember("tea")
        assert first.for_user("ana", policy=OWN).recall("tea", reinforce=False).policy.weights == OWN.weights
    with open_memory() as second:
        ana = second.for_user("ana")
        assert ana.recall("tea", reinforce=False).policy.half_life_days == 3
        assert second.for_user("ana", over="everyone").recall("tea", reinforce=False).policy.half_life_days == 3
        assert second.for_user("ben").recall("tea", reinforce=False).policy.half_life_days == 14
        assert second.for_everyone().recall("tea", reinforce=False).policy.half_life_days == 14
        assert ana.recall("tea", reinforce=False, policy=Policy(half_life_days=5)).policy.half_life_days == 5
        assert ana.rerank("tea", {}, reinforce=False).policy.half_life_days == 3


def test_another_takes_its_place_and_a_reset_lets_go_of_it(open_memory: Open) -> None:
    with open_memory() as memory:
        ana = memory.for_user("ana", policy=OWN)
        memory.for_user("ana", policy=Policy(half_life_days=7))
        assert memory.for_user("ana").recall("tea", reinforce=False).policy.half_life_days == 7
        ana.reset_policy()
        for scope in (ana, memory.for_user("ana")):
            assert scope.recall("tea", reinforce=False).policy.half_life_days == 14


async def test_verdicts_and_async_recalls_go_by_it(open_memory: Open) -> None:
    still = Policy().replace(learning={"importance_step": 0.0})
    with open_memory() as memory:
        ana = memory.for_user("ana", policy=still)
        ana.remember("green tea", id="tea")
        recall = await memory.for_user("ana").arecall("tea")
        assert recall.policy.learning.importance_step == 0.0
        await memory.for_user("ana").afeedback(recall, helpful=["tea"])
        assert ana.get("tea").importance == 0.5
        await ana.areset_policy()
        await ana.afeedback(await ana.arecall("tea", turn="next"), helpful=["tea"])
        assert ana.get("tea").importance == pytest.approx(0.525)


@pytest.mark.parametrize("wrong", ["equal", {"half_life_days": 3}, Policy(channels=("dense", "sql"))])
def test_what_cannot_be_one_is_refused_and_nothing_is_kept(memory: AdaptiveMemory, wrong: Any) -> None:
    with pytest.raises(PolicyError):
        memory.for_user("ana", policy=wrong)
    assert memory.for_user("ana").recall("tea").policy.half_life_days == 14
