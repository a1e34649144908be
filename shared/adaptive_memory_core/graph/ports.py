"""What must a graph be able to answer? The neighbours of what is active, and what is needed to weigh sentences."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from adaptive_memory_core.score.surprise import UNMEASURED, Baseline

Array = Any
MOST_TITLED = 20  # passages of one title; guess
SENTENCES = 3  # that a round activates, and in our form the best of each name that these leave out; the paper
REACH = 1_000  # sentences that a round looks at, those of rare names first; a sweep: docs/research/graph.md
MOST_PLACES = 40  # sentences of a passage that have a memory: so many bits stay exact wherever they are kept
SENTENCE_BITS = 12  # of a sentence's number, for its place in its passage
SentenceKey = int  # passage << SENTENCE_BITS | place
PassageKey = int


class Rows(NamedTuple):
    """What sentences are weighed by, in the order of their `keys`: the vector of the passage that each is in (`owners`
    says which), and the keys of their words one after the other, cut at `bounds`. A passage's vector represents its
    sentences: separate vectors would have to be made and found nothing more (docs/research/graph.md)."""

    keys: Array
    vectors: Array | None
    owners: Array
    words: Array
    bounds: Array

    def of(self, keys: Array, values: Array) -> Array:
        """The values of these sentences; 0 for one that is not there, since somebody else has just removed it.

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
    """Sentences with their unit vectors, and those of the times that they say: zeros for none; None if not asked."""

    keys: Array
    vectors: Array
    times: Array | None


class Alike(NamedTuple):
    """A name that is taken for another one, and how like it is, in [0, 1]."""

    of: str
    likeness: float


class GraphPort(Protocol):
    """Entities, sentences and passages of one scope. Only neighbours of what is active are asked for."""

    @property
    def passages(self) -> int: ...
    @property
    def sentences(self) -> int: ...
    def frequencies(self, names: Collection[str]) -> Mapping[str, int]:
        """In how many passages each of these names is; those that are not known are left out."""

    def mentions(self, name: str, most: int) -> Array:
        """The keys of the sentences that mention the name: of more than so many, the latest."""

    def titled(self, names: Collection[str]) -> Mapping[str, Array]:
        """The keys of the passages that have each name as their title; none for a title that more than MOST_TITLED
        have, since such a title does not identify any of them."""

    def sentences_of(self, passages: Array) -> Array:
        """The keys of all sentences of these passages."""

    def names_in(self, sentences: Array, *, titles: bool = True) -> Mapping[SentenceKey, Sequence[str]]:
        """The names that each sentence mentions, and the title of its passage."""

    def sentence_vectors(self, keys: Array | None, *, times: bool) -> SentenceVectors:
        """Of these sentences, or of all, those that have vectors."""

    def word_frequencies(self, words: Collection[int]) -> Mapping[int, int]:
        """In how many sentences each word is."""

    def rows(self, passages: Array) -> Rows:
        """All sentences of these passages."""

    def alike(self, names: Collection[str], least: float) -> Mapping[str, Mapping[str, float]]:
        """The names that may be the same as each of these, with how like it they are: at least so much."""


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """What is asked: the names that it links to, its vector, the keys of its words, the passages that other channels
    found, and what was learned of sentences, 0 for nothing. `alike` says which of its names are taken for another one,
    and `baseline` how similar unrelated records are to it."""

    names: Mapping[str, float]
    vector: Array | None
    words: Collection[int]
    seeds: Mapping[PassageKey, float] = field(default_factory=dict)
    lifts: Mapping[SentenceKey, float] = field(default_factory=dict)
    alike: Mapping[str, Alike] = field(default_factory=dict)
    baseline: Baseline = UNMEASURED


class Step(NamedTuple):
    """How a sentence was reached: by a name, which for a later round came from another sentence."""

    round: int
    sentence: SentenceKey
    name: str | None
    came_from: SentenceKey | None


@dataclass(frozen=True, slots=True)
class PropagationResult:
    """What propagation found: a number for each passage that was reached, the sentences that were activated in each
    round with their scores, how each was reached, and which names were taken for others on the way."""

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
    """Of a sentence in its passage.

    >>> place_in_passage(5 << SENTENCE_BITS | 3)
    3
    """
    return sentence & ((1 << SENTENCE_BITS) - 1)


def places_in(bits: int) -> list[int]:
    """The places whose bits are set.

    >>> places_in(0b101)
    [0, 2]
    """
    return [place for place in range(MOST_PLACES) if bits >> place & 1]
