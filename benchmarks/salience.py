"""Does the importance that a text sounds to have tell what will be asked for? By rule, against gold labels.

python -m benchmarks.salience --data DIR
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.learn.salience import USUAL, salience
from benchmarks.data import Dataset, Question, add_data_argument, load

Numbers = npt.NDArray[Any]
EVERY = 12  # of so many questions one is asked
POLICIES = {"default": Policy(), "equal": Policy.preset("equal")}
SETS = ("locomo", "assistant_chats", "madial_en")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_argument(parser)
    folder = parser.parse_args().data
    print("set  half  records  asked for  P(a record that was asked for sounds more important than one that was not)")
    for name in SETS:
        found = load(folder, name)
        gold = {one for question in found.questions for one in question.gold_ids}
        for half in (0, 1):
            own = [one for number, one in enumerate(found.items) if number % 2 == half]
            scores = np.array([salience(one.text) for one in own])
            asked = np.array([one.id in gold for one in own])
            print(f"{name}  {half}  {len(own)}  {asked.sum()}  {likelier(scores[asked], scores[~asked]):.3f}")
    print("policy  questions  Recall@5 with the usual importance, and what the rule's changes, with 95 %")
    found = load(folder, SETS[0])
    usual, by_rule = recalls(found, lambda _: USUAL), recalls(found, salience)
    for policy, before in usual.items():
        change = by_rule[policy] - before
        spread = 1.96 * change.std() / len(change) ** 0.5
        print(f"{policy}  {len(change)}  {before.mean():.3f}  {change.mean():+.3f} +- {spread:.3f}")


def recalls(found: Dataset, importance: Callable[[str], float]) -> dict[str, Numbers]:
    """Recall@5 of every twelfth question by policy, where each record is as important as that says."""
    asked = [one for one in found.questions[::EVERY] if one.gold_ids]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, AdaptiveMemory.open(place) as memory:
        for tenant in sorted({one.tenant or "" for one in found.items}):
            own = [one for one in found.items if (one.tenant or "") == tenant]
            lines = [
                {"id": one.id, "text": one.text, "created_at": one.ts, "importance": importance(one.text)}
                for one in own
            ]
            memory.for_user(tenant or "nobody").remember_many(lines)
        return {name: np.array([_recall(memory, one, by) for one in asked]) for name, by in POLICIES.items()}


def _recall(memory: AdaptiveMemory, question: Question, policy: Policy) -> float:
    user = memory.for_user(question.tenant or "nobody")
    ids = user.recall(question.query, k=5, reinforce=False, policy=policy).ids
    return len(set(question.gold_ids) & set(ids)) / len(set(question.gold_ids))


def likelier(some: Numbers, others: Numbers) -> float:
    """The chance that one of these is above one of those; a tie counts half (the area under the curve)."""
    if not len(some) or not len(others):
        return float("nan")
    ordered = np.sort(others)
    below, up_to = np.searchsorted(ordered, some, "left"), np.searchsorted(ordered, some, "right")
    return float((below + up_to).mean() / 2 / len(others))


if __name__ == "__main__":
    main()
