"""What feedback does to similar questions: what it helps, and what it harms.

    python -m benchmarks.similar_questions
    python -m benchmarks.similar_questions --data DIR --parts streams again bursts --embedder minilm --vectors DIR2

"facts": 148 facts in groups of similar ones, each with three questions (similar_facts.tsv; all made up). The first
question of every second fact is asked, and the right answer among the best five is called helpful. Then all questions
about the other facts are asked: a question is lost if its right answer was first before and is not any more. The other
two questions about the rated facts are the paraphrases. Both halves of the facts are rated in turn. The numbers were
chosen on every other group ("tuned"); the table shows the others ("held out").

With --data: "streams" are those of benchmarks.learning_stream and "bursts" those of benchmarks.bursts, with this
embedder; "again" asks each question of LoCoMo twice, with feedback after the first time, and some that nobody rated.

A share of the feedback may be wrong (`--wrong`): then another of the best five is called helpful.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.evaluate.metrics import mean, ndcg_at
from adaptive_memory_core.models.embedder import Embedder
from benchmarks import bursts, learning_stream
from benchmarks.data import Dataset, Question, halves, load
from benchmarks.embedders import EMBEDDERS, embedder_of
from benchmarks.in_ram import in_ram
from benchmarks.learning_forms import HOUR, START
from benchmarks.recall_quality import turn
from benchmarks.recorded_parts import recorded
from benchmarks.report import print_table
from benchmarks.rot import DAY, Clock, user_of

FACTS = Path(__file__).with_name("similar_facts.tsv")
PARTS = ("facts", "streams", "again", "bursts")
MINUTE, SHOWN = 60.0, 5
DEFAULT = Policy()
Row = dict[str, Any]


class Fact(NamedTuple):
    """A fact, and three questions that ask for it."""

    id: str
    text: str
    questions: Sequence[str]
    half: str  # of the groups: "tuned" or "held out"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", default=["facts"], choices=PARTS)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of data folders; all but the facts need it")
    parser.add_argument("--embedder", default="local", choices=list(EMBEDDERS))
    parser.add_argument("--vectors", type=Path, metavar="DIR", help="where the embedder's vectors are kept")
    parser.add_argument("--wrong", nargs="+", type=float, default=[0.0, 0.1, 0.3], help="shares of wrong feedback")
    parser.add_argument("--rated", type=int, default=1, choices=(1, 2, 3), help="questions about each rated fact")
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--questions", type=int, default=4, help="of each intent, after the streams")
    parser.add_argument("--every", type=int, default=3, help="of LoCoMo's questions, only each so many")
    parser.add_argument("--seeds", type=int, default=2, help="of the bursts, with 20 sessions each")
    parser.add_argument("--tuning", action="store_true", help="the half that the numbers were chosen on")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.data is None and set(arguments.parts) != {"facts"}:
        parser.error("--data is missing: only the part 'facts' needs no data.")
    for part in arguments.parts:
        measure = partial(rows_of, part, arguments, DEFAULT)
        rows = recorded(arguments.json, f"feedback: {part}", measure, command=sys.argv, settings=vars(arguments))
        print_table(rows, title=part)


def rows_of(part: str, arguments: argparse.Namespace, policy: Policy) -> Iterator[Row]:
    embedder = embedder_of(arguments.embedder, vectors=arguments.vectors)
    half = "tuned" if arguments.tuning else "held out"
    for wrong in arguments.wrong:
        told = {"embedder": arguments.embedder, "half": half, "wrong": wrong}
        if part == "facts":
            yield told | similar_facts(embedder, policy, half, wrong, arguments.rated)
        elif part == "again":
            yield told | asked_again(load(arguments.data, "locomo"), embedder, policy, wrong, arguments)
        else:
            for name in ("clinc150", "banking77"):
                measure = in_streams if part == "streams" else in_bursts
                yield told | {"set": name} | measure(load(arguments.data, name), embedder, policy, wrong, arguments)


def facts() -> list[Fact]:
    """All facts, in the order of the file.

    >>> facts()[0].questions[1], len(facts())
    ('What does the blue widget cost?', 148)
    """
    lines = [line.split("\t") for line in FACTS.read_text(encoding="utf-8").splitlines()]
    groups = list(dict.fromkeys(group for group, _, _ in lines))
    return [
        Fact(str(number), text, questions.split("|"), "held out" if groups.index(group) % 2 else "tuned")
        for number, (group, text, questions) in enumerate(lines)
    ]


def similar_facts(embedder: Embedder, policy: Policy, half: str, wrong: float, rated: int) -> Row:
    """What is lost, and what paraphrases gain."""
    lost = right = 0
    before, after = [], []
    for parity in (0, 1):
        clock, chance = Clock(START), random.Random(parity)
        with in_ram("facts", clock, embedder=embedder, policy=policy) as memory:
            user, known = memory.for_user("a reader"), facts()
            user.remember_many([{"text": one.text, "id": one.id} for one in known])
            judged, others = known[parity::2], [one for one in known[1 - parity :: 2] if one.half == half]
            mine = [one for one in judged if one.half == half]
            first, reworded = _firsts(user, others, range(3)), _firsts(user, mine, range(rated, 3))
            for number in range(rated):
                for one in judged:
                    clock.now += MINUTE
                    rate(user, one.questions[number], [one.id], chance.random() < wrong)
            clock.now += MINUTE
            now = _firsts(user, others, range(3))
            right += sum(first)
            lost += sum(was and not still for was, still in zip(first, now, strict=True))
            before += reworded
            after += _firsts(user, mine, range(rated, 3))
    share = {"right": right, "lost": lost, "lost %": round(100 * lost / right, 2)}
    return share | ({"paraphrases": round(mean(before), 3), "after": round(mean(after), 3)} if before else {})


def _firsts(user: UserMemory, some: Sequence[Fact], numbers: range) -> list[bool]:
    """Whether the right answer is first, for each question about each fact."""
    asked = [(one.questions[number], one.id) for one in some for number in numbers]
    return [user.recall(question, k=1, reinforce=False).ids[:1] == (right,) for question, right in asked]


def rate(user: UserMemory, question: str, gold: Sequence[str], errs: bool, k: int = SHOWN) -> None:
    """Read, then call helpful what is right, or the last one that is not."""
    recall = user.recall(question, k=k)
    helpful = [one for one in recall.ids if one in gold]
    if errs and helpful:
        helpful = [one for one in recall.ids if one not in gold][-1:]
    if helpful:
        user.feedback(recall, helpful=helpful)


def in_streams(data: Dataset, embedder: Embedder, policy: Policy, wrong: float, arguments: argparse.Namespace) -> Row:
    """Recall@1 on questions nobody rated, before and after ten rated ones of each intent, and of the other intents."""
    found = [
        learning_stream.in_memory(
            data, embedder, policy, learning_stream.stream_of(data, seed, arguments.questions), wrong, [10], seed
        )
        for seed in range(arguments.streams)
    ]
    names = {"taught": "R@1", "never": "never R@1"}
    return {
        f"{name} {when}": round(mean([one[place][key] for one in found]), 3)
        for name, key in names.items()
        for when, place in (("before", 0), ("after", -1))
    }


def in_bursts(data: Dataset, embedder: Embedder, policy: Policy, wrong: float, arguments: argparse.Namespace) -> Row:
    """What sessions about a few needs gain."""
    questions = halves(data.scorable, 0)[0 if arguments.tuning else 1]
    shape = argparse.Namespace(needs=4, sessions=20, pace="minutes")
    uses = [bursts.use(questions, shape, seed) for seed in range(arguments.seeds)]
    sessions = [(seed, one.session) for seed, asked in enumerate(uses) for one in asked]
    plain = [
        gain
        for asked in uses
        for gain in bursts.measure(
            data, bursts.ALONE.replace(channels=policy.channels), asked, "reads", embedder=embedder
        )
    ]
    ours = [gain for asked in uses for gain in bursts.measure(data, policy, asked, "verdicts", wrong, embedder)]
    return bursts.compared(ours, plain, sessions)


def asked_again(data: Dataset, embedder: Embedder, policy: Policy, wrong: float, arguments: argparse.Namespace) -> Row:
    """NDCG@10 of every second question before and after it was rated, and of those between that were not."""
    chance, clock = random.Random(0), Clock(max(item.ts or 0.0 for item in data.items) + DAY)
    questions = data.scorable[(0 if arguments.tuning else 1) :: arguments.every]
    with in_ram("again", clock, embedder=embedder, policy=policy) as memory:
        for tenant in dict.fromkeys(item.tenant for item in data.items):
            turns = [turn(item) for item in data.items if item.tenant == tenant]
            memory.for_user(user_of(tenant)).remember_many(turns)
        rated, others = questions[::2], questions[1::2]
        before = [_ndcg(memory, one) for one in rated], [_ndcg(memory, one) for one in others]
        for one in rated:
            clock.now += HOUR
            rate(memory.for_user(user_of(one.tenant)), one.query, one.gold_ids, chance.random() < wrong, k=10)
        clock.now += HOUR
        after = [_ndcg(memory, one) for one in rated], [_ndcg(memory, one) for one in others]
    named = zip(("again", "others"), before, after, strict=True)
    return {
        f"{name} {when}": round(mean(values), 3)
        for name, first, then in named
        for when, values in (("before", first), ("after", then))
    }


def _ndcg(memory: AdaptiveMemory, question: Question) -> float:
    found = memory.for_user(user_of(question.tenant)).recall(question.query, k=10, reinforce=False)
    return ndcg_at(found.ids, question.gold_ids, k=10)


if __name__ == "__main__":
    main()
