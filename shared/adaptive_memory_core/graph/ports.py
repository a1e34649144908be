"""The interface of a graph: the neighbours of active names, and the data for weighting sentences."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from adaptive_memory_core.score.surprise import UNMEASURED, Baseline

Array = Any
MOST_TITLED = 20  # passages of one title; guess
SENTENCES = 3  # activated per round, as in the paper; our form adds the best one of each name left out
REACH = 1_000  # sentences that a round reads, those of rare names first; a sweep: docs/research/graph.md
MOST_PLACES = 40  # sentences of a passage that have a memory: a number of 40 bits is stored exactly everywhere
SENTENCE_BITS = 12  # of a sentence's number, for its place in its passage
SentenceKey = int  # passage << SENTENCE_BITS | place
PassageKey = int


class Rows(NamedTuple):
    """The data for weighting sentences, in the order of their `keys`: the vectors of their passages (`owners` gives the
    index), and the keys of all their words, divided at `bounds`. A passage's vector represents its sentences: separate
    vectors would cost more and found nothing more (docs/research/graph.md)."""

    keys: Array
    vectors: Array | None
    owners: Array
    words: Array
    bounds: Array

    def of(self, keys: Array, values: Array) -> Array:
        """The values of these sentences; 0 for a sentence that was removed in the meantime.

        >>> none = np.array([])
        >>> Rows(np.array([5, 7]), None, none, none, none).of(np.array([7, 8]), np.array([0.5, 0.25])).tolist()
        [0.25, 0.0]
        """
        if not len(self.keys):
            return np.zeros(len(keys))
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found: Array = np.where(self.keys[places] == keys, values[places], 0.0)
        return found


class SentenceVectors(NamedTuple):
    """Sentences with their unit vectors, and the unit vectors of the times they mention. A sentence without a time has
    zeros; `times` is None if it was not requested."""

    keys: Array
    vectors: Array
    times: Array | None


class Alike(NamedTuple):
    """The name that another one is similar to, and the similarity, in [0, 1]."""

    of: str
    likeness: float


class GraphPort(Protocol):
    """Entities, sentences and passages of one scope. Only the neighbours of active names are requested."""

    @property
    def passages(self) -> int: ...
    @property
    def sentences(self) -> int: ...
    def frequencies(self, names: Collection[str]) -> Mapping[str, int]:
        """The number of passages that contain each name; unknown names are left out."""

    def mentions(self, name: str, most: int) -> Array:
        """The keys of the sentences that mention the name: at most `most`, the latest."""

    def titled(self, names: Collection[str]) -> Mapping[str, Array]:
        """The keys of the passages that have each name as their title. A title of more than MOST_TITLED passages gives
        none, because it does not identify any of them."""

    def sentences_of(self, passages: Array) -> Array:
        """The keys of all sentences of these passages."""

    def names_in(self, sentences: Array, *, titles: bool = True) -> Mapping[SentenceKey, Sequence[str]]:
        """The names that each sentence mentions, and with `titles` the title of its passage."""

    def sentence_vectors(self, keys: Array | None, *, times: bool) -> SentenceVectors:
        """The vectors of these sentences, or of all if `keys` is None. Sentences without vectors are left out."""

    def word_frequencies(self, words: Collection[int]) -> Mapping[int, int]:
        """The number of sentences that contain each word."""

    def rows(self, passages: Array) -> Rows:
        """All sentences of these passages."""

    def alike(self, names: Collection[str], least: float) -> Mapping[str, Mapping[str, float]]:
        """The names that may be the same as each of these, with their similarities, which are at least `least`."""


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """A question: the names that it links to, its vector, the keys of its words, and the passages that other channels
    found. `lifts` are learned bonuses of sentences, `alike` the names that are only similar to a name in the question,
    and `baseline` is the similarity of unrelated records."""

    names: Mapping[str, float]
    vector: Array | None
    words: Collection[int]
    seeds: Mapping[PassageKey, float] = field(default_factory=dict)
    lifts: Mapping[SentenceKey, float] = field(default_factory=dict)
    alike: Mapping[str, Alike] = field(default_factory=dict)
    baseline: Baseline = UNMEASURED


class Step(NamedTuple):
    """How a sentence was reached: by a name, which in later rounds came from another sentence."""

    round: int
    sentence: SentenceKey
    name: str | None
    found_through: SentenceKey | None


@dataclass(frozen=True, slots=True)
class PropagationResult:
    """The result of propagation: a score for each passage that was reached, the activated sentences of each round with
    their scores, how each was reached, and the similar names that were used."""

    passages: Mapping[PassageKey, float]
    rounds: Sequence[Mapping[SentenceKey, float]]
    steps: Mapping[SentenceKey, Step]
    alike: Mapping[str, Alike] = field(default_factory=dict)


def passage_of(sentence: SentenceKey) -> PassageKey:
    """
    >>> passage_of(5 << SENTENCE_BITS | 3)
    5
    """
    return sentence >> SENTENCE_BITS


def place_in_passage(sentence: SentenceKey) -> int:
    """The position of a sentence in its passage.

    >>> place_in_passage(5 << SENTENCE_BITS | 3)
    3
    """
    return sentence & ((1 << SENTENCE_BITS) - 1)


def places_in(bits: int) -> list[int]:
    """The positions whose bits are set.

    >>> places_in(0b101)
    [0, 2]
    """
    return [place for place in range(MOST_PLACES) if bits >> place & 1]
