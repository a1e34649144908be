"""What can be seen of a text at a glance, before it is taken apart? Most candidates are no versions of each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from adaptive_memory_core.score.facts.statement import REMEMBERED, Statement


class Glance:
    """A text, and what is quickly told of it: lower case, spaces, whether it is ASCII, and one sentence for sure."""

    def __init__(self, text: str) -> None:
        self.text, self.lower = text, text.lower()
        self.spaces, self.ascii = text.count(" "), text.isascii()
        several = ". " in text or "! " in text or "? " in text or "\n" in text or "\u3002" in text
        self.one_sentence = not several


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
    longest_first = one.longest_words  # they are in the fewest texts
    return [number for number in among if not looks[number].ascii or _has(looks[number].lower, longest_first, most)]


def _has(lower: str, words: Sequence[str], missing: int) -> bool:
    """Whether a text has all but so many of the words; those of others than ASCII are casefolded."""
    for word in words:
        if word not in lower:
            if not missing:
                return False
            missing -= 1
    return True
