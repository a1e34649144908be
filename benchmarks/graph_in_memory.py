"""A graph of names in lists, without a ledger: for measurements and tests of what propagation does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from adaptive_memory_core.graph.alike_names import at_least
from adaptive_memory_core.graph.build import Passage, word_key
from adaptive_memory_core.graph.ports import MOST_TITLED, SENTENCE_BITS, Array, Rows, SentenceKey, SentenceVectors

NONE: Array = np.empty(0, dtype=np.int64)


class GraphInMemory:
    """A graph of passages, numbered as they are given.

    >>> from adaptive_memory_core.graph.build import build_passage
    >>> nobody = lambda names: set()
    >>> met, left = build_passage("Ada met Bob.", None, nobody), build_passage("Bob left.", "Paris", nobody)
    >>> graph = GraphInMemory([met, left])
    >>> graph.frequencies(["bob", "ada", "eve"]), graph.titled(["paris"])["paris"].tolist()
    ({'bob': 2, 'ada': 1}, [1])
    >>> graph.names_in(graph.mentions("bob", most=9))
    {0: ('ada', 'bob'), 4096: ('bob', 'paris')}
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        vectors: Array | None = None,
        alike: Mapping[str, Mapping[str, float]] | None = None,
        spoken: SentenceVectors | None = None,
    ) -> None:
        self.passages = len(passages)
        self._alike = alike or {}
        self._mentions: dict[str, list[int]] = {}
        self._titled: dict[str, list[int]] = {}
        self._in: dict[str, set[int]] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        self._mentioned: dict[int, tuple[str, ...]] = {}
        self._sizes = [len(one.sentences) for one in passages]
        self._words: dict[int, Array] = {}
        self._frequencies: Counter[int] = Counter()
        for number, one in enumerate(passages):
            self._take_in(number, one)
        self.sentences = len(self._names)
        self._vectors, self._spoken = vectors, spoken

    def _take_in(self, number: int, one: Passage) -> None:
        title = () if one.title is None else (one.title,)
        if one.title is not None:
            self._titled.setdefault(one.title, []).append(number)
        for place, sentence in enumerate(one.sentences):
            key = number << SENTENCE_BITS | place
            self._mentioned[key] = sentence.names
            self._names[key] = tuple(dict.fromkeys((*sentence.names, *title)))
            for name in sentence.names:
                self._mentions.setdefault(name, []).append(key)
            for name in self._names[key]:
                self._in.setdefault(name, set()).add(number)
            found = [word_key(word) for word in sentence.words]
            self._words[key] = np.array(found, dtype=np.int64)
            self._frequencies.update(set(found))

    def frequencies(self, names: Collection[str]) -> Mapping[str, int]:
        return {name: len(self._in[name]) for name in names if name in self._in}

    def mentions(self, name: str, most: int) -> Array:
        return np.array(self._mentions.get(name, ())[-most:] if most else (), dtype=np.int64)

    def titled(self, names: Collection[str]) -> Mapping[str, Array]:
        found = {name: self._titled.get(name, []) for name in names}
        return {name: np.array(own if len(own) <= MOST_TITLED else [], dtype=np.int64) for name, own in found.items()}

    def sentences_of(self, passages: Array) -> Array:
        keys = [one << SENTENCE_BITS | place for one in passages.tolist() for place in range(self._sizes[one])]
        return np.array(keys, dtype=np.int64)

    def names_in(self, sentences: Array, *, titles: bool = True) -> Mapping[SentenceKey, Sequence[str]]:
        own = self._names if titles else self._mentioned
        return {key: own[key] for key in sentences.tolist()}

    def sentence_vectors(self, keys: Array | None, *, times: bool) -> SentenceVectors:
        """Those that were given; else the vector of each one's passage."""
        every = self._spoken or self._of_passages()
        if keys is None:
            return every
        places = np.searchsorted(every.keys, keys)
        own = None if every.times is None or not times else every.times[places]
        return SentenceVectors(keys, every.vectors[places], own)

    def _of_passages(self) -> SentenceVectors:
        keys = self.sentences_of(np.arange(self.passages))
        given = np.zeros((self.passages, 1)) if self._vectors is None else np.asarray(self._vectors, dtype=np.float64)
        units = given / np.maximum(np.linalg.norm(given, axis=1, keepdims=True), 1e-9)
        return SentenceVectors(keys, units[keys >> SENTENCE_BITS], None)

    def word_frequencies(self, words: Collection[int]) -> Mapping[int, int]:
        return {word: self._frequencies[word] for word in words if word in self._frequencies}

    def alike(self, names: Collection[str], least: float) -> Mapping[str, Mapping[str, float]]:
        return at_least({name: self._alike[name] for name in names if name in self._alike}, least)

    def rows(self, passages: Array) -> Rows:
        keys = self.sentences_of(passages)
        own = [self._words[key] for key in keys.tolist()]
        bounds = np.cumsum([0, *map(len, own)])
        owners = np.repeat(np.arange(len(passages)), [self._sizes[one] for one in passages.tolist()])
        vectors = None if self._vectors is None else self._vectors[passages]
        return Rows(keys, vectors, owners, np.concatenate(own) if own else NONE, bounds)
