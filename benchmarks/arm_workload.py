"""What is asked of a memory whose user's needs change half-way? A stream of questions over items, made from intents.

A need is an intent of a set with training and test utterances. Items are training utterances, two to five for each
need, so that five places may hold all that is right. Questions are test utterances. The needs fall into thirds: one is
asked in the first half, one in the second, one never; within a half by Zipf's law, the few most of the time. When the
stream has ended, every need is probed with test utterances that were not asked before.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from benchmarks.data import Dataset, Item

ITEMS = (2, 3, 4, 5)  # items that a need may have
NEEDS = 3  # at the least: one to be asked first, one then, one never
PROBES = 2  # questions that probe a need at the end
SELDOM = 5  # times that a need may be asked and still be one that is seldom asked
GROUPS = ("now", "before", "seldom", "never")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the need behind it."""

    cue: str
    need: str


@dataclass(frozen=True, slots=True)
class Workload:
    """The items of each need, the questions of both halves, and those that probe every need at the end."""

    items: Mapping[str, tuple[Item, ...]]
    first: tuple[Asked, ...]
    second: tuple[Asked, ...]
    probes: tuple[Asked, ...]
    newcomers: frozenset[str]  # the needs of the second half, whose items may come only then

    @property
    def stream(self) -> tuple[Asked, ...]:
        return self.first + self.second

    @property
    def right_after(self) -> range:
        """Where the tenth of the second half stands that follows the drift."""
        return range(len(self.first), len(self.first) + max(1, len(self.second) // 10))

    def gold(self, need: str) -> list[str]:
        return [item.id for item in self.items[need]]

    def groups(self) -> dict[str, str]:
        """Each need by when it was asked: often in the second half, often in the first, a few times, or never."""
        times = Counter(asked.need for asked in self.stream)
        return {need: self._group(need, times[need]) for need in self.items}

    def _group(self, need: str, times: int) -> str:
        if times <= SELDOM:
            return "seldom" if times else "never"
        return "now" if need in self.newcomers else "before"


def workload(data: Dataset, *, questions: int, seed: int) -> Workload:
    """The same seed gives the same workload, whatever policy it is put to."""
    chance = random.Random(seed)
    stored, asked = _utterances(data, "train"), _utterances(data, "test")
    needs = sorted(need for need in stored if len(asked.get(need, ())) > PROBES and len(stored[need]) >= min(ITEMS))
    if len(needs) < NEEDS:
        _refuse(data, len(needs))
    chance.shuffle(needs)
    items = {need: tuple(chance.sample(stored[need], _most(chance, stored[need]))) for need in needs}
    for need in needs:
        chance.shuffle(asked[need])
    third = len(needs) // 3
    rest = {need: [one.text for one in asked[need][PROBES:]] for need in needs}
    return Workload(
        items=items,
        first=_half(needs[:third], rest, questions // 2, chance),
        second=_half(needs[third : 2 * third], rest, questions - questions // 2, chance),
        probes=tuple(Asked(one.text, need) for need in needs for one in asked[need][:PROBES]),
        newcomers=frozenset(needs[third : 2 * third]),
    )


def _most(chance: random.Random, stored: Sequence[Item]) -> int:
    return min(chance.choice(ITEMS), len(stored))


def _half(
    needs: Sequence[str], texts: Mapping[str, Sequence[str]], questions: int, chance: random.Random
) -> tuple[Asked, ...]:
    """Questions by Zipf's law: the second need is asked half as often as the first, the third a third as often."""
    shares = [1 / rank for rank in range(1, len(needs) + 1)]
    drawn = chance.choices(needs, shares, k=questions)
    return tuple(Asked(chance.choice(texts[need]), need) for need in drawn)


def _utterances(data: Dataset, split: str) -> dict[str, list[Item]]:
    """The questions of a split by need; a text that is said twice is taken once."""
    found: dict[str, dict[str, Item]] = {}
    for question in data.scorable:
        if question.split == split:
            found.setdefault(question.gold_ids[0], {}).setdefault(question.query, Item(question.id, question.query))
    return {need: list(items.values()) for need, items in found.items()}


def _refuse(data: Dataset, needs: int) -> NoReturn:
    print(
        f"Data: {data.name} has {needs} needs with {min(ITEMS)} or more questions of the split train and {PROBES + 1} "
        f"or more of the split test. {NEEDS} such needs are the least. Name another set, e.g. --sets banking77.",
        file=sys.stderr,
    )
    raise SystemExit(2)
