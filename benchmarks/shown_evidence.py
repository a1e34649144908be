"""How much of the evidence does a model read within a budget, where replies are long? What `render` shows of them.

    python -m benchmarks.shown_evidence --data DIR
    python -m benchmarks.shown_evidence --data DIR --sets assistant_chats --longest 0.1 0.25 1

Nothing is read (`reinforce=False`). Each question's recall is rendered within each budget (characters / 4), headings
and labels and all. `whole` is the share of the gold messages that stand there whole, word for word, so that it compares
with what is measured where nothing is cut; `cut` is the share of those of which a part stands there, marked as such.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from adaptive_memory_core import Recall
from adaptive_memory_core.context.clean import clean, clean_parts
from adaptive_memory_core.context.entries import EXCERPT, resolved
from adaptive_memory_core.evaluate.metrics import mean
from benchmarks.arguments import kept, of_questions
from benchmarks.data import Dataset, Item, Question, load
from benchmarks.recall_quality import asked, opened, turn
from benchmarks.report import print_table
from benchmarks.rot import user_of
from benchmarks.units import HYBRID, quarter

SETS, BUDGETS, LEAST_PART = ("assistant_chats", "locomo"), (500, 1_000, 4_000), 20


def main() -> None:
    parser = of_questions(__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--k", type=int, default=20, help="hits of a recall that is rendered")
    arguments = parser.parse_args()
    rows = [row for name in arguments.sets for row in shown(load(arguments.data, name), arguments)]
    print_table(rows, title="Evidence that is shown")
    kept(rows, arguments)


def shown(data: Dataset, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row for each budget."""
    questions = asked(data, len(data.questions), arguments.seed)[:: arguments.every]
    items = {item.id: item for item in data.items}
    options: Any = {"k": arguments.k, "reinforce": False, "policy": HYBRID}
    with opened("shown", data, turn) as memory:
        found = [memory.for_user(user_of(one.tenant)).recall(one.query, **options) for one in questions]
    for budget in BUDGETS:
        seen = [_seen(one, recall, items, budget) for one, recall in zip(questions, found, strict=True)]
        means = {name: round(mean([one[name] for one in seen]), 3) for name in ("whole", "cut", "tokens")}
        yield {"data": data.name, "budget": budget, **means}


def _seen(question: Question, recall: Recall, items: dict[str, Item], budget: int) -> dict[str, float]:
    text = recall.render(budget, count=quarter)
    gold = [items[one] for one in question.gold_ids]
    whole = [resolved(clean(one.text), one.ts) in text for one in gold]
    excerpts = " ".join(line for line in text.split("\n") if EXCERPT in line.partition("]")[0])
    part = [not there and _stands_in_part(one, excerpts) for one, there in zip(gold, whole, strict=True)]
    return {"whole": mean(whole), "cut": mean(part), "tokens": quarter(text)}


def _stands_in_part(item: Item, excerpts: str) -> bool:
    """Whether a sentence of it stands in what is cut."""
    return any(len(part) >= LEAST_PART and resolved(part, item.ts) in excerpts for part in clean_parts(item.text))


if __name__ == "__main__":
    main()
