"""Does reading rot a memory? NDCG@10 on half of the questions, before and after reading with the other half.

    python -m benchmarks.rot --data DIR

Nothing in these data changes, so nothing a memory learns from mere reads can be of help: what moves is rot. The
"similarity only" row is plain vector search; "default" finds by words as well. Reads come an hour apart. Each set is
recorded in the file of --json as a part of its own (benchmarks/recorded_parts.py), so they can be measured one by one.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Policy, Weights
from adaptive_memory_core.evaluate.intervals import paired_difference
from adaptive_memory_core.evaluate.metrics import mean, ndcg_at
from benchmarks.data import Dataset, Question, add_data_argument, halves, load
from benchmarks.in_ram import in_ram
from benchmarks.recorded_parts import recorded
from benchmarks.report import print_table

HOUR, DAY = 3_600.0, 86_400.0
PRESETS = ("composite", "equal", "assistant", "support", "coding", "planning", "generative_agents")
POLICIES = {
    "similarity only": Policy(weights=Weights(0, 0, 1), channels=("dense",)),
    "default": Policy(),
    "vectors alone": Policy(channels=("dense",)),
    "0.8 / 0.1 / 0.1": Policy(weights=Weights(0.1, 0.1, 0.8), channels=("dense",)),
    "0.9 / 0.05 / 0.05": Policy(weights=Weights(0.05, 0.05, 0.9), channels=("dense",)),
    "0.6 / 0.25 / 0.15": Policy(weights=Weights(0.25, 0.15, 0.6), channels=("dense",)),
    **{name: Policy.preset(name) for name in PRESETS},
}


class Clock:
    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=["locomo", "hotpotqa_200", "banking77"])
    parser.add_argument("--policies", nargs="+", default=list(POLICIES), choices=list(POLICIES))
    parser.add_argument("--reads", type=int, default=500)
    parser.add_argument("--questions", type=int, default=800, help="at most so many held-out questions a set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    for name in arguments.sets:
        data = load(arguments.data, name)
        measure_all = partial(rows_of, data, arguments)
        rows = recorded(arguments.json, f"rot: {name}", measure_all, command=sys.argv, settings=vars(arguments))
        print_table(rows, title=f"NDCG@10 of {name} before and after reading")


def rows_of(data: Dataset, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    tuning, held_out = halves(data.scorable, arguments.seed)
    asked = list(itertools.islice(itertools.cycle(tuning), _reads(data, arguments.reads)))
    judged = held_out[: arguments.questions]
    for name in arguments.policies:
        before, after = measure(data, POLICIES[name], asked, judged)
        yield {
            "set": data.name,
            "policy": name,
            "questions": len(judged),
            "reads": len(asked),
            "before": round(mean(before), 4),
            "after": round(mean(after), 4),
            **in_per_cent(after, before, seed=arguments.seed),
        }


def in_per_cent(
    after: Sequence[float], before: Sequence[float], *, seed: int, clusters: Sequence[Any] | None = None
) -> dict[str, float]:
    """The paired difference with its interval, in per cent of what was before."""
    change, whole = paired_difference(after, before, seed=seed, clusters=clusters), mean(before)
    told = {"change %": change.mean, "from %": change.low, "to %": change.high}
    return {name: round(100 * value / whole, 1) for name, value in told.items()}


def _reads(data: Dataset, reads: int) -> int:
    """As many for the whole set, or 60 for each user where there are several."""
    users = {question.tenant for question in data.scorable}
    return max(reads, 60 * len(users)) if len(users) > 1 else reads


def measure(
    data: Dataset, policy: Policy, asked: Sequence[Question], judged: Sequence[Question]
) -> tuple[list[float], list[float]]:
    """The scores of the judged questions before and after the asked ones were read."""
    clock = Clock(max((item.ts or 0.0 for item in data.items), default=0.0) + DAY)
    with in_ram("rot", clock, policy=policy) as memory:
        fill(memory, data)
        before = [ndcg(memory, question) for question in judged]
        for question in asked:
            clock.now += HOUR
            memory.for_user(user_of(question.tenant)).recall(question.query, k=5)
        clock.now += HOUR
        after = [ndcg(memory, question) for question in judged]
    return before, after


def fill(memory: AdaptiveMemory, data: Dataset) -> None:
    for tenant in dict.fromkeys(item.tenant for item in data.items):
        own = [item for item in data.items if item.tenant == tenant]
        memory.for_user(user_of(tenant)).remember_many(
            [{"text": item.labelled_text, "id": item.id, "created_at": item.ts} for item in own]
        )


def ndcg(memory: AdaptiveMemory, question: Question) -> float:
    recall = memory.for_user(user_of(question.tenant)).recall(question.query, k=10, reinforce=False)
    return ndcg_at(recall.ids, question.gold_ids, k=10)


def user_of(tenant: str | None) -> str:
    return "everyone's reader" if tenant is None else tenant


if __name__ == "__main__":
    main()
