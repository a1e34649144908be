"""Which of the names that are known already stand in a text? The longest ones, whatever the rules make of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Set
from typing import NamedTuple

from adaptive_memory_core.channels.words.unspaced import UNSPACED
from adaptive_memory_core.graph.names import _NO_NAMES, Word, words_of

LONGEST = 6  # words of a name that is found again
MOST_LOOKED_UP = 2_000  # characters of a cue in which names are looked for; of a longer one its start and end
LONGEST_UNSPACED = 12  # characters of one in a script that puts nothing between words
Known = Callable[[Collection[str]], Set[str]]  # which of these are names


class Gram(NamedTuple):
    """Words of a text that may be a name, or characters where nothing separates words: where, how many, the name."""

    start: int
    size: int
    name: str
    end: int


def grams(text: str, *, loose: bool = False) -> list[Gram]:
    """All that may be a name: up to six words together; one by itself only if it has a capital (`loose`: or is no
    function word); function words only where each has a capital; and any characters together of a script that puts
    nothing between words.

    >>> [one.name for one in grams("the Nile flows")]
    ['the nile', 'the nile flows', 'nile', 'nile flows']
    >>> [one.name for one in grams("What Is what is")]  # a title, and the begin of any question
    ['what is']
    >>> [one.name for one in grams("在东京")]
    ['在东京', '在东', '东京']
    """
    words = words_of(text)
    found = []
    for start, first in enumerate(words):
        function_words, capitals = True, True
        for size, last in enumerate(words[start : start + LONGEST], 1):
            function_words, capitals = function_words and last.plain in _NO_NAMES, capitals and last.capital
            if (function_words and (size == 1 or not capitals)) or (size == 1 and not (capitals or loose)):
                continue
            name = " ".join(word.plain for word in words[start : start + size])
            found.append(Gram(first.start, size, name, last.end))
    return [*found, *(gram for word in words for gram in _within(word))]


def known_names(text: str, known: Known, *, loose: bool = False) -> list[str]:
    """The known names in a text, none of them within a longer one.

    >>> there = {"nile", "blue nile", "cairo", "东京"}
    >>> known_names("The Blue Nile does not reach Cairo.", lambda names: there & set(names))
    ['blue nile', 'cairo']
    >>> known_names("我住在东京。", lambda names: there & set(names))
    ['东京']
    """
    found = grams(text, loose=loose)
    there = known({one.name for one in found})
    return longest([one for one in found if one.name in there])


def longest(found: Collection[Gram]) -> list[str]:
    """Those that share no word with a longer one, in their order."""
    taken: set[int] = set()
    kept: list[Gram] = []
    for one in sorted(found, key=lambda one: (-one.size, one.start)):
        places = set(range(one.start, one.end))
        if not places & taken:
            taken |= places
            kept.append(one)
    return list(dict.fromkeys(one.name for one in sorted(kept)))


def _within(word: Word) -> Iterator[Gram]:
    """Two characters and more of what stands in such a script within a word, which may be a whole sentence. Nothing
    is looked for in a word whose plain form is of another length, as where letters were taken apart."""
    if word.plain.isascii() or len(word.plain) != word.end - word.start:
        return
    for run in UNSPACED.finditer(word.plain):
        for start in range(run.start(), run.end() - 1):
            for end in range(min(run.end(), start + LONGEST_UNSPACED), start + 1, -1):
                if end - start < len(word.plain):  # all of it is a word already
                    yield Gram(word.start + start, end - start, word.plain[start:end], word.start + end)
