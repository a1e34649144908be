"""What may observing and recalling cost, and does it cost more? Recalls of each shape in turn, and the bounds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.policy.advanced import AnswerShape
from benchmarks.data import Dataset

FLAT: AnswerShape = "flat"
SHAPES: tuple[AnswerShape, ...] = (FLAT, "episodes", "top_down")
BOUNDED = ("episodes",)  # what a memory without a model is asked for; "top_down" reads whole episodes
SECONDS, OF_FLAT = "seconds besides embedding", "of flat"
MESSAGES, MOST_SECONDS = 5_882, 60.0  # of LoCoMo, on two cores
MOST_MILLISECONDS = {"attach, ms, p50": 0.1, "attach, ms, p99": 10.0}
MOST_OF_FLAT = 1.5


def recall_costs(memory: AdaptiveMemory, data: Dataset, most: int) -> Iterator[dict[str, Any]]:
    """What a recall of each shape takes, the shapes in turn, so that what else the machine does hits all of them."""
    asked = list(data.scorable)
    asked = asked[:: max(1, len(asked) // most)][:most]
    taken: dict[AnswerShape, list[float]] = {one: [] for one in SHAPES}
    for turn, question in enumerate(asked):
        user = memory.for_user(question.tenant or "nobody")
        for shape in (*SHAPES[turn % len(SHAPES) :], *SHAPES[: turn % len(SHAPES)]):
            began = time.thread_time()
            user.recall(question.query, k=5, reinforce=False, policy=Policy(shape=shape))
            taken[shape].append(1_000.0 * (time.thread_time() - began))
    flat = float(np.median(taken[FLAT]))
    for shape, each in taken.items():
        middle = float(np.median(each))
        yield {"set": data.name, "shape": shape, "questions": len(each), "ms": middle, OF_FLAT: middle / flat}


def beside_bounds(row: Mapping[str, Any], recalls: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each number that has a bound, and whether it holds. Sixty seconds are for the 5,882 messages of LoCoMo: a set of
    another size has as much for each."""
    seconds = MOST_SECONDS * row["messages"] / MESSAGES
    found = [(SECONDS, row[SECONDS], seconds), *((name, row[name], most) for name, most in MOST_MILLISECONDS.items())]
    found += [
        (f"a recall of {one['shape']!r}, of flat", one[OF_FLAT], MOST_OF_FLAT)
        for one in recalls
        if one["set"] == row["set"] and one["shape"] in BOUNDED
    ]
    for what, is_, most in found:
        yield {"set": row["set"], "what": what, "is": is_, "at most": most, "held": is_ <= most}
