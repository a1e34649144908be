"""What if all kinds of records are in one memory? All data sets as one scope, with a share of the questions of each."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.data import Dataset, Item, Question, load

MIXTURE = "mixture"
OF_EACH = 150  # questions of a set
PAGES = 120  # of TimeQA, which has ten times as many records as any other set


def data_of(folder: Path, name: str, sets: Sequence[str], seed: int) -> Dataset:
    """The data of that name; "mixture" is all of `sets` together."""
    return mixed([load(folder, one) for one in sets if one != MIXTURE], seed) if name == MIXTURE else load(folder, name)


def mixed(sets: Sequence[Dataset], seed: int) -> Dataset:
    """All their records as one user's, under ids and sessions that tell the sets and their users apart.

    >>> rome, question = Item(id="1", text="Rome", tenant="a"), Question(id="q", query="?", gold_ids=("1",), tenant="a")
    >>> found = mixed([Dataset("one", (rome,), (question,)), Dataset("two", (rome,), ())], seed=0)
    >>> [item.id for item in found.items], found.questions[0].gold_ids, found.items[0].tenant
    (['one:a:1', 'two:a:1'], ('one:a:1',), None)
    """
    known = [item.ts for one in sets for item in one.items if item.ts is not None]
    begun = min(known, default=None)
    items: list[Item] = []
    questions: list[Question] = []
    for one in sets:
        pages = _pages(one, seed)
        own = [item for item in one.items if pages is None or item.session in pages]
        there = {item.id for item in own}
        asked = [question for question in one.scorable if there.issuperset(question.gold_ids)]
        random.Random(seed).shuffle(asked)
        items += [_item(one.name, item, begun) for item in own]
        questions += [_question(one.name, question) for question in asked[:OF_EACH]]
    return Dataset(MIXTURE, tuple(items), tuple(questions))


def _pages(data: Dataset, seed: int) -> set[str | None] | None:
    if data.name != "timeqa_human":
        return None
    return set(random.Random(seed).sample(sorted({str(item.session) for item in data.items}), PAGES))


def of_set(question: Question) -> str:
    """The set that a question of the mixture is from."""
    return question.id.partition(":")[0]


def _item(of: str, item: Item, begun: float | None) -> Item:
    """A record that has no time of its own was there from the beginning."""
    session = None if item.session is None else f"{of}:{item.tenant}:{item.session}"
    ts = begun if item.ts is None else item.ts
    return replace(item, id=f"{of}:{item.tenant}:{item.id}", tenant=None, session=session, ts=ts)


def _question(of: str, question: Question) -> Question:
    gold = tuple(f"{of}:{question.tenant}:{one}" for one in question.gold_ids)
    return replace(question, id=f"{of}:{question.id}", gold_ids=gold, tenant=None)
