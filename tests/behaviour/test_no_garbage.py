"""Does a call leave anything to the garbage collector? A full collection stops all threads for tens of milliseconds."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

import pytest

from adaptive_memory_core import Policy, UserMemory
from tests.conftest import Open

CALLS: dict[str, Callable[[UserMemory], object]] = {
    "recall": lambda user: user.recall("green tea"),
    "recall that is not counted": lambda user: user.recall("green tea", reinforce=False),
    "recall with all channels": lambda user: user.recall(
        "whose barber is Kofi?", policy=Policy(channels=("dense", "lexical", "graph"))
    ),
    "explain": lambda user: user.recall("green tea").explain(),
    "dropped": lambda user: [one.id for one in user.recall("green tea", k=1).dropped],
    "arecall": lambda user: asyncio.run(user.arecall("green tea")),
    "remember": lambda user: user.remember("black tea"),
    "feedback": lambda user: user.feedback(found := user.recall("green tea"), helpful=found.ids[:1]),
}


@pytest.mark.parametrize("call", CALLS)
def test_nothing_refers_to_itself(open_memory: Open, call: str) -> None:
    user = open_memory().for_user("alice")
    user.remember_many(["green tea", "tea from Uji", "My barber is Kofi.", "My barber is Ana now.", "a cat"])
    for _ in range(3):
        CALLS[call](user)
    gc.collect()
    gc.disable()
    try:
        before = {id(one) for one in gc.get_objects()}  # earlier tests' memories may be let go of meanwhile
        gc.set_debug(gc.DEBUG_SAVEALL)
        CALLS[call](user)
        gc.collect()
        left = [one for one in gc.garbage if id(one) not in before and is_ours(one)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert left == []


def is_ours(made: object) -> bool:
    return type(made).__module__.startswith("adaptive_memory")
