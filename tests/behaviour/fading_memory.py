"""What do tests of fading and of upkeep share? A memory that halves what was not read, and four drinks in it."""

from __future__ import annotations

import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, UserMemory
from tests.conftest import Open

ARM = Policy.preset("balanced").replace(decay={"grace": 0, "rate": 0.5})


@pytest.fixture
def memory(over: Open) -> AdaptiveMemory:
    """A memory that halves what was not read, at each recall."""
    keeping = Keeping(sample_recalls=2)
    return over(policy=ARM, keeping=keeping)


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    """Four drinks, of which tea is remembered and milk pinned, after five recalls of tea."""
    alice = memory.for_user("alice")
    alice.remember_many([{"text": f"a cup of {drink}", "id": drink} for drink in ("tea", "coffee", "milk", "water")])
    alice.pin("milk", by="the operator")
    for _ in range(5):
        alice.recall("tea", k=1)
    return alice


def strengths(user: UserMemory) -> dict[str, float]:
    return {drink: user.get(drink).read.strength for drink in ("tea", "coffee", "milk", "water")}
