"""How well do the words of a record match those of the cue? BM25 of the record, of its neighbours and of its session.

All of it as *coverage*: the share of the most that a text with every word of the cue could score. It is a number in
[0, 1] that means the same in every recall, so it needs no stretching over whoever else was found.

A long text has many words by chance: a word counts the less, the more often a text of that length would have it anyway.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.channels.words.windows import Places, places_of, said_in

TERM_SATURATION = 0.9  # BM25's k1: how soon a word said again adds nothing; measured on short records
LENGTH_NORMALISATION = (
    0.3  # BM25's b: how much longer texts are held back; .2 to .4 is flat, benchmarks/recall_quality.py
)
BY_CHANCE = 1.5  # power of the chance that a text lacks a word; 1 to 2 is flat, benchmarks/recall_quality.py
NEAR_TURNS = 1  # turns on either side that are a turn's nearest neighbours
TURNS_AROUND = 3  # turns on either side that are its wider surroundings
MOST_WORDS = 256  # different words of a cue that are looked up, ten times what a question has; guess
Array = Any


class Posting(NamedTuple):
    """One word of the cue: how often it was said there, which records have it, and how often each."""

    times: float
    docs: Array
    counts: Array


class ByLength(NamedTuple):
    """Of each record what its length does to a word of it: how often it must be said until half of what it may add is
    added, and how often it has it by chance for each time that all others have it; and the words of all."""

    told: float
    held_back: Array
    of_the_others: Array


class Layout(NamedTuple):
    """Where the records stand: `order` are their numbers by session and turn, `first` and `last` (exclusive) the bounds
    of each place's session; `lengths` are in words, 0 for a record that is gone. `turns` says of each record how far
    its session consists of turns: 1 where they are short, towards 0 where they are long replies."""

    lengths: Array
    live: int
    order: Array
    first: Array
    last: Array
    turns: Array | float = 1.0
    surroundings: Places | None = None  # made once, where it is known; else at each look
    by_length: ByLength | None = None  # as well


class Coverage(NamedTuple):
    """One number in [0, 1] a record; `context` and `session` are None where nothing stands in a session."""

    words: Array
    near: Array | None
    around: Array | None
    session: Array | None
    chance: float  # that some record matches the cue's words as well as the best one does, by accident


class _Held(NamedTuple):
    """A word of the cue that records have, its weight, and how often all of them have it."""

    word: Posting
    weight: float
    said: float


def surroundings_of(lengths: Array, order: Array, first: Array, last: Array) -> Places:
    """The windows in which a record's words count with those of its neighbours."""
    return places_of(lengths, order, first, last, (NEAR_TURNS, TURNS_AROUND, None))


def rarity(holding: int, records: int) -> float:
    """How much a word says: BM25's idf, with all the weight for one that nobody has.

    >>> round(rarity(0, 9), 2), round(rarity(9, 9), 2)
    (3.0, 0.05)
    """
    return math.log(1.0 + (records - holding + 0.5) / (holding + 0.5))


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
    """What each record, its surroundings and its session cover of the cue. Where a session's records are too long to be
    turns, the record itself takes the place of its surroundings.

    >>> layout = Layout(np.array([2.0, 2.0]), 2, np.arange(2), np.arange(2), np.arange(1, 3))
    >>> found = coverage([Posting(1, np.array([0]), np.array([1.0]))], layout, in_sessions=False)
    >>> found.words.round(2).tolist(), round(found.chance, 2)
    ([0.53, 0.0], 0.63)
    """
    held = [one for one in postings if len(one.docs)]
    missing = sum(one.times for one in postings if not len(one.docs)) * rarity(0, layout.live)
    weights = [one.times * rarity(len(one.docs), layout.live) for one in held]
    most = (sum(weights) + missing or 1.0) * (1.0 + TERM_SATURATION)
    said, own = _own_words(held, weights, layout)
    own /= most
    if not in_sessions:
        return Coverage(own, None, None, None, by_accident(float(own.max(initial=0.0)) * most, layout.live))
    near, around, session = (
        layout.turns * one / most + (1.0 - layout.turns) * own
        for one in _surroundings(list(map(_Held, held, weights, said)), layout)
    )
    best = max(float(own.max(initial=0.0)), float(around.max(initial=0.0)))
    return Coverage(own, near, around, session, by_accident(best * most, layout.live))


def _own_words(held: Sequence[Posting], weights: Sequence[float], layout: Layout) -> tuple[list[float], Array]:
    """How often all records have each word, and what each record's own words are worth: all words at once, and of the
    records those that have some."""
    if not held:
        return [], np.zeros(len(layout.lengths), dtype=np.float64)
    docs, counts = np.concatenate([one.docs for one in held]), np.concatenate([one.counts for one in held])
    sizes = [len(one.docs) for one in held]
    said = np.add.reduceat(counts, np.cumsum([0, *sizes[:-1]]))
    each_weight, each_said = np.array([weights, said]).repeat(sizes, axis=1)
    lengths = layout.by_length or by_length(layout.lengths, layout.live)
    by_chance = lengths.of_the_others[docs] * (each_said - counts)  # if it has as many as the others have
    worth = each_weight * _saturated(counts, lengths.held_back[docs], by_chance)
    found: list[float] = said.tolist()
    return found, np.bincount(docs, worth, len(layout.lengths))


def by_length(lengths: Array, live: int) -> ByLength:
    """What the lengths of texts do to their words."""
    told = float(lengths.sum())
    return ByLength(told, _held_back(lengths, told / max(1, live)), lengths / np.maximum(1.0, told - lengths))


def by_accident(nats: float, records: int) -> float:
    """The chance that one of so many records matches a cue by accident with words that say this much. Each nat makes a
    match e times rarer, so about records * exp(-nats) are to be expected.

    >>> round(by_accident(0.0, 10), 3), round(by_accident(10.0, 10), 4), by_accident(0.0, 0)
    (1.0, 0.0005, 0.0)
    """
    return 1.0 - math.exp(-records * math.exp(-nats))


def _surroundings(found: Sequence[_Held], layout: Layout) -> list[Array]:
    """The words of each record with those of its neighbours, and with its whole session, taken as one text."""
    told = float(layout.lengths.sum())
    places = layout.surroundings
    if places is None:
        places = surroundings_of(layout.lengths, layout.order, layout.first, layout.last)
    scores = []
    for windows in places.windows:
        score, average = np.zeros(len(windows.long)), windows.total / max(1, layout.live)
        for word, weight, said in found:
            there, counts = said_in(places, windows, word.docs, word.counts)
            long = windows.long[there]
            by_chance = long * (said / max(1.0, told))
            score[there] += weight * _saturated(counts, _held_back(long, average), by_chance)
        scores.append(score[windows.of_record])
    return scores


def _held_back(lengths: Array, average: float) -> Array:
    """How many times texts of these lengths must say a word until half of what it may add is added."""
    return TERM_SATURATION * (1.0 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * lengths / max(average, 1e-9))


def _saturated(counts: Array, held_back: Array, by_chance: Array) -> Array:
    """BM25's term frequency part, at most 1 + k1, as far as such a text would lack the word by chance: `by_chance` is
    how many a text of that length has on average.

    >>> _saturated(np.ones(2), np.array([0.9, 0.9]), np.array([0.0, 1.0])).round(2).tolist()
    [1.0, 0.22]
    """
    return (1.0 + TERM_SATURATION) * counts * np.exp(-BY_CHANCE * by_chance) / (counts + held_back)
