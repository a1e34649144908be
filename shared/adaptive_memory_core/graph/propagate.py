"""Propagation from a question's names to sentences, and from these to passages and further names.

This is our form of GAM-RAG's propagation (`paper.py` has the paper's). Rare names count more, and scores are shares of
the best. Each sentence and each of the question's names is used once. A name leads to the passage with that title.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from adaptive_memory_core.graph.alike_names import alike_of_untitled, sentence_weights, with_alike
from adaptive_memory_core.graph.ports import (
    REACH,
    SENTENCE_BITS,
    SENTENCES,
    Alike,
    Array,
    GraphPort,
    GraphQuery,
    PassageKey,
    PropagationResult,
    SentenceKey,
    Step,
    passage_of,
)
from adaptive_memory_core.policy.advanced import Graphs

# Swept in docs/research/graph.md
NAMES = 20  # that the next round uses; 8 loses 0.02, the paper has 5
RARE = 2.0  # power of how rare a name is; 1 is as good, 0 loses 0.027
TITLE = 0.3  # for a passage titled by a name in the question
TITLE_EDGE = 1.0  # added for the sentences of a passage if the name is its title
SEED = 0.6  # that sentences of passages found by other channels receive in round 1
UNLIKE = 0.1  # weight of a sentence unrelated to the question; 0 to 0.2 give similar results
NAMELESS = 0.2  # trust in the graph for a question without names; guess


def rarity(frequency: int, passages: int) -> float:
    """The rarity of a name, in (0, 1]: 1 if only one passage mentions it.

    >>> rarity(1, 100), round(rarity(100, 100), 2)
    (1.0, 0.15)
    """
    return math.log1p(passages / max(1, frequency)) / math.log1p(max(1, passages))


def trust(graph: GraphPort, question: GraphQuery) -> float:
    """The trust in the passages found, in [0, 1], by the rarest of the question's names. A name in most records, such
    as a speaker's, gives hardly any trust. A question without names depends on what other channels found.
    """
    known = graph.frequencies(question.names)
    worths = [question.names[name] * rarity(frequency, graph.passages) ** RARE for name, frequency in known.items()]
    return max(worths, default=NAMELESS)


@dataclass
class _Walk:
    """The results of the rounds so far."""

    scores: dict[PassageKey, float] = field(default_factory=dict)
    rounds: list[Mapping[SentenceKey, float]] = field(default_factory=list)
    steps: dict[SentenceKey, Step] = field(default_factory=dict)
    found_through: dict[str, SentenceKey] = field(default_factory=dict)
    begins: dict[str, str] = field(default_factory=dict)  # by active name, the question's name that led to it
    alike: dict[str, Alike] = field(default_factory=dict)  # by similar name that was used

    def begin_of(self, name: str | None) -> str | None:
        return None if name is None else self.begins.get(name)

    def add(self, number: int, top: Mapping[SentenceKey, float], reached: Mapping[SentenceKey, str | None]) -> None:
        bonus: dict[PassageKey, float] = {}
        for key, score in top.items():
            bonus[passage_of(key)] = bonus.get(passage_of(key), 0.0) + score
            name = reached.get(key)
            self.steps[key] = Step(number, key, name, None if name is None else self.found_through.get(name))
        for one, sum_ in bonus.items():
            self.scores[one] = self.scores.get(one, 0.0) + math.log1p(sum_) / number
        self.rounds.append(top)


def propagate(graph: GraphPort, question: GraphQuery, settings: Graphs) -> PropagationResult:
    """The passages that the question's names lead to, in at most `settings.rounds` rounds."""
    asked = {name: question.alike[name].of if name in question.alike else name for name in question.names}
    walk = _Walk(scores=_titles(graph, question), begins=asked, alike=dict(question.alike))
    frequencies = graph.word_frequencies(question.words)
    active: Mapping[str, float] = question.names
    for number in range(1, settings.rounds + 1):
        keys, reached, by = _reached(graph, active)
        if number == 1:
            keys, reached = _seeded(graph, question, keys, reached)
        fresh = np.isin(keys, list(walk.steps), invert=True)
        keys, reached = keys[fresh], reached[fresh]
        if not len(keys):
            break
        begins = [walk.begin_of(by.get(key)) for key in keys.tolist()]
        weights = sentence_weights(graph, question, frequencies, keys, least=UNLIKE)
        top = best_sentences(keys, reached * weights, begins, SENTENCES)
        if not top:
            break
        walk.add(number, top, {key: by.get(key) for key in top})
        active = _next_names(graph, top, question, settings, walk)
    return PropagationResult(walk.scores, walk.rounds, walk.steps, walk.alike)


def _titles(graph: GraphPort, question: GraphQuery) -> dict[PassageKey, float]:
    """The score of each passage whose title is a name in the question."""
    known = graph.frequencies(question.names)
    scores: dict[PassageKey, float] = {}
    for name, passages in graph.titled(known).items():
        for one in passages.tolist():
            scores[one] = scores.get(one, 0.0) + question.names[name] * TITLE * rarity(known[name], graph.passages)
    return scores


def _reached(graph: GraphPort, active: Mapping[str, float]) -> tuple[Array, Array, dict[int, str]]:
    """The sentences next to the active names, the sum that each receives, and the name that gives it the most."""
    known = graph.frequencies(active)
    titled = graph.titled(known)
    parts: list[tuple[str, Array, float]] = []
    room = REACH
    for name, frequency in sorted(known.items(), key=lambda one: (one[1], one[0])):
        gives = active[name] * rarity(frequency, graph.passages) ** RARE
        below = graph.sentences_of(titled[name])
        parts.append((name, np.union1d(graph.mentions(name, most=max(room, 0)), below), gives))
        parts.append((name, below, TITLE_EDGE * gives))
        room -= len(parts[-2][1])
    parts = [part for part in parts if len(part[1])]
    if not parts:
        return np.empty(0, dtype=np.int64), np.empty(0), {}
    together = np.concatenate([keys for _, keys, _ in parts])
    keys, places = np.unique(together, return_inverse=True)
    given = np.concatenate([np.full(len(own), gives) for _, own, gives in parts])
    by: dict[int, str] = {}
    for name, own, _ in sorted(parts, key=lambda part: (part[2], part[0])):
        by.update(dict.fromkeys(own.tolist(), name))
    return keys, np.bincount(places, weights=given, minlength=len(keys)), by


def _seeded(graph: GraphPort, question: GraphQuery, keys: Array, reached: Array) -> tuple[Array, Array]:
    """Add the sentences of passages that other channels found: the only ones for a question without names."""
    if not question.seeds:
        return keys, reached
    below = graph.sentences_of(np.array(sorted(question.seeds), dtype=np.int64))
    given = np.array([SEED * question.seeds[key >> SENTENCE_BITS] for key in below.tolist()])
    every, places = np.unique(np.concatenate((keys, below)), return_inverse=True)
    return every, np.bincount(places, weights=np.concatenate((reached, given)), minlength=len(every))


def _next_names(
    graph: GraphPort, top: Mapping[SentenceKey, float], question: GraphQuery, settings: Graphs, walk: _Walk
) -> dict[str, float]:
    """The best new names with the mean score of the activated sentences that mention each (eq. 9). Ties, e.g. of all
    names of one sentence, go to the longer names, which are more specific."""
    found: dict[str, list[tuple[float, SentenceKey]]] = {}
    for key, names in graph.names_in(np.array(list(top), dtype=np.int64)).items():
        for name in names:
            if name not in question.names:
                found.setdefault(name, []).append((top[key], key))
    means = {name: sum(score for score, _ in own) / len(own) for name, own in found.items()}
    best = dict(sorted(means.items(), key=lambda one: (-round(one[1], 6), -len(one[0]), one[0]))[:NAMES])
    for name in best:
        sentence = max(found[name])[1]
        walk.found_through.setdefault(name, sentence)
        begin = walk.begin_of(walk.steps[sentence].name)
        if begin is not None:
            walk.begins.setdefault(name, begin)
    return best if settings.names_alike == 0.0 else _and_alike(graph, best, question, settings, walk)


def _and_alike(
    graph: GraphPort, best: Mapping[str, float], question: GraphQuery, settings: Graphs, walk: _Walk
) -> dict[str, float]:
    """The names for the next round and their similar names, which come from the same sentences."""
    names, alike = with_alike(best, alike_of_untitled(graph, best, settings.names_alike), without=question.names)
    for name, taken in alike.items():
        walk.alike.setdefault(name, taken)
        walk.found_through.setdefault(name, walk.found_through[taken.of])
        if taken.of in walk.begins:
            walk.begins.setdefault(name, walk.begins[taken.of])
    return names


def best_sentences(keys: Array, scores: Array, begins: Sequence[str | None], most: int) -> dict[SentenceKey, float]:
    """The `most` best sentences, as shares of the best. For each name in the question that led to none of these, its
    best sentence is added, so that a question about two things finds both. `begins` is the name behind each sentence.

    >>> best_sentences(np.array([7, 8, 9]), np.array([4.0, 3.0, 1.0]), ["ada", "ada", "bob"], 1)
    {7: 1.0, 9: 0.25}
    >>> best_sentences(np.array([7, 8, 9]), np.array([4.0, 3.0, 0.0]), ["ada", None, "bob"], 1)
    {7: 1.0}
    """
    order = np.argsort(-scores, kind="stable").tolist()
    greatest = float(scores[order[0]])
    if greatest <= 0.0:
        return {}
    chosen, missing = order[:most], set(begins) - {begins[one] for one in order[:most]} - {None}
    for one in order[most:]:
        if not missing:
            break
        if begins[one] in missing:
            missing.discard(begins[one])
            chosen.append(one)
    return {int(keys[one]): float(scores[one]) / greatest for one in chosen if scores[one] > 0.0}
