"""Which words need not be looked up again? Those of the last cues, as long as the lists are as they were."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adaptive_memory_core.channels.words.words_of_cue import Forms

MOST_KEPT = 20  # numbers for each record, of 16 bytes; guess
OF_A_WORD = 50  # numbers that a word counts for besides its records
Array = Any
Holding = tuple[Array, Array]  # the records that have a word, and how often each


class WordsLookedUp:
    """Words of cues, each with the records that have it.

    >>> known = WordsLookedUp(records=1)
    >>> known.missing(["tea"]); known.keep("tea", ([0], [1.0])); known.missing(["tea", "tax"]), known.words["tea"]
    ['tea']
    (['tax'], ([0], [1.0]))
    """

    def __init__(self, records: int) -> None:
        self.words: dict[Forms, Holding] = {}
        self._most, self._size = MOST_KEPT * (records + OF_A_WORD), 0

    def missing(self, words: Iterable[Forms]) -> list[Forms]:
        """Those of the words that are yet to be looked up; all, where so many are kept that it begins anew."""
        if self._size > self._most:
            self.words, self._size = {}, 0
        known = self.words
        return [one for one in words if one not in known]

    def keep(self, word: Forms, found: Holding) -> None:
        """The word was looked up just now."""
        self.words[word] = found
        self._size += len(found[0]) + OF_A_WORD
