"""Does a memory learn what it is needed for? Sessions that come back to a few needs, with verdicts and with mere reads.

    python -m benchmarks.bursts --data DIR

A session asks 25 questions from 4 needs of all there are, in many words: of BANKING77, 77 needs, and of CLINC150, 150.
Each question is ranked before it is read. Then the five best are read, and in the rows "verdicts" the right one, where
it is among them, is called helpful; in "both" the other four are called unhelpful besides. "even" asks for any need at
any time, so that nothing that was of use lately is likely to be of use again. A share of the verdicts may be wrong
(`--wrong`): then another one of those that were read is called helpful. `--against` adds the paired difference to a
policy, which is measured first: that of two rows is within chance far more often than it looks. The weights were chosen
on half of the questions; these are of the other half (`--tuning` for the first).
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from adaptive_memory_core import Policy, UserMemory, Weights
from adaptive_memory_core.evaluate.intervals import paired_difference
from adaptive_memory_core.evaluate.metrics import mean, ndcg_at
from benchmarks.data import Dataset, Question, add_data_argument, halves, load
from benchmarks.in_ram import in_ram
from benchmarks.report import print_table, write_json
from benchmarks.rot import Clock, fill, in_per_cent

START = 1_760_000_000.0
ALONE = Policy(weights=Weights(0, 0, 1))
POLICIES = {
    "default": Policy(),
    "not adaptive": Policy().replace(learning={"earned": False}),
    "not asked before": Policy().replace(learning={"similar_questions": 0.0}),
    "words besides": Policy(channels=("dense", "lexical")),
    **{name: Policy.preset(name) for name in ("composite", "equal", "assistant", "support", "coding")},
}
FEEDBACK = ("reads", "verdicts", "both")
PACES = {"minutes": (60.0, 43_200.0), "hours": (3_600.0, 3_600.0), "days": (86_400.0, 86_400.0)}


class Asked(NamedTuple):
    """A question, when it is asked, and its session."""

    question: Question
    at: float
    session: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=["banking77", "clinc150"])
    parser.add_argument("--policies", nargs="+", default=list(POLICIES), choices=list(POLICIES))
    parser.add_argument("--feedback", nargs="+", default=["reads", "verdicts"], choices=FEEDBACK)
    parser.add_argument("--pace", default="minutes", choices=list(PACES), help="between questions, and sessions")
    parser.add_argument("--needs", type=int, default=4, help="of a session; 0: all of them, which is even use")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--wrong", type=float, default=0.0, help="share of the helpful verdicts that are wrong")
    parser.add_argument("--against", choices=list(POLICIES), help="a policy, to which the difference is shown as well")
    parser.add_argument("--tuning", action="store_true", help="on the half that the weights were chosen on")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [row for name in arguments.sets for row in rows_of(load(arguments.data, name), arguments)]
    print_table(rows, title="NDCG@10 in use")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(data: Dataset, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    questions = halves(data.scorable, 0)[0 if arguments.tuning else 1]
    uses = [use(questions, arguments, seed) for seed in range(arguments.seeds)]
    sessions = [(seed, one.session) for seed, asked in enumerate(uses) for one in asked]
    base: dict[str, list[float]] = {}
    for name in dict.fromkeys([arguments.against or arguments.policies[0], *arguments.policies]):
        plain = [gain for asked in uses for gain in measure(data, alone(POLICIES[name]), asked, "reads")]
        for feedback in arguments.feedback:
            ours = [gain for asked in uses for gain in measure(data, POLICIES[name], asked, feedback, arguments.wrong)]
            row = {"set": data.name, "policy": name, "feedback": feedback, **compared(ours, plain, sessions)}
            base.setdefault(feedback, ours)
            yield {**row, **(difference(ours, base[feedback], sessions) if arguments.against else {})}


def compared(ours: Sequence[float], plain: Sequence[float], sessions: Sequence[Any]) -> dict[str, Any]:
    """What is gained over relevance alone, in per cent of it."""
    return {
        "questions": len(ours),
        "alone": round(mean(plain), 4),
        "NDCG@10": round(mean(ours), 4),
        **in_per_cent(ours, plain, seed=0, clusters=sessions),
    }


def difference(ours: Sequence[float], others: Sequence[float], sessions: Sequence[Any]) -> dict[str, str]:
    """To the policy that was measured first."""
    change = paired_difference(ours, others, seed=0, clusters=sessions)
    return {"difference": f"{change.mean:+.4f} ({change.low:+.4f} to {change.high:+.4f})"}


def alone(policy: Policy) -> Policy:
    """Relevance alone, by the same channels."""
    return ALONE.replace(channels=policy.channels)


def use(questions: Sequence[Question], arguments: argparse.Namespace, seed: int) -> list[Asked]:
    """The questions of all sessions in the order of time."""
    chance = random.Random(seed)
    needs: dict[str, list[Question]] = {}
    for question in questions:
        needs.setdefault(question.gold_ids[0], []).append(question)
    gap, pause = PACES[arguments.pace]
    now, asked = START, []
    for session in range(arguments.sessions):
        some = chance.sample(sorted(needs), arguments.needs or len(needs))
        for _ in range(25):
            now += gap * chance.uniform(0.5, 1.5)
            asked.append(Asked(chance.choice(needs[chance.choice(some)]), now, session))
        now += pause * chance.uniform(0.5, 1.5)
    return asked


def measure(
    data: Dataset, policy: Policy, asked: Sequence[Asked], feedback: str, wrong: float = 0.0, embedder: Any = None
) -> list[float]:
    """NDCG@10 of each question at the moment it was asked."""
    chance = random.Random(0)
    clock = Clock(START)
    with in_ram("bursts", clock, embedder=embedder, policy=policy) as memory:
        fill(memory, data)
        user = memory.for_user("everyone's reader")
        return [_asked(user, clock, one, feedback, errs=chance.random() < wrong) for one in asked]


def _asked(user: UserMemory, clock: Clock, one: Asked, feedback: str, *, errs: bool) -> float:
    """Ranked first, then read, then judged."""
    clock.now = one.at
    gold = one.question.gold_ids
    ranked = user.recall(one.question.query, k=10, reinforce=False)
    recall = user.recall(one.question.query, k=5)
    helpful = [hit for hit in recall.ids if hit in gold] if feedback != "reads" else []
    if errs and helpful:
        helpful = [hit for hit in recall.ids if hit not in gold][-1:]
    others = [hit for hit in recall.ids if hit not in gold and hit not in helpful] if feedback == "both" else []
    if helpful or others:
        user.feedback(recall, helpful=helpful, unhelpful=others)
    return ndcg_at(ranked.ids, gold, k=10)


if __name__ == "__main__":
    main()
