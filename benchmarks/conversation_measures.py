"""What else is measured of conversations? The right session first, evidence within a budget, and kinds of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.evaluate.metrics import mean
from benchmarks.baselines import Ranking
from benchmarks.data import Item, Question
from benchmarks.rot import said

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}  # of LoCoMo
BUDGETS = (500, 1000)  # tokens


def of_conversations(
    items: Mapping[str, Item], questions: Sequence[Question], rankings: Sequence[Ranking], found: Sequence[float]
) -> dict[str, float]:
    """The means; `found` is recall@10 of each question."""
    pairs = list(zip(rankings, (question.gold_ids for question in questions), strict=True))
    sessions = [bool(r) and items[r[0]].session in {items[one].session for one in gold} for r, gold in pairs]
    row = {"session hit@1": round(mean([float(one) for one in sessions]), 3)}
    for budget in BUDGETS:
        shown = [_evidence(ranking, gold, items, budget) for ranking, gold in pairs]
        row[f"r{budget}"] = round(mean(shown), 3)
    row[f"all {BUDGETS[-1]}"] = round(mean([float(one == 1.0) for one in shown]), 3)
    for number, name in CATEGORIES.items():
        own = [one for one, question in zip(found, questions, strict=True) if question.more["category"] == number]
        row[f"{name}, recall@10"] = round(mean(own), 3)
    return row


def _evidence(ranking: Ranking, gold: Sequence[str], items: Mapping[str, Item], budget: int) -> float:
    """The share of the gold among the first so many tokens."""
    spent, shown, headings = 0.0, set(), set()
    for one in ranking:
        spent += len(f"{said(items[one])}\n") / 4 + (0 if items[one].session in headings else 6)
        if spent > budget:
            break
        headings.add(items[one].session)
        shown.add(one)
    return len(shown & set(gold)) / len(set(gold))
