"""Do two texts say the same? Word for word, or nearly: numbers and negations may not differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

RUN = 3  # words that follow each other: what texts are compared by
REMEMBERED = 1_000  # characters of a text whose shape is kept from one recall to the next
_EDGES = " .,;:!?\"'`()[]{}\u2019\u201c\u201d\u2026"
_TELLING = re.compile(r"\d|n[\u2019']t\b|^(?:no|not|never|none|nor|without|cannot)$")


class Shape(NamedTuple):
    """A text's runs of words, and those of its words that one small difference would turn into another statement."""

    runs: frozenset[tuple[str, ...]]
    telling: frozenset[str]


def plain(text: str) -> str:
    """The words alone: in lower case, with single spaces, without a stop at the end.

    >>> plain("Bob  likes TEA.") == plain("bob likes tea"), plain("Bob likes tea?") == plain("Bob likes tea")
    (True, False)
    """
    return " ".join(text.casefold().split()).rstrip(".! ")


def overlap(one: str, other: str) -> float:
    """The share of their runs of words that two texts have in common; 0 where a number or a negation differs.

    >>> overlap("The big office in Berlin moved.", "the big office in Berlin moved"), overlap("tea", "coffee")
    (1.0, 0.0)
    >>> overlap("one two three four five", "one two three four six")
    0.5
    >>> overlap("He will never take the job in Oslo", "He will take the job in Oslo"), overlap("v 1", "v 2")
    (0.0, 0.0)
    """
    first, second = _shape(one), _shape(other)
    if first.telling != second.telling or not first.runs or not second.runs:
        return 0.0
    shared = len(first.runs & second.runs)
    return shared / max(1, len(first.runs) + len(second.runs) - shared)


def leaders(texts: Sequence[str], share: float) -> list[int]:
    """For each text the number of the first that says the same: its own, where none before it does.

    A text without words says nothing, and so not the same. With a `share` of 1 the words are the same; below, texts
    that begin or end alike have at least that share of their runs of words in common.

    >>> leaders(["Tea.", "coffee", "tea", "", ""], 1.0)
    [0, 1, 0, 3, 4]
    """
    found = _same(texts)
    return found if share >= 1.0 else _nearly(texts, found, share)


def _same(texts: Sequence[str]) -> list[int]:
    short = max(map(len, texts), default=0) <= REMEMBERED
    words = list(map(_plain_of_short, texts)) if short else _plain_where_needed(texts)
    if len(set(words)) == len(words):
        return list(range(len(words)))
    first: dict[str, int] = {}
    return [first.setdefault(one, number) if one else number for number, one in enumerate(words)]


@lru_cache(maxsize=2_000)  # of at most 1 kB each, and the texts are in RAM for other reasons as well
def _plain_of_short(text: str) -> str:
    return plain(text)


def _plain_where_needed(texts: Sequence[str]) -> list[str]:
    """The words of each; of a text that begins like no other its begin, for it needs no closer look."""
    begun = [_edges(text)[0] for text in texts]
    often = Counter(begun)
    return [plain(text) if often[start] > 1 else start for text, start in zip(texts, begun, strict=True)]


def _nearly(texts: Sequence[str], same: Sequence[int], share: float) -> list[int]:
    begun: dict[str, list[int]] = {}
    ended: dict[str, list[int]] = {}
    found: list[int] = []
    for number, text in enumerate(texts):
        leader = found[same[number]] if same[number] < number else number
        if leader == number and text:
            begin, end = _edges(text)
            alike, others = begun.setdefault(begin, []), ended.setdefault(end, [])
            leader = next((one for one in (*alike, *others) if overlap(text, texts[one]) >= share), number)
            if leader == number:
                alike.append(number)
                others.append(number)
        found.append(leader)
    return found


def _edges(text: str) -> tuple[str, str]:
    """The first two words and the last two, of short texts kept from one recall to the next."""
    return _edges_of_short(text) if len(text) <= REMEMBERED else _edges_of(text)


@lru_cache(maxsize=2_000)  # of at most 1 kB each, and the texts are in RAM for other reasons as well
def _edges_of_short(text: str) -> tuple[str, str]:
    return _edges_of(text)


def _edges_of(text: str) -> tuple[str, str]:
    return _edge(text.split(None, 2)[:2]), _edge(text.rsplit(None, 2)[-2:])


def _edge(words: Sequence[str]) -> str:
    return " ".join(words).casefold().rstrip(".! ")


def _shape(text: str) -> Shape:
    return _shape_of_short(text) if len(text) <= REMEMBERED else _shape_of(text)


@lru_cache(maxsize=500)  # of at most 50 kB each, of an ordinary turn 3 kB
def _shape_of_short(text: str) -> Shape:
    return _shape_of(text)


def _shape_of(text: str) -> Shape:
    words = tuple(word for one in text.casefold().split() if (word := one.strip(_EDGES)))
    runs = (words[start : start + RUN] for start in range(max(1, len(words) - RUN + 1)) if words)
    return Shape(frozenset(runs), frozenset(word for word in words if _TELLING.search(word)))
