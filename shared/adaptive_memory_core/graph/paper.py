"""How does the paper propagate? Equations 3 to 9 of GAM-RAG (arXiv 2603.01783), as they stand, one function each.

Where the paper leaves something open: a question without names goes through the sentences of the passages that other
channels found ("directly propagate with the learned weights"), and a passage's vector stands for its sentences'.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from adaptive_memory_core.graph.likeness import cosines
from adaptive_memory_core.graph.ports import (
    SENTENCE_BITS,
    Array,
    Evidence,
    Graph,
    PassageKey,
    Question,
    SentenceKey,
    Step,
    passage_of,
)
from adaptive_memory_core.policy.graph import Graphs

PRIOR = 0.01  # alpha of equation 8
NAMES = 5  # of a round


def link(asked: Sequence[Array], names: Sequence[str], vectors: Array) -> dict[str, float]:
    """Eq. 3: for each name in the question the most similar one of the graph, with how similar it is.

    >>> link([np.array([1.0, 0.1])], ["ada", "bob"], np.array([[1.0, 0.0], [0.0, 1.0]]))
    {'ada': 1.0}
    """
    found: dict[str, float] = {}
    for one in asked:
        likeness = vectors @ (one / max(float(np.linalg.norm(one)), 1e-9))
        best = int(np.argmax(likeness))
        found[names[best]] = max(found.get(names[best], -1.0), round(float(likeness[best]), 2))
    return found


def gate(uncertainty: float, likeness: float) -> float:
    """Eq. 4: how far a sentence's memory opens it to a question.

    >>> gate(1.0, 0.9), gate(0.5, 0.8)
    (1.0, 1.4)
    """
    return 1.0 + (1.0 - uncertainty) * likeness


def given(mentions: Mapping[str, Array], active: Mapping[str, float]) -> dict[SentenceKey, float]:
    """Eq. 5: what each sentence receives from the active names that it mentions.

    >>> given({"ada": np.array([1, 2]), "bob": np.array([2])}, {"ada": 1.0, "bob": 0.5})
    {1: 1.0, 2: 1.5}
    """
    received: dict[SentenceKey, float] = {}
    for name, keys in mentions.items():
        for key in keys.tolist():
            received[key] = received.get(key, 0.0) + active[name]
    return received


def normalised(scores: Mapping[SentenceKey, float]) -> dict[SentenceKey, float]:
    """Eq. 6: as shares of their sum.

    >>> normalised({1: 3.0, 2: 1.0}), normalised({1: 0.0})
    ({1: 0.75, 2: 0.25}, {1: 0.0})
    """
    total = sum(abs(score) for score in scores.values()) or 1.0
    return {key: score / total for key, score in scores.items()}


def bonus(top: Mapping[SentenceKey, float]) -> dict[PassageKey, float]:
    """Eq. 7: what each passage has of the activated sentences in it.

    >>> bonus({4096: 0.5, 4097: 0.25, 8192: 0.25})
    {1: 0.75, 2: 0.25}
    """
    found: dict[PassageKey, float] = {}
    for key, score in top.items():
        found[passage_of(key)] = found.get(passage_of(key), 0.0) + score
    return found


def passage_score(similarity: float, bonuses: Sequence[float], *, prior: float) -> float:
    """Eq. 8: its similarity times the prior, and what each round gave, later ones less.

    >>> round(passage_score(0.5, [math.e - 1, 0.0], prior=0.1), 9)
    1.05
    """
    return prior * similarity + sum(math.log1p(one) / number for number, one in enumerate(bonuses, start=1))


def reactivated(names: Mapping[SentenceKey, Sequence[str]], top: Mapping[SentenceKey, float]) -> dict[str, float]:
    """Eq. 9: of each name the mean score of the activated sentences that mention it.

    >>> reactivated({1: ["ada", "bob"], 2: ["ada"]}, {1: 0.75, 2: 0.25})
    {'ada': 0.5, 'bob': 0.75}
    """
    found: dict[str, list[float]] = {}
    for key, own in names.items():
        for name in own:
            found.setdefault(name, []).append(top[key])
    return {name: sum(scores) / len(scores) for name, scores in found.items()}


def propagate_as_published(graph: Graph, question: Question, settings: Graphs) -> Evidence:
    """The passages that the question leads to, after `settings.rounds` rounds. Their similarities (the prior of eq. 8)
    are the caller's to add; `question.gates` are the products of eq. 4, for sentences that have a memory."""
    active: Mapping[str, float] = question.names
    bonuses: dict[PassageKey, list[float]] = {}
    rounds: list[Mapping[SentenceKey, float]] = []
    steps: dict[SentenceKey, Step] = {}
    for number in range(settings.rounds):
        mentions = {name: graph.mentions(name, most=settings.reach) for name in active}
        received = given(mentions, active) or _without_names(graph, question, number)
        weights = _weights(graph, question, np.array(sorted(received), dtype=np.int64))
        scores = normalised({key: weights[key] * one for key, one in received.items()})
        top = dict(sorted(scores.items(), key=lambda one: -one[1])[: settings.sentences])
        for key in top:
            name = next((one for one, keys in mentions.items() if key in keys), None)
            steps.setdefault(key, Step(number + 1, key, name, None))
        for one, sum_ in bonus(top).items():
            bonuses.setdefault(one, [0.0] * settings.rounds)[number] = max(0.0, sum_)
        rounds.append(top)
        again = reactivated(graph.names_in(np.array(list(top), dtype=np.int64)), top)
        active = dict(sorted(again.items(), key=lambda one: -one[1])[:NAMES])
    scores_ = {one: passage_score(0.0, own, prior=0.0) for one, own in bonuses.items()}
    return Evidence(scores_, rounds, steps)


def _without_names(graph: Graph, question: Question, number: int) -> dict[SentenceKey, float]:
    if number or not question.seeds:
        return {}
    keys = graph.sentences_of(np.array(sorted(question.seeds), dtype=np.int64))
    return dict.fromkeys(keys.tolist(), 1.0)


def _weights(graph: Graph, question: Question, keys: Array) -> dict[SentenceKey, float]:
    rows = graph.rows(np.unique(keys >> SENTENCE_BITS))
    close = rows.of(keys, cosines(question.vector, rows))
    return {key: one * question.gates.get(key, 1.0) for key, one in zip(keys.tolist(), close.tolist(), strict=True)}
