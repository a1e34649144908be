"""How well do the words of a record match those of the cue? BM25 of the record, of its neighbours and of its session.

All of it as *coverage*: the share of the most that a text with every word of the cue could score. It is a number in
[0, 1] that means the same in every recall, so it needs no stretching over whoever else was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

TERM_SATURATION = 0.9  # BM25's k1: how soon a word said again adds nothing; measured on short records
LENGTH_NORMALISATION = 0.4  # BM25's b: how much longer texts are held back
NEAR_TURNS = 1  # turns on either side that are a turn's nearest neighbours
TURNS_AROUND = 3  # turns on either side that are its wider surroundings
MOST_WORDS = 256  # different words of a cue that are looked up, ten times what a question has; guess
Array = Any


class Posting(NamedTuple):
    """One word of the cue: how often it was said there, which records have it, and how often each."""

    times: int
    docs: Array
    counts: Array


class Layout(NamedTuple):
    """Where the records stand: `order` are their numbers by session and turn, `first` and `last` (exclusive) the bounds
    of each place's session; `lengths` are in words, 0 for a record that is gone."""

    lengths: Array
    live: int
    order: Array
    first: Array
    last: Array


class Coverage(NamedTuple):
    """One number in [0, 1] a record; `context` and `session` are None where nothing stands in a session."""

    words: Array
    near: Array | None
    around: Array | None
    session: Array | None
    best: float  # the share of the cue's words that one record has


def rarity(holding: int, records: int) -> float:
    """How much a word says: BM25's idf, with all the weight for one that nobody has.

    >>> round(rarity(0, 9), 2), round(rarity(9, 9), 2)
    (3.0, 0.05)
    """
    return float(np.log(1.0 + (records - holding + 0.5) / (holding + 0.5)))


def most_telling(postings: Sequence[Posting], records: int) -> Sequence[Posting]:
    """Of a cue with very many words the ones to look up: those that nobody has, which cost nothing, and of the others
    the ones that say the most.

    >>> nobody, some = Posting(1, np.array([]), np.array([])), Posting(1, np.array([0]), np.array([1.0]))
    >>> len(most_telling([nobody] * 500 + [some] * 500, 9)) - 500 == MOST_WORDS
    True
    """
    held = [number for number, one in enumerate(postings) if len(one.docs)]
    if len(held) <= MOST_WORDS:
        return postings
    held.sort(key=lambda number: -postings[number].times * rarity(len(postings[number].docs), records))
    left_out = frozenset(held[MOST_WORDS:])
    return [one for number, one in enumerate(postings) if number not in left_out]


def coverage(postings: Sequence[Posting], layout: Layout, *, in_sessions: bool) -> Coverage:
    """What each record, its surroundings and its session cover of the cue.

    >>> layout = Layout(np.array([2.0, 2.0]), 2, np.arange(2), np.arange(2), np.arange(1, 3))
    >>> found = coverage([Posting(1, np.array([0]), np.array([1.0]))], layout, in_sessions=False)
    >>> found.words.round(2).tolist(), found.best
    ([0.53, 0.0], 1.0)
    """
    weights = [one.times * rarity(len(one.docs), layout.live) for one in postings]
    total = sum(weights) or 1.0
    size = len(layout.lengths)
    average = float(layout.lengths.sum()) / max(1, layout.live)
    words = np.zeros(size, dtype=np.float64)
    found = [(one, weight) for one, weight in zip(postings, weights, strict=True) if len(one.docs)]
    for one, weight in found:
        words[one.docs] += weight * _saturated(one.counts, layout.lengths[one.docs], average)
    best = min(1.0, float(words.max(initial=0.0)) / total)
    own = words / (total * (1.0 + TERM_SATURATION))
    if not in_sessions:
        return Coverage(own, None, None, None, best)
    return Coverage(own, *_surroundings(found, layout, total), best)


def _surroundings(found: Sequence[tuple[Posting, float]], layout: Layout, total: float) -> tuple[Array, Array, Array]:
    """The same with each record's neighbours, and with its whole session, taken as one text."""
    places = np.arange(len(layout.order))
    spans = [
        (np.maximum(layout.first, places - reach), np.minimum(layout.last, places + reach + 1))
        for reach in (NEAR_TURNS, TURNS_AROUND)
    ]
    spans.append((layout.first, layout.last))
    lengths = _running(layout.lengths[layout.order])
    sums = []
    for low, high in spans:
        long = lengths[high] - lengths[low]
        sums.append((np.zeros(len(places)), long, float(long.sum()) / max(1, layout.live)))  # what is gone adds 0
    dense = np.zeros(len(places))
    for one, weight in found:
        dense[one.docs] = one.counts
        running = _running(dense[layout.order])
        dense[one.docs] = 0.0
        for (low, high), (score, long, average) in zip(spans, sums, strict=True):
            np.add(score, weight * _saturated(running[high] - running[low], long, average), out=score)
    back = np.empty_like(places)
    back[layout.order] = places
    near, around, session = (score[back] / (total * (1.0 + TERM_SATURATION)) for score, _, _ in sums)
    return near, around, session


def _saturated(counts: Array, lengths: Array, average: float) -> Array:
    """BM25's term frequency part, at most 1 + k1."""
    held_back = TERM_SATURATION * (1.0 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * lengths / max(average, 1e-9))
    return counts * (1.0 + TERM_SATURATION) / (counts + held_back)


def _running(values: Array) -> Array:
    return np.concatenate(([0.0], np.cumsum(values)))
