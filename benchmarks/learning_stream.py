"""What do verdicts teach about questions to come, and whom do they harm? Questions in a stream, with verdicts on five.

    python -m benchmarks.learning_stream --data DIR

Of the intents of CLINC150 and BANKING77, 70 % come up in a stream, ten questions each in a random order. Of the five
best that are found for a question each gets a verdict: helpful if it is the intent, else unhelpful. After 1, 2, 5 and
10 questions of each intent others are asked, of these intents and of the 30 % that never came up: what those lose is
the harm. A share of the verdicts may be wrong (`--wrong`). "paper" is GAM-RAG's update and gate, "ours" is what
`Policy.asked_before` does; both over the similarity of vectors alone. `--forms memory "memory without"` asks a memory
instead, with all that recall does by default, with and without `asked_before`.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core import Policy
from adaptive_memory_core.evaluate.metrics import mean, ndcg_at
from benchmarks.data import Dataset, Question, add_data_argument, load
from benchmarks.embedders import EMBEDDERS
from benchmarks.in_ram import in_ram
from benchmarks.learning_forms import FORMS, START, Asked, Form, Items, OfMemory
from benchmarks.recorded_parts import recorded
from benchmarks.report import print_table
from benchmarks.rot import Clock

SHOWN, ROUNDS, STREAMED = 5, 10, 0.7
POLICIES = {"memory": Policy(), "memory without": Policy().replace(learning={"similar_questions": 0.0})}


class Stream(NamedTuple):
    """The questions that come up, in rounds, and those that are asked to see what was learned."""

    rounds: Sequence[Sequence[Question]]
    streamed: Sequence[Question]
    never: Sequence[Question]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=["clinc150", "banking77"])
    parser.add_argument("--embedder", default="local", choices=["local", "minilm"])
    parser.add_argument("--forms", nargs="+", default=["paper", "ours"], choices=[*FORMS, *POLICIES])
    parser.add_argument("--wrong", nargs="+", type=float, default=[0.0, 0.1, 0.3], help="shares of wrong verdicts")
    parser.add_argument("--after", nargs="+", type=int, default=[1, 2, 5, 10], help="questions of each intent")
    parser.add_argument("--streams", type=int, default=3)
    parser.add_argument("--questions", type=int, default=8, help="of each intent; twice as many if it never came up")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    for name in arguments.sets:
        measure_all = partial(rows_of, load(arguments.data, name), arguments)
        rows = recorded(arguments.json, f"stream: {name}", measure_all, command=sys.argv, settings=vars(arguments))
        print_table(rows, title=f"What a stream of verdicts teaches, and harms, in {name}")


def rows_of(data: Dataset, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    streams = [stream_of(data, seed, arguments.questions) for seed in range(arguments.streams)]
    embedder = EMBEDDERS[arguments.embedder]()
    asked = {text for stream in streams for text in _texts(stream)}
    vectors = dict(zip(asked, units(embedder, list(asked)), strict=True))
    items = {
        one.id: vector
        for one, vector in zip(data.items, units(embedder, [one.text for one in data.items]), strict=True)
    }
    for wrong in arguments.wrong:
        for name in arguments.forms:
            measured = [
                measured_in(name, data, items, embedder, (stream, vectors, wrong, arguments.after, seed))
                for seed, stream in enumerate(streams)
            ]
            for place, after in enumerate([0, *arguments.after]):
                numbers = [one[place] for one in measured]
                yield {
                    "set": data.name,
                    "form": name,
                    "wrong": wrong,
                    "after": after,
                    **{key: round(mean([one[key] for one in numbers]), 3) for key in numbers[0]},
                }


def measured_in(name: str, data: Dataset, items: Items, embedder: Any, how: tuple[Any, ...]) -> list[dict[str, float]]:
    """By a form over vectors, or in a memory of its own."""
    if name in FORMS:
        return measure(FORMS[name](items), *how)
    stream, _, *rest = how
    return in_memory(data, embedder, POLICIES[name], stream, *rest)


def in_memory(
    data: Dataset, embedder: Any, policy: Policy, stream: Stream, wrong: float, after: Sequence[int], seed: int
) -> list[dict[str, float]]:
    """What is found before a stream and after so many rounds of it, by a memory."""
    clock, wordless = Clock(START), dict.fromkeys(_texts(stream))
    with in_ram("stream", clock, embedder=embedder) as memory:
        memory.for_user("a reader").remember_many([{"text": one.text, "id": one.id} for one in data.items])
        return measure(OfMemory(memory, clock, policy), stream, wordless, wrong, after, seed)


def _texts(stream: Stream) -> Iterator[str]:
    return (one.query for some in (*stream.rounds, *stream[1:]) for one in some)


def stream_of(data: Dataset, seed: int, count: int) -> Stream:
    """Which intents come up, with which questions; the others are asked at the end."""
    chance = random.Random(seed)
    intents = [one.id for one in data.items]
    chance.shuffle(intents)
    taught = intents[: round(STREAMED * len(intents))]
    by: dict[tuple[str, bool], list[Question]] = {}
    for question in data.scorable:
        by.setdefault((question.gold_ids[0], question.split == "test"), []).append(question)
    for some in by.values():
        chance.shuffle(some)
    rounds = [[by[one, False][number] for one in taught if number < len(by[one, False])] for number in range(ROUNDS)]
    for some in rounds:
        chance.shuffle(some)
    streamed = [question for one in taught for question in by[one, True][:count]]
    never = [question for one in intents[len(taught) :] for question in by[one, True][: 2 * count]]
    return Stream(rounds, streamed, never)


def measure(
    form: Form, stream: Stream, vectors: dict[str, Any], wrong: float, after: Sequence[int], seed: int
) -> list[dict[str, float]]:
    """What is found before the stream, and after so many rounds of it."""
    chance = random.Random(seed)
    found = [standing(form, stream, vectors)]
    for number, questions in enumerate(stream.rounds, start=1):
        for question in questions:
            asked = Asked(question.query, vectors[question.query])
            shown = form.ranked(asked)[:SHOWN]
            form.judge(asked, {one: (one in question.gold_ids) ^ (chance.random() < wrong) for one in shown})
        if number in after:
            found.append(standing(form, stream, vectors))
    return found


def standing(form: Form, stream: Stream, vectors: dict[str, Any]) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for name, questions in (("", stream.streamed), ("never ", stream.never)):
        ranked = [(form.ranked(Asked(one.query, vectors[one.query])), one.gold_ids) for one in questions]
        numbers[f"{name}R@1"] = mean([float(ids[0] in gold) for ids, gold in ranked])
        numbers[f"{name}R@5"] = mean([float(bool({*ids[:SHOWN]} & {*gold})) for ids, gold in ranked])
        numbers[f"{name}NDCG@5"] = mean([ndcg_at(ids, gold, k=SHOWN) for ids, gold in ranked])
    return numbers


def units(embedder: Any, texts: Sequence[str]) -> Any:
    """The texts' vectors, at length 1."""
    found = np.concatenate([np.asarray(embedder(texts[at : at + 256])) for at in range(0, len(texts), 256)])
    return found / np.maximum(1e-9, np.linalg.norm(found, axis=1, keepdims=True))


if __name__ == "__main__":
    main()
