"""What is a word worth in each record that has it? BM25's term frequency part, kept as long as the records stay.

A long text has many words by chance: a word counts the less, the more often a text of that length would have it anyway.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

TERM_SATURATION = 0.9  # BM25's k1: how soon a word said again adds nothing; measured on short records
LENGTH_NORMALISATION = (
    0.3  # BM25's b: how much longer texts are held back; .2 to .4 is flat, benchmarks/recall_quality.py
)
BY_CHANCE = 1.5  # power of the chance that a text lacks a word; 1 to 2 is flat, benchmarks/recall_quality.py
MOST_KEPT = 20  # numbers for each record, of 8 bytes; guess
Array = Any


class ByLength(NamedTuple):
    """Of each record what its length does to a word of it: how often it must be said until half of what it may add is
    added, and how often it has it by chance for each time that all others have it; and the words of all."""

    told: float
    held_back: Array
    of_the_others: Array


class Worth(NamedTuple):
    """How often all records say a word, and what it is worth in each that has it."""

    said: float
    values: Array


class Worths:
    """The worth of words in records that do not change, by what names the word.

    >>> records, docs, counts = by_length(np.array([2.0, 2.0]), 2), np.array([0]), np.array([1.0])
    >>> kept = Worths()
    >>> kept.of("tea", docs, counts, records) is kept.of("tea", docs, counts, records)
    True
    >>> kept.of(None, docs, counts, records) is kept.of(None, docs, counts, records)      # without a name, never kept
    False
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Worth] = {}
        self._size = 0

    def of(self, word: Hashable | None, docs: Array, counts: Array, lengths: ByLength) -> Worth:
        """What the word is worth in each of these records, which have it so often."""
        found = self._known.get(word)
        if found is not None:
            return found
        said = float(counts.sum())
        by_chance = lengths.of_the_others[docs] * (said - counts)  # if it has as many as the others have
        made = Worth(said, saturated(counts, lengths.held_back[docs], by_chance))
        if word is not None:
            if self._size > MOST_KEPT * len(lengths.held_back):
                self._known, self._size = {}, 0
            self._known[word] = made
            self._size += len(docs)
        return made


def by_length(lengths: Array, live: int) -> ByLength:
    """What the lengths of texts do to their words."""
    told = float(lengths.sum())
    return ByLength(told, held_back(lengths, told / max(1, live)), lengths / np.maximum(1.0, told - lengths))


def held_back(lengths: Array, average: float) -> Array:
    """How many times texts of these lengths must say a word until half of what it may add is added."""
    return TERM_SATURATION * (1.0 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * lengths / max(average, 1e-9))


def saturated(counts: Array, held_back: Array, by_chance: Array) -> Array:
    """BM25's term frequency part, at most 1 + k1, as far as such a text would lack the word by chance: `by_chance` is
    how many a text of that length has on average.

    >>> saturated(np.ones(2), np.array([0.9, 0.9]), np.array([0.0, 1.0])).round(2).tolist()
    [1.0, 0.22]
    """
    return (1.0 + TERM_SATURATION) * counts * np.exp(-BY_CHANCE * by_chance) / (counts + held_back)
