"""Which records match a cue's words, and how well.

A turn of a conversation says little by itself, so the words of its neighbours and of its session count as well. A
record outside a conversation has no neighbours. What counts for it instead is what the turns of the conversation reach
by chance, so that neither kind is ahead for what it is.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.score.surprise import of_number, of_word

SMALL = 4_000  # records that are run through for each word; measured
Array = Any


class Windows(NamedTuple):
    """Of one width: the bounds of each place's window (`high` exclusive) and its length in words; what the lengths of
    all places come to; the number of each record's window, which is its place. With a width of None the windows are
    the sessions, and fewer."""

    reach: int | None
    low: Array
    high: Array
    long: Array
    total: float
    of_record: Array


class Places(NamedTuple):
    """Where records stand: `place` of each record, the record at each place (`order`), and the number of each place's
    session."""

    order: Array
    place: Array
    first: Array
    last: Array
    session: Array
    windows: tuple[Windows, ...]


def windows_around(lengths: Array, order: Array, first: Array, last: Array, reaches: tuple[int | None, ...]) -> Places:
    """The windows of these widths around each place.

    >>> two = np.array([2.0, 2.0])
    >>> found = windows_around(two, np.arange(2), np.array([0, 0]), np.array([2, 2]), (0, 1, None))
    >>> [window.long.tolist() for window in found.windows]
    [[2.0, 2.0], [4.0, 4.0], [4.0]]
    """
    here = np.arange(len(order))
    place = np.empty_like(order)
    place[order] = here
    running = _running(lengths[order])
    session = np.cumsum(first == here) - 1
    windows = []
    for reach in reaches:
        if reach is None:
            begins = np.flatnonzero(first == here)
            low, high, of_record = begins, last[begins], session[place]
        else:
            low, high, of_record = np.maximum(first, here - reach), np.minimum(last, here + reach + 1), place
        long = running[high] - running[low]
        total = float(long @ (high - low)) if reach is None else float(long.sum())
        windows.append(Windows(reach, low, high, long, total, of_record))
    return Places(order, place, first, last, session, tuple(windows))


def windows_with_word(places: Places, windows: Windows, docs: Array, counts: Array) -> tuple[Array, Array]:
    """The windows in which a word is said, and how often, given the records that have it.

    >>> places = windows_around(np.ones(3), np.arange(3), np.zeros(3, int), np.full(3, 3), (1,))
    >>> [found.tolist() for found in windows_with_word(places, places.windows[0], np.array([0]), np.array([2.0]))]
    [[0, 1], [2.0, 2.0]]
    """
    size = len(places.order)
    there = places.place[docs]
    reach = windows.reach
    dense: Array
    if reach is None:
        dense = np.bincount(places.session[there], counts)
    elif size < SMALL or (2 * reach + 1) * len(docs) > size / 2:  # to run through all is quicker
        dense = np.zeros(size)
        dense[there] = counts
        running = _running(dense)
        dense = running[windows.high] - running[windows.low]
    else:
        near = there[:, None] + np.arange(-reach, reach + 1)
        within = (near >= places.first[there][:, None]) & (near < places.last[there][:, None])
        dense = np.bincount(near[within], np.broadcast_to(counts[:, None], near.shape)[within], size)
    found = np.flatnonzero(dense > 0.0)  # ten times as quick as of numbers
    return found, dense[found]


def _running(values: Array) -> Array:
    return np.concatenate(([0.0], np.cumsum(values)))


# How much a word counts that the turns within so many places have, or the session (None), beside the turn's own words.
AROUND = ((1, 0.8), (3, 1.0), (None, 0.5))  # all within a third of these is flat, benchmarks/recall_quality.py
DIGITS = 3  # of a word that is meant exactly; 2 would take in most ages and days
MOST_WORDS = 256  # different words of a query that are looked up, ten times what a question has; guess


class Posting(NamedTuple):
    """One word of the query: how often it is there, which records have it, and how often each; `word` names it."""

    times: float
    docs: Array
    counts: Array
    word: Hashable | None = None


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
    surroundings: Places | None = None  # computed once, where it is known; else at each call
    alone: Array | None = None  # marks the records of no conversation, where there are some besides conversations


class Matches(NamedTuple):
    """Nats per record that its own words say, and those around it (None without conversations); and the most that the
    words of this query could say."""

    own: Array
    around: Array | None
    most: float


def surroundings_of(lengths: Array, order: Array, first: Array, last: Array) -> Places:
    """The windows in which a record's words count with those of its neighbours."""
    return windows_around(lengths, order, first, last, tuple(reach for reach, _ in AROUND))


def matches(postings: Sequence[Posting], layout: Layout, people: Array | None = None) -> Matches:
    """What each record's words say. `people` is how far each is a turn among people, in [0, 1].

    >>> layout = Layout(np.array([2.0, 2.0]), 2, np.arange(2), np.arange(2), np.arange(1, 3))
    >>> found = matches([Posting(1, np.array([0]), np.array([1.0]))], layout)
    >>> found.own.round(1).tolist(), round(found.most, 1)
    ([3.1, 0.0], 3.8)
    """
    postings = _most_telling(postings, layout.live)
    average = float(layout.lengths.sum()) / max(1, layout.live) or 1.0
    relative, own = layout.lengths / average, np.zeros(len(layout.lengths))
    shortest = sum(word.times for word in postings) / average  # a text that has all of the words, and no others
    most = 0.0
    for word in postings:
        weight, holding = min(1.0, word.times), max(0.5, len(word.docs))
        of_itself = of_number(holding, layout.live) if _is_number(word.word) else 0.0
        if len(word.docs):
            own[word.docs] += weight * (of_itself + of_word(holding, layout.live, relative[word.docs]))
        most += weight * (of_itself + float(of_word(holding, layout.live, shortest)))
    if people is None:
        return Matches(own, None, most)
    people = np.where(_has_neighbours(layout), people, 0.0)
    around = people * _around(postings, layout, average)
    alone = (people <= 0.0) & (layout.lengths > 0.0)
    turns = (own + around)[people > 0.0]
    if alone.any() and len(turns):
        around = np.where(alone, turns.mean() + _best_by_chance(len(turns)) * turns.std(), around)
    return Matches(own, around, most * (1.0 + sum(weight for _, weight in AROUND)))


def _is_number(word: Hashable) -> bool:
    """Whether a word is a number, a code or a date with at least three digits: nothing but itself is meant by it.

    >>> _is_number("1001"), _is_number(("c7007",)), _is_number("mp3"), _is_number(None)
    (True, True, False, False)
    """
    text = word[0] if isinstance(word, tuple) and word else word
    return isinstance(text, str) and sum(map(str.isdigit, text)) >= DIGITS


def _best_by_chance(turns: int) -> float:
    """How many standard deviations above the mean the best of so many turns is expected to reach by chance.

    >>> round(_best_by_chance(4), 1), round(_best_by_chance(600), 1)
    (1.7, 3.6)
    """
    return math.sqrt(2.0 * math.log(turns))


def _has_neighbours(layout: Layout) -> Array:
    """Whether other records are of the session of each."""
    found = np.zeros(len(layout.lengths), dtype=bool)
    found[layout.order] = layout.last - layout.first > 1
    return found


def _around(postings: Sequence[Posting], layout: Layout, average: float) -> Array:
    """Nats that the words within each of the windows say, each window taken as one text."""
    places = layout.surroundings
    if places is None:
        places = surroundings_of(layout.lengths, layout.order, layout.first, layout.last)
    found = np.zeros(len(layout.lengths))
    for windows, (_, counts_as) in zip(places.windows, AROUND, strict=True):
        nats = np.zeros(len(windows.long))
        for word in postings:
            if len(word.docs):
                there, _ = windows_with_word(places, windows, word.docs, word.counts)
                nats[there] += min(1.0, word.times) * of_word(
                    len(word.docs), layout.live, windows.long[there] / average
                )
        found += counts_as * nats[windows.of_record]
    return found


def _most_telling(postings: Sequence[Posting], records: int) -> Sequence[Posting]:
    """Of a query with very many words the ones to look up: those that nobody has, which cost nothing, and the rarest.

    >>> nobody, some = Posting(1, np.array([]), np.array([])), Posting(1, np.array([0]), np.array([1.0]))
    >>> len(_most_telling([nobody] * 500 + [some] * 500, 9)) - 500 == MOST_WORDS
    True
    """
    held = [number for number, one in enumerate(postings) if len(one.docs)]
    if len(held) <= MOST_WORDS:
        return postings
    held.sort(key=lambda number: -float(of_word(len(postings[number].docs), records, 1.0)))
    left_out = frozenset(held[MOST_WORDS:])
    return [one for number, one in enumerate(postings) if number not in left_out]
