"""Which of the names that are known already stand in a text? The longest ones, whatever the rules make of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Set
from typing import NamedTuple

from adaptive_memory_core.graph.names import _NO_NAMES, words_of

LONGEST = 6  # words of a name that is found again
Known = Callable[[Collection[str]], Set[str]]  # which of these are names


class Gram(NamedTuple):
    """Words of a text that may be a name."""

    start: int
    size: int
    name: str


def grams(text: str, *, loose: bool = False) -> list[Gram]:
    """All that may be a name: up to six words together; one by itself only if it has a capital (`loose`: or is no
    function word).

    >>> [one.name for one in grams("the Nile flows")]
    ['the nile', 'the nile flows', 'nile', 'nile flows']
    """
    words = words_of(text)
    found = []
    for start, first in enumerate(words):
        for size in range(1, min(LONGEST, len(words) - start) + 1):
            if size == 1 and (first.plain in _NO_NAMES or not (first.capital or loose)):
                continue
            found.append(Gram(start, size, " ".join(word.plain for word in words[start : start + size])))
    return found


def known_names(text: str, known: Known, *, loose: bool = False) -> list[str]:
    """The known names in a text, none of them within a longer one.

    >>> there = {"nile", "blue nile", "cairo"}
    >>> known_names("The Blue Nile does not reach Cairo.", lambda names: there & set(names))
    ['blue nile', 'cairo']
    """
    found = grams(text, loose=loose)
    there = known({one.name for one in found})
    return longest([one for one in found if one.name in there])


def longest(found: Collection[Gram]) -> list[str]:
    """Those that share no word with a longer one, in their order."""
    taken: set[int] = set()
    kept: list[Gram] = []
    for one in sorted(found, key=lambda one: (-one.size, one.start)):
        places = set(range(one.start, one.start + one.size))
        if not places & taken:
            taken |= places
            kept.append(one)
    return list(dict.fromkeys(one.name for one in sorted(kept)))
