"""What can be seen of a text at a glance, before it is taken apart? Most candidates are no versions of each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from adaptive_memory_core.frozen import computed_once
from adaptive_memory_core.score.facts.statement import EDGES, REMEMBERED, Statement

_NO_EDGES = dict.fromkeys(map(ord, EDGES), " ")


class Glance:
    """A text, and what is quickly told of it: lower case, spaces, whether it is ASCII, and one sentence for sure."""

    def __init__(self, text: str) -> None:
        self.text, self.lower = text, text.lower()
        self.spaces, self.ascii = text.count(" "), text.isascii()
        several = ". " in text or "! " in text or "? " in text or "\n" in text or "\u3002" in text
        self.one_sentence = not several

    @computed_once
    def words(self) -> frozenset[str]:
        """What stands between spaces and marks."""
        return frozenset(self.lower.translate(_NO_EDGES).split())


@lru_cache(maxsize=REMEMBERED)
def glance(text: str) -> Glance:
    """
    >>> glance("Ilse lives in Oslo. It rains.").one_sentence, glance("Ilse lives in Oslo.").spaces
    (False, 3)
    """
    return Glance(text)


def may_differ_little(one: Statement, looks: Sequence[Glance], among: Sequence[int], most: int) -> list[int]:
    """Those of the texts, given by their numbers, in which at most so many of the words are missing, perhaps.

    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> looks = [glance(text) for text in ("Ilse lives in Turin.", "Colm works in Turin.")]
    >>> may_differ_little(statement("Ilse lives in Oslo."), looks, [0, 1], 1)
    [0]
    """
    some = one.longest_words[: most + 1]
    if len(some) > most:  # the longest ones are in the fewest texts; words of others than ASCII are casefolded
        among = [number for number in among if not looks[number].words.isdisjoint(some) or not looks[number].ascii]
    return [number for number in among if not looks[number].ascii or _missing(one, looks[number].lower) <= most]


def _missing(one: Statement, lower: str) -> int:
    """How many words are not there."""
    return len([word for word in one.said if word not in lower])
