"""Where does the evidence stand that a budget has no room for? Its rank behind the cut, and the question's words.

    python -m benchmarks.hierarchy_misses --data DIR
    python -m benchmarks.hierarchy_misses --data DIR --every 4

LoCoMo, single hits in their order, with the bundled embedder and the default weights; nothing is read. A row says how
much of all evidence is not shown within a budget, and how many turns behind the last one that is shown it stands: a few
turns behind, it was crowded out; a hundred behind, it was not found. `tokens` is the mean length of what is missed.
The second table says where the nearest telling word of the question stands: one that fewer than 8 % of the user's turns
have, and no speaker's name. The third says what denser pages would bring: no headings, and shorter turns.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from adaptive_memory_core.channels.turns import asks
from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.evaluate.metrics import mean
from adaptive_memory_core.evaluate.tokens_shown import HEADING, Texts, each_alone
from benchmarks.arguments import kept, of_questions
from benchmarks.baselines import Ranking, recalled
from benchmarks.conversation_measures import CATEGORIES
from benchmarks.data import Dataset, Item, Question, load
from benchmarks.evidence_systems import FLAT, observed
from benchmarks.recall_quality import asked, ends
from benchmarks.report import print_table

BUDGETS, DEEP = (500, 1_000), 200
BEHIND = (("1 to 5", 5), ("6 to 20", 20), ("21 to 100", 100), ("more", DEEP))
NOT_FOUND = f"not among {DEEP}"
TELLING = 0.08  # share of a user's turns that have a word, from which it tells nothing
WHERE = ("in it", "in the question before it", "in a turn beside it", "within three turns", "in none of these")
DENSER = {  # by what is shown: tokens of a heading, share of its length that a turn still has
    "as it is": (HEADING, 1.0),
    "without headings": (0, 1.0),
    "turns a tenth shorter": (HEADING, 0.9),
    "turns a fifth shorter": (HEADING, 0.8),
}
Row = dict[str, Any]


class Miss(NamedTuple):
    """A turn that is not shown: the kind of its question, its share of all evidence, how far behind, how long, and
    where the nearest telling word of the question stands."""

    kind: str
    share: float
    behind: str
    tokens: float
    where: str


COLUMNS: Mapping[str, Callable[[Miss], str]] = {"turns behind": lambda one: one.behind, "word": lambda one: one.where}


class Telling:
    """Where the telling words of a question stand."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._words = {item.id: frozenset(words(item.text)) for item in items}
        self._turns: dict[Any, list[Item]] = {}
        self._place: dict[str, tuple[Any, int]] = {}
        self._often: dict[str | None, Counter[str]] = {}
        self._names: dict[str | None, set[str]] = {}
        for item in sorted(items, key=lambda item: item.seq or 0):
            own = self._turns.setdefault((item.tenant, item.session), [])
            self._place[item.id] = (item.tenant, item.session), len(own)
            own.append(item)
            self._often.setdefault(item.tenant, Counter()).update(self._words[item.id])
            self._names.setdefault(item.tenant, set()).update(words(item.speaker or ""))
        self._most = {one: TELLING * sum(item.tenant == one for item in items) for one in self._often}

    def where(self, question: Question, one: str) -> str:
        """Where the nearest one stands, seen from this turn."""
        often, names = self._often[question.tenant], self._names[question.tenant]
        told = {word for word in words(question.query) if often[word] < self._most[question.tenant]} - names
        session, place = self._place[one]
        turns = self._turns[session]

        def said(low: int, high: int) -> bool:
            return any(told & self._words[item.id] for item in turns[max(0, place + low) : place + high + 1])

        asked_before = place > 0 and asks(turns[place - 1].text) and bool(told & self._words[turns[place - 1].id])
        there = (said(0, 0), asked_before, said(-1, 1), said(-3, 3), True)
        return next(name for name, is_there in zip(WHERE, there, strict=True) if is_there)


def main() -> None:
    arguments = of_questions(__doc__).parse_args()
    rows: list[Row] = []
    for title, table in _tables(load(arguments.data, "locomo"), arguments):
        print_table(table, title=title)
        rows += [{"table": title, **row} for row in table]
    kept(rows, arguments)


def _tables(data: Dataset, arguments: argparse.Namespace) -> Iterator[tuple[str, list[Row]]]:
    questions, texts = asked(data, len(data.questions), arguments.seed)[:: arguments.every], Texts(data)
    with observed(data) as memory:
        ask = recalled(memory, FLAT, ends(data))
        rankings = [ask(question, DEEP) for question in questions]
    telling = Telling(data.items)
    found = {budget: misses(texts, telling, questions, rankings, budget) for budget in BUDGETS}
    behind, title = [*(name for name, _ in BEHIND), NOT_FOUND], "Evidence that is not shown, as shares of all evidence"
    yield title, [row for budget, own in found.items() for row in by(own, "turns behind", behind, budget)]
    title = "Where the nearest telling word of the question stands"
    yield title, [row for budget, own in found.items() for row in by(own, "word", WHERE, budget)]
    yield "Evidence that is shown by denser pages", list(_denser(texts, questions, rankings))


def misses(
    texts: Texts, telling: Telling, questions: Sequence[Question], rankings: Sequence[Ranking], budget: int
) -> list[Miss]:
    """All that is not shown within the budget."""
    return [
        miss
        for question, ranking in zip(questions, rankings, strict=True)
        for miss in _of(texts, telling, question, ranking, budget, of=len(questions))
    ]


def by(found: Sequence[Miss], column: str, names: Sequence[str], budget: int) -> Iterator[Row]:
    """A row for each distance behind the cut, or for each place of the nearest telling word."""
    for name in names:
        own = [one for one in found if COLUMNS[column](one) == name]
        kinds = {kind: sum(one.share for one in own if one.kind == kind) for kind in CATEGORIES.values()}
        tokens = f"{mean([one.tokens for one in own]):.0f}" if own else ""
        told = {kind: f"{share:.3f}" for kind, share in {"all": sum(kinds.values()), **kinds}.items()}
        yield {"budget": budget, column: name, **told, "tokens": tokens}


def _of(texts: Texts, telling: Telling, question: Question, ranking: Ranking, budget: int, of: int) -> Iterator[Miss]:
    shown = texts.read(each_alone(ranking)).within(budget)
    places = {one: place for place, one in enumerate(ranking, start=1)}
    gold, kind = set(question.gold_ids), CATEGORIES[question.more["category"]]
    for one in sorted(gold - set(shown)):
        distance = places[one] - len(shown) if one in places else None
        tokens = len(f"{texts.items[one].labelled_text}\n") / 4
        yield Miss(kind, 1 / len(gold) / of, _behind(distance), tokens, telling.where(question, one))


def _behind(distance: int | None) -> str:
    """
    >>> _behind(3), _behind(80), _behind(None)
    ('1 to 5', '21 to 100', 'not among 200')
    """
    return NOT_FOUND if distance is None else next(name for name, most in BEHIND if distance <= most)


def _denser(texts: Texts, questions: Sequence[Question], rankings: Sequence[Ranking]) -> Iterator[Row]:
    for name, (heading, left) in DENSER.items():
        read = [texts.read(each_alone(ranking), heading / left) for ranking in rankings]
        row: Row = {"shown": name}
        for budget in BUDGETS:
            shown = [set(one.within(budget / left)) for one in read]
            golds = [set(question.gold_ids) for question in questions]
            row[f"r{budget}"] = f"{mean([len(a & b) / len(b) for a, b in zip(shown, golds, strict=True)]):.3f}"
            row[f"turns, {budget}"] = f"{mean([len(one) for one in shown]):.1f}"
        yield row


if __name__ == "__main__":
    main()
