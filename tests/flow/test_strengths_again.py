"""Are the strengths under another decay those that it would have left?"""

from __future__ import annotations

import random

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.flow.look_up import strengths_again
from tests.conftest import Clock, word_vectors


@pytest.mark.parametrize("decay", [{"rate": 0.9, "grace": 2}, {"rate": 0.8, "grace": 0, "remembrance_threshold": 2}])
def test_they_are_those_of_a_memory_that_had_this_decay(decay: dict[str, float], collection, clock: Clock) -> None:  # type: ignore[no-untyped-def]
    policy = Policy(channels=("dense",)).replace(decay=decay)
    chance = random.Random(1)
    with AdaptiveMemory(collection, embedder=word_vectors, policy=policy, clock=clock) as memory:
        alice = memory.for_user("alice")
        alice.remember_many([{"text": f"tea {number}", "id": f"m{number}"} for number in range(8)])
        for _ in range(25):
            clock.pass_seconds(100)
            alice.recall(f"tea {chance.randrange(8)}", k=2)
        lines = sorted(alice.recalls(), key=lambda line: line.step)
    again = strengths_again(lines, policy, frozenset(line.id for line in lines))
    for line in lines:
        logged = {one.id: one.signals["strength"] for one in line.candidates}
        assert {one: again[line.id].get(one, 1.0) for one in logged} == pytest.approx(logged, abs=2e-6)
    assert any(value < 0.9 for line in lines for value in again[line.id].values())
