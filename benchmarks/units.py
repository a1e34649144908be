"""What does a model read of what was found? The evidence that `render` shows within a budget, and how much repeats.

    python -m benchmarks.units --data DIR
    python -m benchmarks.units --data DIR --every 3 --parts repeats

LoCoMo, categories 1 to 4, one turn a record, nothing is read (`reinforce=False`). `shown`: each question's recall is
rendered within 500 and 1,000 tokens (characters / 4), headings, labels and all. `evidence` is the share of the gold
turns that stand there word for word, `all` the share of questions of which all do, `intact` as `evidence`, where a
gold turn counts only if a question right before it stands there too; `words` is the share of questions whose answer's
words all stand there. `repeats`: MMR at several strengths, and then the same set with some turns stored up to four
times, with small edits. `redundancy` is the mean over hits of the greatest cosine to an earlier hit, `repeated` the
share of the hits that say what an earlier one says, recall@10 counts a turn as found if any copy of it is.
Each half of the users is reported by itself: what is chosen on one must hold on the other.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy, Recall
from adaptive_memory_core.channels.turns import asks
from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.context.clean import clean
from adaptive_memory_core.context.entries import resolved
from adaptive_memory_core.evaluate.metrics import mean, ndcg_at, recall_at
from benchmarks.arguments import kept, of_questions
from benchmarks.baselines import BOTH
from benchmarks.data import Dataset, Item, Question, load
from benchmarks.recall_quality import asked, opened, turn
from benchmarks.report import print_table
from benchmarks.rot import user_of

K = 10
HYBRID = Policy(channels=BOTH)
SHOWN = {
    "conversations as blocks": HYBRID,
    "intact units": HYBRID.replace(advanced={"neighbours": True}),
}
REPEATS = {
    "keep": HYBRID.replace(advanced={"duplicates": "keep"}),
    "MMR 0.05": HYBRID.replace(advanced={"duplicates": "keep"}, diversity=0.05),
    "MMR 0.1": HYBRID.replace(advanced={"duplicates": "keep"}, diversity=0.1),
    "MMR 0.2": HYBRID.replace(advanced={"duplicates": "keep"}, diversity=0.2),
    "MMR 0.4": HYBRID.replace(advanced={"duplicates": "keep"}, diversity=0.4),
    "yield": HYBRID,
    "drop": HYBRID.replace(advanced={"duplicates": "drop"}),
    "yield, 0.8": HYBRID.replace(advanced={"same_share": 0.8}),
    "yield, 0.6": HYBRID.replace(advanced={"same_share": 0.6}),
    "drop, 0.6": HYBRID.replace(advanced={"duplicates": "drop", "same_share": 0.6}),
}
DAY = 86_400.0
COPIED, MOST_COPIES = 0.3, 3  # share of the turns that are stored again, and how often at most
Rows = Iterator[dict[str, Any]]


def main() -> None:
    parser = of_questions(__doc__)
    parser.add_argument("--parts", nargs="+", default=["shown", "repeats"], choices=["shown", "repeats"])
    parser.add_argument("--k", type=int, default=20, help="hits of a recall that is rendered")
    arguments = parser.parse_args()
    data = load(arguments.data, "locomo")
    rows = []
    for part in arguments.parts:
        own = list((shown if part == "shown" else repeats)(data, arguments))
        print_table(own, title="What is shown" if part == "shown" else "What repeats")
        rows += own
    kept(rows, arguments)


def shown(data: Dataset, arguments: argparse.Namespace) -> Rows:
    """Evidence within a budget, for each way to show it."""
    questions, script = _questions(data, arguments), Script(data)
    with opened("units", data, turn) as memory:
        for name, policy in SHOWN.items():
            recalls = [_asked(memory, question, arguments.k, policy) for question in questions]
            for budget in (500, 1000):
                texts = [recall.render(budget, count=quarter) for recall in recalls]
                row = _by_half(script.seen, questions, texts)
                yield {"shown": name, "tokens": budget, **row}


def repeats(data: Dataset, arguments: argparse.Namespace) -> Rows:
    """Recall and redundancy, on the data as it is and with copies in it."""
    questions = _questions(data, arguments)
    for name, items in (("as it is", data.items), ("with copies", copied(data.items, arguments.seed))):
        with opened(f"units-{name[:2]}", replace(data, items=tuple(items)), turn) as memory:
            for policy_name, policy in REPEATS.items():
                recalls = [_asked(memory, question, K, policy) for question in questions]
                yield {"data": name, "policy": policy_name, **_repeated(memory, questions, recalls)}


def _questions(data: Dataset, arguments: argparse.Namespace) -> list[Question]:
    return asked(data, len(data.questions), arguments.seed)[:: arguments.every]


def _asked(memory: AdaptiveMemory, question: Question, k: int, policy: Policy) -> Recall:
    return memory.for_user(user_of(question.tenant)).recall(question.query, k=k, reinforce=False, policy=policy)


def quarter(text: str) -> int:
    return -(-len(text) // 4)


class Script:
    """Who said what after what."""

    def __init__(self, data: Dataset) -> None:
        self._items = {item.id: item for item in data.items}
        sessions: dict[Any, list[Item]] = {}
        for item in data.items:
            sessions.setdefault((item.tenant, item.session), []).append(item)
        ordered = [sorted(own, key=lambda item: item.seq or 0) for own in sessions.values()]
        self._before = {two.id: one.id for own in ordered for one, two in pairwise(own)}

    def seen(self, question: Question, text: str) -> dict[str, float]:
        """Each measure of what this text shows of the question's evidence."""
        there = [self._stands(one, text) for one in question.gold_ids]
        whole = [self._stands(one, text) and self._asked_stands(one, text) for one in question.gold_ids]
        answer = set(words(str(question.answer)))
        said = bool(answer) and answer <= set(words(text))
        return {"evidence": mean(there), "all": float(all(there)), "intact": mean(whole), "words": float(said)}

    def _asked_stands(self, one: str, text: str) -> bool:
        """Whether the question right before it, if there is one, stands there."""
        before = self._before.get(one)
        return before is None or not asks(self._items[before].text) or self._stands(before, text)

    def _stands(self, one: str, text: str) -> bool:
        return resolved(clean(self._items[one].text), self._items[one].ts) in text


def _by_half(
    seen: Callable[[Question, str], Mapping[str, float]], questions: Sequence[Question], texts: Sequence[str]
) -> dict[str, str]:
    """Each measure on both halves of the users, and on all of them."""
    every = [seen(question, text) for question, text in zip(questions, texts, strict=True)]
    return _halved(questions, every)


def _halved(questions: Sequence[Question], every: Sequence[Mapping[str, float]]) -> dict[str, str]:
    users = sorted({str(question.tenant) for question in questions})
    first = [str(question.tenant) in users[::2] for question in questions]
    row = {}
    for name in every[0]:
        values = [one[name] for one in every]
        halves = [
            mean([v for v, in_first in zip(values, first, strict=True) if in_first is side]) for side in (True, False)
        ]
        row[name] = f"{mean(values):.3f} ({halves[0]:.3f}, {halves[1]:.3f})"
    return row


def copied(items: Iterable[Item], seed: int) -> Iterator[Item]:
    """The items, and of some up to three more copies: in other letters, without the stop, or with a word more."""
    chance = random.Random(seed)
    edits: list[Callable[[str], str]] = [str.lower, lambda text: text.rstrip(".!") + " ", lambda text: f"So, {text}"]
    for item in items:
        yield item
        if chance.random() < COPIED:
            for number in range(chance.randint(1, MOST_COPIES)):
                text = edits[chance.randrange(len(edits))](item.text)
                session, later = f"{item.session} again {number}", (item.ts or 0.0) + 30 * DAY
                yield replace(item, text=text, id=f"{item.id}+{number}", session=session, ts=later)


def _repeated(memory: AdaptiveMemory, questions: Sequence[Question], recalls: Sequence[Recall]) -> dict[str, str]:
    every = []
    for question, recall in zip(questions, recalls, strict=True):
        ids = [one.partition("+")[0] for one in recall.ids]
        first = list(dict.fromkeys(ids))
        every.append(
            {
                "recall@10": recall_at(first, question.gold_ids, k=K),
                "NDCG@10": ndcg_at(first, question.gold_ids, k=K),
                "redundancy": _redundancy(memory, recall),
                "repeated": 1.0 - len(first) / max(1, len(ids)),
            }
        )
    return _halved(questions, every)


def _redundancy(memory: AdaptiveMemory, recall: Recall) -> float:
    vectors = memory.ports().search.vectors(recall.scope, [hit.hit._stored_id for hit in recall])
    rows = np.array([vectors[hit.hit._stored_id] for hit in recall])
    if len(rows) < 2:
        return 0.0
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    likeness = rows @ rows.T
    return mean([float(likeness[number, :number].max()) for number in range(1, len(rows))])


if __name__ == "__main__":
    main()
