"""Measures of the text that a system shows a model within a token budget, turn by turn.

A system answers a question with units, best first: the turns that it shows together, and the block that contains them.
A turn costs its characters / 4 as a line "Speaker: text", plus 6 tokens if it is the first of its session; a repeated
turn is free. A unit that exceeds a budget is cut between two turns. Without vectors redundancy is not measured.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.channels.turns import asks
from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.context.clean import clean
from adaptive_memory_core.context.entries import resolved
from adaptive_memory_core.evaluate.datasets import Dataset, Item, Question
from adaptive_memory_core.evaluate.metrics import mean

HEADING, MOST = 6, 4_000  # tokens of a session's heading; tokens that are measured
BUDGETS = (250, 500, 1_000, 2_000)
FOR_BLOCKS = 2_000  # tokens within which blocks are counted and compared
MANY_HITS = 3
_DAY = re.compile(r"\b[12]\d{3}-\d\d-\d\d\b")
Measures = dict[str, float]


class ShownUnit(NamedTuple):
    """Turns that are shown together, and the number of their block."""

    block: int
    ids: Sequence[str]


class ReadTurns(NamedTuple):
    """The turns in reading order, without repeats: for each, the tokens up to its end, and its block."""

    ids: list[str]
    tokens: list[float]
    blocks: list[int]

    def within(self, budget: float) -> list[str]:
        return [one for one, tokens in zip(self.ids, self.tokens, strict=True) if tokens <= budget]


class Texts:
    """The turns with their words (including rendered dates), their vectors, and the turn before each."""

    def __init__(self, data: Dataset, vectors: Any = None) -> None:
        self.items = {item.id: item for item in data.items}
        self.vectors = {} if vectors is None else dict(zip(self.items, np.asarray(vectors), strict=True))
        self._before = _before(data.items)
        self._words: dict[str, frozenset[str]] = {}

    def read(self, units: Sequence[ShownUnit], heading: float = HEADING) -> ReadTurns:
        """The turns of the units in reading order, up to MOST tokens; `heading` is the cost of a session's heading.

        >>> ana = Item(id="a", text="Tea, please.", speaker="Ana", session="s")
        >>> Texts(Dataset("", (ana,), ()), [[1.0]]).read([ShownUnit(0, ["a"]), ShownUnit(1, ["a"])])
        ReadTurns(ids=['a'], tokens=[10.5], blocks=[0])
        """
        read, spent, headings = ReadTurns([], [], []), 0.0, set()
        for unit in units:
            for one in unit.ids:
                item = self.items[one]
                if one in read.ids:
                    continue
                spent += len(f"{item.labelled_text}\n") / 4 + (0 if item.session in headings else heading)
                if spent > MOST:
                    return read
                headings.add(item.session)
                read.ids.append(one)
                read.tokens.append(spent)
                read.blocks.append(unit.block)
        return read

    def words_of(self, one: str) -> frozenset[str]:
        """All words of a turn as rendered: with its date, and with the dates of words such as "yesterday"."""
        if one not in self._words:
            item = self.items[one]
            shown = f"{item.speaker or ''}: {resolved(clean(item.text), item.ts)} {_day(item.ts)}"
            days = " ".join(_in_words(day) for day in _DAY.findall(shown))
            self._words[one] = frozenset(words(f"{shown} {days}"))
        return self._words[one]

    def text_within(self, units: Sequence[ShownUnit], budget: float) -> str:
        """The text of the units within a token budget."""
        return "\n".join(self.items[one].labelled_text for one in self.read(units).within(budget))

    def intact(self, one: str, shown: set[str]) -> bool:
        """Whether a turn is shown, along with the question right before it if there is one."""
        before = self._before.get(one)
        return one in shown and (before is None or not asks(self.items[before].text) or before in shown)


def each_alone(ids: Sequence[str]) -> list[ShownUnit]:
    """A ranking as units of one turn each."""
    return [ShownUnit(place, [one]) for place, one in enumerate(ids)]


def shown_measures(texts: Texts, question: Question, units: Sequence[ShownUnit]) -> Measures:
    """All measures of the turns shown for one question; unknown measures are left out."""
    read, gold = texts.read(units), set(question.gold_ids)
    row = {f"r{budget}": len(gold & set(read.within(budget))) / len(gold) for budget in BUDGETS}
    for budget in BUDGETS[1:3]:
        shown = set(read.within(budget))
        row[f"all {budget}"] = float(gold <= shown)
        row[f"intact {budget}"] = mean([texts.intact(one, shown) for one in gold])
    last = [read.tokens[read.ids.index(one)] if one in read.ids else MOST for one in gold]
    row["tokens to all"] = max(last)
    answer = frozenset(words(str(question.answer))) if question.answer else frozenset()
    return row | _covered(texts, read, answer) | _blocks(texts, read, answer)


def _covered(texts: Texts, read: ReadTurns, answer: frozenset[str]) -> Measures:
    """Whether all words of the answer were read, and after how many tokens and blocks; empty if it has no words."""
    left = set(answer)
    if not left:
        return {}
    for number, one in enumerate(read.ids):
        left -= texts.words_of(one)
        if not left:
            blocks = len(set(read.blocks[: number + 1]))
            return {"covered": 1.0, "tokens to cover": read.tokens[number], "blocks to cover": blocks}
    return {"covered": 0.0}


def _blocks(texts: Texts, read: ReadTurns, answer: frozenset[str]) -> Measures:
    """The number of the answer's words in the blocks, and the redundancy of the blocks."""
    blocks: dict[int, list[str]] = {}
    for one, block in zip(read.within(FOR_BLOCKS), read.blocks, strict=False):
        blocks.setdefault(block, []).append(one)
    hits = [len(answer & frozenset().union(*map(texts.words_of, own))) for own in blocks.values()]
    alike = _redundancy([_vector(texts, own) for own in blocks.values()]) if texts.vectors else None
    row = {} if alike is None else {"redundancy": alike}
    if not answer or not hits:
        return row
    row |= {f"{number}-hit": mean([one == number for one in hits]) for number in range(1, MANY_HITS)}
    return row | {"multi-hit": mean([one >= MANY_HITS for one in hits])}


def _vector(texts: Texts, ids: Sequence[str]) -> Any:
    """An approximate vector of a block: the mean of its turns' vectors, weighted by length and normalised."""
    total = np.sum([len(texts.items[one].text) * texts.vectors[one] for one in ids], axis=0)
    return total / max(float(np.linalg.norm(total)), 1e-9)


def _redundancy(vectors: Sequence[Any]) -> float:
    """The mean, over all blocks but the first, of the greatest cosine to an earlier block."""
    if len(vectors) < 2:
        return 0.0
    likeness = np.array(vectors) @ np.array(vectors).T
    return mean([float(likeness[number, :number].max()) for number in range(1, len(vectors))])


def _before(items: Sequence[Item]) -> dict[str, str]:
    """The id of the turn right before each turn of a session."""
    sessions: dict[Any, list[Item]] = {}
    for item in items:
        if item.session is not None:
            sessions.setdefault((item.tenant, item.session), []).append(item)
    ordered = [sorted(own, key=lambda item: item.seq or 0) for own in sessions.values()]
    return {own[place].id: own[place - 1].id for own in ordered for place in range(1, len(own))}


def _day(moment: float | None) -> str:
    """The date as shown in a heading; empty if unknown."""
    return "" if moment is None else f"{datetime.fromtimestamp(moment, timezone.utc):%Y-%m-%d}"


def _in_words(day: str) -> str:
    """A date as written in answers; empty if the date does not exist.

    >>> _in_words("2023-05-07"), _in_words("2023-02-31")
    ('7 May 2023', '')
    """
    try:
        return f"{datetime.strptime(day, '%Y-%m-%d'):%d %B %Y}".lstrip("0")
    except ValueError:
        return ""
