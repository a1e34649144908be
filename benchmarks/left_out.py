"""Do the weights of the channels hold for data that they were not chosen on? Each set left out of the choice in turn.

    python -m benchmarks.left_out --data DIR
    python -m benchmarks.left_out --data DIR --sets locomo assistant_chats madial_en --questions 60

A grid around the default: how soon words silence the vectors (`doubt`), what the vectors keep (`dense_least`), and what
all that words and neighbours say counts beside the similarity. For each set the point of the grid is taken that is best
for all the others: the mean over them of NDCG@10 less that of the default. `without it` is what that point gives on the
set itself, `best` what the point gives that is best for it alone. Candidates are the default's 60 best.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy, Weights
from adaptive_memory_core.channels.fuse import relevances
from adaptive_memory_core.evaluate.metrics import mean, ndcg_at
from adaptive_memory_core.policy import Fusion
from adaptive_memory_core.policy.fusion import LEADS
from adaptive_memory_core.records import Hit
from benchmarks.baselines import BOTH
from benchmarks.data import Dataset, Question, add_data_argument
from benchmarks.embedders import EMBEDDERS, embedder_of
from benchmarks.mixture import data_of
from benchmarks.recall_quality import SETS, asked, ends, opened, turn
from benchmarks.report import print_table, write_json
from benchmarks.rot import user_of

DOUBTS, LEAST, FACTORS = (0.5, 1.0, 2.0), (0.02, 0.25, 0.5), (0.5, 1.0, 2.0)
DEEP, K = 60, 10
Lists = Sequence[tuple[Sequence[Hit], Question]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--embedder", choices=list(EMBEDDERS), default="local")
    parser.add_argument(
        "--vectors", type=Path, help="a directory for the embedder's vectors, so that each is made once"
    )
    parser.add_argument("--questions", type=int, default=150, help="at most so many of a set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    gains: dict[str, Any] = {}
    for name in arguments.sets:
        data = data_of(arguments.data, name, SETS, arguments.seed)
        usual, lists = candidates(data, arguments)
        gains[name] = np.array([_gain(lists, fusion) for fusion in grid(usual)])
    rows = list(left_out(gains, [*labels()]))
    print_table(rows, title=f"NDCG@10 with weights chosen on the other sets, embedder {arguments.embedder}")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def left_out(gains: Mapping[str, Any], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row a set, from the gain of each point of the grid on each set; the first point is the default.

    >>> gains = {"a": np.array([0.5, 0.6]), "b": np.array([0.5, 0.4])}
    >>> [(row["set"], row["without it"], row["chosen"]) for row in left_out(gains, ["default", "other"])]
    [('a', 0.5, 'default'), ('b', 0.4, 'other')]
    """
    for name, own in gains.items():
        others = np.mean([one - one[0] for other, one in gains.items() if other != name], axis=0)
        chosen = int(np.argmax(others))
        row = {"default": own[0], "without it": own[chosen], "best": own.max()}
        yield {"set": name, **{system: round(float(one), 3) for system, one in row.items()}, "chosen": names[chosen]}


def grid(usual: Fusion) -> Iterator[Fusion]:
    """The default and the points around it."""
    yield usual
    for doubt, least, factor in itertools.product(DOUBTS, LEAST, FACTORS):
        said = {name: factor * getattr(usual, name) for name in LEADS}
        yield replace(usual, doubt=doubt * usual.doubt, dense_least=least, **said)


def labels() -> Iterator[str]:
    yield "default"
    for doubt, least, factor in itertools.product(DOUBTS, LEAST, FACTORS):
        yield f"doubt x{doubt:g}, dense_least {least:g}, words x{factor:g}"


def candidates(data: Dataset, arguments: argparse.Namespace) -> tuple[Fusion, Lists]:
    """The weights of the default, and what it found for each question."""
    with opened("left", data, turn, embedder_of(arguments.embedder, vectors=arguments.vectors)) as memory:
        usual = Policy(channels=BOTH, weights=Weights(0, 0, 1)).suited(memory.embedder_name)
        questions = asked(data, len(data.questions), arguments.seed)
        every = max(1, len(questions) // arguments.questions)
        times = ends(data)
        lists = [(_found(memory, one, usual, times.get(one.tenant)), one) for one in questions[::every]]
    return usual.weighing, lists


def _found(memory: AdaptiveMemory, question: Question, policy: Policy, now: float | None) -> list[Hit]:
    answer = memory.for_user(user_of(question.tenant)).recall(
        question.query, k=DEEP, now=now, reinforce=False, policy=policy
    )
    return [one.hit for one in answer]


def _gain(lists: Lists, fusion: Fusion) -> float:
    """NDCG@10 of what was found, ranked by these weights."""
    gains = []
    for hits, question in lists:
        worth = list(map(sum, zip(*relevances(hits, fusion, {}, 0.0).values(), strict=True)))
        order = sorted(range(len(hits)), key=lambda number: -worth[number])
        gains.append(ndcg_at([hits[number].record.id for number in order], question.gold_ids, k=K))
    return mean(gains)


if __name__ == "__main__":
    main()
