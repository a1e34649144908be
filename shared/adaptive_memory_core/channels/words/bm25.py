"""How well do the words of a record match those of the cue? BM25 of the record, of its neighbours and of its session.

All of it as *coverage*: the share of the most that a text with every word of the cue could score. It is a number in
[0, 1] that means the same in every recall, so it needs no stretching over whoever else was found.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.channels.words.by_accident import Asked, by_accident
from adaptive_memory_core.channels.words.nats_said import In, NatsSaid, nats_said, number_says
from adaptive_memory_core.channels.words.windows import Places, places_of, said_in
from adaptive_memory_core.channels.words.worth_of_word import (
    TERM_SATURATION,
    ByLength,
    Worths,
    by_length,
    held_back,
    saturated,
)
from adaptive_memory_core.policy.fusion import USUAL_NATS

NEAR_TURNS = 1  # turns on either side that are a turn's nearest neighbours
TURNS_AROUND = 3  # turns on either side that are its wider surroundings
MOST_WORDS = 256  # different words of a cue that are looked up, ten times what a question has; guess
Array = Any


class Posting(NamedTuple):
    """One word of the cue: how often it was said there, which records have it, and how often each; `word` names it."""

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
    surroundings: Places | None = None  # made once, where it is known; else at each look
    by_length: ByLength | None = None  # as well
    worths: Worths | None = None  # of words, where the records are known
    alone: Array | None = None  # marks the records of no conversation, where there are some besides conversations


class Coverage(NamedTuple):
    """One number in [0, 1] a record; `context` and `session` are None where nothing stands in a session."""

    words: Array
    near: Array | None
    around: Array | None
    session: Array | None
    chance: float  # that some record matches the cue's words as well as the best one does, by accident
    chance_alone: float | None = None  # as well as the best one of no conversation does, where there are such
    most: float = 0.0  # nats that a text with all of the cue's words would say
    chance_any: float | None = None  # that any of the cue's words match as well, where there are no conversations


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


def coverage(postings: Sequence[Posting], layout: Layout, *, in_sessions: bool, names: bool = False) -> Coverage:
    """What each record, its surroundings and its session cover of the cue. Where a session's records are too long to be
    turns, the record itself takes the place of its surroundings. `names` says that the cue names something: then just
    these words are meant, and no others would do.

    >>> layout = Layout(np.array([2.0, 2.0]), 2, np.arange(2), np.arange(2), np.arange(1, 3))
    >>> found = coverage([Posting(1, np.array([0]), np.array([1.0]))], layout, in_sessions=False)
    >>> found.words.round(2).tolist(), round(found.chance, 2)
    ([0.53, 0.0], 0.63)
    """
    held = [one for one in postings if len(one.docs)]
    missing = sum(one.times for one in postings if not len(one.docs)) * rarity(0, layout.live)
    rarities = [rarity(len(one.docs), layout.live) for one in held]
    weights = [one.times * rare for one, rare in zip(held, rarities, strict=True)]
    most = (sum(weights) + missing or 1.0) * (1.0 + TERM_SATURATION)
    any_words = not names and (layout.alone is not None or not in_sessions)
    said, own, nats = _own_words(held, weights, layout, any_words)
    best, best_alone = float(nats.all.max(initial=0.0)), nats.best_of(layout.alone)
    own /= most
    asked, choice = Asked(np.array(weights), np.array(rarities), layout.live), 0.0 if names else 1.0
    if not in_sessions:
        chance_any = asked.chance(best_alone, alone=choice)
        return Coverage(own, None, None, None, by_accident(best, layout.live), most=most, chance_any=chance_any)
    near, around, session = (
        layout.turns * one / most + (1.0 - layout.turns) * own
        for one in _surroundings(list(map(_Held, held, weights, said)), layout)
    )
    best_around = max(best, float(around.max(initial=0.0)) * most)
    chance = asked.chance(best_around, alone=choice * _long_replies(layout))
    chance_alone = None if layout.alone is None else asked.chance(best_alone, alone=choice)
    return Coverage(own, near, around, session, chance, chance_alone, most)


def _long_replies(layout: Layout) -> float:
    """How far what is in conversations is no turns, but long replies that are found by their own words."""
    turns = np.asarray(layout.turns)
    if turns.ndim and layout.alone is not None:
        turns = turns[np.logical_not(layout.alone)]
    return 1.0 - float(turns.mean()) if turns.size else 0.0


def _own_words(
    held: Sequence[Posting], weights: Sequence[float], layout: Layout, any_words: bool
) -> tuple[list[float], Array, NatsSaid]:
    """How often all records have each word, what each record's own words are worth, and how many nats those say."""
    lengths, worths = layout.by_length or by_length(layout.lengths, layout.live), layout.worths or Worths()
    found = [worths.of(one.word, one.docs, one.counts, lengths) for one in held]
    exact = [number_says(one.word, len(one.docs)) for one in held]
    there = In([one.docs for one in held], [one.values for one in found], len(layout.lengths))
    return [one.said for one in found], *nats_said(weights, exact, there, any_words)


def telling_of(nats: float) -> float:
    """How much the cue's words could say, as a number in [0, 1] that is .5 where a text with all of them says as much
    as is usual.

    >>> telling_of(40.0), telling_of(120.0)
    (0.5, 0.75)
    """
    return nats / (nats + USUAL_NATS)


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
            score[there] += weight * saturated(counts, held_back(long, average), by_chance)
        scores.append(score[windows.of_record])
    return scores
