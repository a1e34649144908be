"""Where does the evidence stand that a budget has no room for? Its rank behind the cut, by the kind of question.

    python -m benchmarks.hierarchy_misses --data DIR
    python -m benchmarks.hierarchy_misses --data DIR --every 4

LoCoMo, single hits in their order, with the bundled embedder and the default weights; nothing is read. A row says how
much of all evidence is not shown within a budget, and how many turns behind the last one that is shown it stands: a few
turns behind, it was crowded out; a hundred behind, it was not found. `tokens` is the mean length of what is missed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from adaptive_memory_core.evaluate.metrics import mean
from adaptive_memory_core.evaluate.tokens_shown import Texts, each_alone
from benchmarks.arguments import kept, of_questions
from benchmarks.baselines import Ranking, recalled
from benchmarks.conversation_measures import CATEGORIES
from benchmarks.data import Dataset, Question, load
from benchmarks.evidence_systems import FLAT, observed
from benchmarks.recall_quality import asked, ends
from benchmarks.report import print_table

BUDGETS, DEEP = (500, 1_000), 200
BEHIND = (("1 to 5", 5), ("6 to 20", 20), ("21 to 100", 100), ("more", DEEP))
NOT_FOUND = f"not among {DEEP}"


class Miss(NamedTuple):
    """A turn that is not shown: the kind of its question, its share of all evidence, how far behind, how long."""

    kind: str
    share: float
    behind: str
    tokens: float


def main() -> None:
    arguments = of_questions(__doc__).parse_args()
    rows = list(_of_set(load(arguments.data, "locomo"), arguments))
    print_table(rows, title="Evidence that is not shown, as shares of all evidence")
    kept(rows, arguments)


def _of_set(data: Dataset, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    questions, texts = asked(data, len(data.questions), arguments.seed)[:: arguments.every], Texts(data)
    with observed(data) as memory:
        ask = recalled(memory, FLAT, ends(data))
        rankings = [ask(question, DEEP) for question in questions]
    for budget in BUDGETS:
        yield from missed(texts, questions, rankings, budget)


def missed(
    texts: Texts, questions: Sequence[Question], rankings: Sequence[Ranking], budget: int
) -> Iterator[dict[str, Any]]:
    """A row for each distance behind the cut."""
    found = [
        miss
        for question, ranking in zip(questions, rankings, strict=True)
        for miss in _misses(texts, question, ranking, budget, of=len(questions))
    ]
    for behind in [*(name for name, _ in BEHIND), NOT_FOUND]:
        own = [one for one in found if one.behind == behind]
        kinds = {kind: sum(one.share for one in own if one.kind == kind) for kind in CATEGORIES.values()}
        tokens = f"{mean([one.tokens for one in own]):.0f}" if own else ""
        told = {name: f"{share:.3f}" for name, share in {"all": sum(kinds.values()), **kinds}.items()}
        yield {"budget": budget, "turns behind": behind, **told, "tokens": tokens}


def _misses(texts: Texts, question: Question, ranking: Ranking, budget: int, of: int) -> Iterator[Miss]:
    shown = texts.read(each_alone(ranking)).within(budget)
    places = {one: place for place, one in enumerate(ranking, start=1)}
    gold = set(question.gold_ids)
    for one in sorted(gold - set(shown)):
        distance = places[one] - len(shown) if one in places else None
        item = texts.items[one]
        kind = CATEGORIES[question.more["category"]]
        yield Miss(kind, 1 / len(gold) / of, _behind(distance), len(f"{item.said}\n") / 4)


def _behind(distance: int | None) -> str:
    """
    >>> _behind(3), _behind(80), _behind(None)
    ('1 to 5', '21 to 100', 'not among 200')
    """
    return NOT_FOUND if distance is None else next(name for name, most in BEHIND if distance <= most)


if __name__ == "__main__":
    main()
