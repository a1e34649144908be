"""How many nats do the words say that a record has of a cue? More for a number, and no more for a word said again."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

EXACT_DIGITS = 3  # of a number, from which on it is one that was meant; guess
_EXACT = re.compile(rf"\d{{{EXACT_DIGITS}}}")
EXACT_HOLDERS = 3  # records that have it, at most; guess
Array = Any


class In(NamedTuple):
    """Which records have each word, what it is worth in each of them, and how many records there are."""

    docs: Sequence[Array]
    values: Sequence[Array]
    records: int


class NatsSaid(NamedTuple):
    """For each record what its words say. `once` is where a word said again says no more: where any words of the cue
    would do, what is rare is that a text has a word, for one that has it soon says it again."""

    all: Array
    once: Array

    def best_of(self, these: Array | None) -> float:
        """The most that one of these records says at once, of all where nothing marks them.

        >>> said = NatsSaid(np.array([9.0, 2.0]), np.array([4.0, 2.0]))
        >>> said.best_of(None), said.best_of(np.array([False, True])), said.best_of(np.array([False, False]))
        (4.0, 2.0, 0.0)
        """
        return float((self.once if these is None else self.once[these]).max(initial=0.0))


def nats_said(weights: Sequence[float], exact: Sequence[float], there: In, any_words: bool) -> tuple[Array, NatsSaid]:
    """What the cue's words weigh in each record, and what they say there: a word says its weight, or what it says as an
    exact number if that is more, times what it is worth in the record; at most once that where any words would do.

    >>> said_twice = In([np.array([0, 1])], [np.array([1.5, 0.5])], 3)
    >>> weigh, nats = nats_said([2.0], [0.0], said_twice, any_words=True)
    >>> weigh.tolist(), nats.all.tolist(), nats.once.tolist()
    ([3.0, 1.0, 0.0], [3.0, 1.0, 0.0], [2.0, 1.0, 0.0])
    >>> weigh, nats = nats_said([2.0], [9.0], said_twice, any_words=False)
    >>> nats.all.tolist(), nats.once is nats.all
    ([13.5, 4.5, 0.0], True)
    """
    if not weights:
        nothing = np.zeros(there.records, dtype=np.float64)
        return nothing, NatsSaid(nothing, nothing)
    docs, values, each = np.concatenate(there.docs), np.concatenate(there.values), list(map(len, there.docs))
    weigh = np.bincount(docs, values * np.repeat(weights, each), there.records)
    nats = np.repeat(np.maximum(weights, exact), each) if any_words or max(exact) > 0.0 else None
    said = np.bincount(docs, values * nats, there.records) if max(exact) > 0.0 else weigh
    once = np.bincount(docs, np.minimum(values, 1.0) * nats, there.records) if any_words else said
    return weigh, NatsSaid(said, once)


def number_says(word: Hashable | None, holding: int) -> float:
    """How many nats a number says that only a few records have: its digits might have been any others, however few the
    records are. Nothing for other words, which stand in a text for many reasons.

    >>> round(number_says("1019", 1), 1), number_says("1019", 40), number_says("12", 1), number_says("oslo", 1)
    (9.2, 0.0, 0.0, 0.0)
    """
    if not isinstance(word, str) or len(word) < EXACT_DIGITS or not word.isdecimal() or holding > EXACT_HOLDERS:
        return 0.0
    return len(word) * math.log(10.0)


def says_exact_number(cue: str) -> bool:
    """Whether it says a number that is meant as it stands, as a year, an order or a room.

    >>> says_exact_number("who led the works in 1962?"), says_exact_number("how do I get 20 dollars?")
    (True, False)
    """
    return _EXACT.search(cue) is not None
