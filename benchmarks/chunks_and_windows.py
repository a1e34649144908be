"""What would one have by cutting a conversation into chunks, or into windows that slide over it? Their best turns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adaptive_memory_core.evaluate.systems import BM25
from adaptive_memory_core.evaluate.tokens_shown import ShownUnit
from benchmarks.baselines import Embed
from benchmarks.baselines import chunks_of as chunks
from benchmarks.data import Dataset, Item, Question

TOP = 20  # chunks that are found
WIDE = 3  # turns of a window
Cut = Callable[[Sequence[Item]], Iterator[list[Item]]]
Show = Callable[[Question], list[ShownUnit]]


def naive_chunks(data: Dataset, embed: Embed, *, named: bool) -> Show:
    """The nearest chunks; `named` says whether the speakers' names stand in the text that is embedded."""
    return _nearest(data, embed, chunks, named=named, words_too=False, most=TOP)


def sliding_windows(data: Dataset, embed: Embed) -> Show:
    """The windows that are best by vectors and BM25, half each; what several windows show is read once."""
    return _nearest(data, embed, _windows, named=True, words_too=True, most=10 * TOP)


def _nearest(data: Dataset, embed: Embed, cut: Cut, *, named: bool, words_too: bool, most: int) -> Show:
    cuts: dict[str | None, tuple[list[list[Item]], Any, BM25 | None]] = {}
    for tenant in dict.fromkeys(item.tenant for item in data.items):
        own = list(cut([item for item in data.items if item.tenant == tenant]))
        texts = ["\n".join(item.labelled_text if named else item.text for item in one) for one in own]
        cuts[tenant] = own, np.asarray(embed(texts)), BM25(texts) if words_too else None

    def show(question: Question) -> list[ShownUnit]:
        own, vectors, by_words = cuts[question.tenant]
        speakers = {item.speaker for one in own for item in one if item.speaker}
        query = question.query if named else without_names(question.query, speakers)
        worth = vectors @ np.asarray(embed([query]))[0]
        if by_words is not None:
            worth = 0.5 * _stretched(worth) + 0.5 * _stretched(by_words(question.query))
        order = np.argsort(-worth, kind="stable")[:most].tolist()
        return [ShownUnit(number, [item.id for item in own[number]]) for number in order]

    return show


def without_names(query: str, names: set[str]) -> str:
    """The question without the names of those who speak.

    >>> without_names("What did Ana say?", {"Ana"})
    'What did  say?'
    """
    pattern = "|".join(re.escape(one) for one in sorted(names))
    return re.sub(rf"\b(?:{pattern})(?:'s)?\b", "", query) if names else query


def _windows(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Every turn with those that follow it in its session."""
    for place, item in enumerate(items):
        yield [one for one in items[place : place + WIDE] if one.session == item.session]


def _stretched(values: Any) -> Any:
    spread = float(values.max() - values.min())
    return (values - values.min()) / spread if spread else np.zeros_like(values)
