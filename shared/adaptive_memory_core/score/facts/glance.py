"""What can be seen of a text at a glance, before it is taken apart? Most candidates are no versions of each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from adaptive_memory_core.frozen import computed_once
from adaptive_memory_core.score.facts.statement import REMEMBERED, Statement

_APART = {code: " " for code in range(128) if not chr(code).isalnum()}


class Glance:
    """A text, and what is quickly told of it: lower case, spaces, whether it is ASCII, and one sentence for sure."""

    def __init__(self, text: str) -> None:
        self.text, self.lower = text, text.lower()
        self.spaces, self.ascii = text.count(" "), text.isascii()
        several = ". " in text or "! " in text or "? " in text or "\n" in text or "\u3002" in text
        self.one_sentence = not several

    @computed_once
    def words(self) -> frozenset[str]:
        """Of an ASCII text all that is letters and digits alone."""
        return frozenset(self.lower.translate(_APART).split())


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
    words = one.longest_words
    if len(words) <= most:
        return list(among)
    rarest, all_of_them = frozenset(words[: most + 1]), frozenset(words)  # the longest words are in the fewest texts
    return [
        number
        for number in among
        if not (look := looks[number]).ascii
        or (not rarest.isdisjoint(look.words) and len(all_of_them - look.words) <= most)
    ]
