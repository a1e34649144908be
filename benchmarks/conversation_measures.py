"""What else is measured of conversations? The right session first, evidence within a budget, and kinds of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.evaluate.metrics import mean
from adaptive_memory_core.evaluate.tokens_shown import Texts, each_alone
from benchmarks.baselines import Ranking
from benchmarks.data import Dataset, Item, Question

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}  # of LoCoMo
BUDGETS = (500, 1000)  # tokens


def of_conversations(
    items: Mapping[str, Item], questions: Sequence[Question], rankings: Sequence[Ranking], found: Sequence[float]
) -> dict[str, float]:
    """The means; `found` is recall@10 of each question."""
    pairs = list(zip(rankings, (question.gold_ids for question in questions), strict=True))
    sessions = [bool(r) and items[r[0]].session in {items[one].session for one in gold} for r, gold in pairs]
    row = {"session hit@1": round(mean([float(one) for one in sessions]), 3)}
    texts = Texts(Dataset("", tuple(items.values()), ()))
    read = [texts.read(each_alone(ranking)) for ranking in rankings]
    for budget in BUDGETS:
        shown = [_share(one.within(budget), gold) for one, (_, gold) in zip(read, pairs, strict=True)]
        row[f"r{budget}"] = round(mean(shown), 3)
    row[f"all {BUDGETS[-1]}"] = round(mean([float(one == 1.0) for one in shown]), 3)
    for number, name in CATEGORIES.items():
        own = [one for one, question in zip(found, questions, strict=True) if question.more["category"] == number]
        row[f"{name}, recall@10"] = round(mean(own), 3)
    return row


def _share(shown: Sequence[str], gold: Sequence[str]) -> float:
    return len(set(shown) & set(gold)) / len(set(gold))
