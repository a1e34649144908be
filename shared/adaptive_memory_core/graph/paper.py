"""GAM-RAG's propagation (arXiv 2603.01783): equations 3 to 9 as published, one function each.

The paper leaves some points open. Here a question without entities uses all sentences at once ("directly propagate
with the learned weights"), and negative evidence, of sentences unlike the question, does not count. Ties go to the
sentence that was stored first, and to the first name in the alphabet. Propagation ends when the activated sentences
have no entity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from adaptive_memory_core.graph.ports import (
    SENTENCES,
    Array,
    GraphPort,
    PassageKey,
    PropagationResult,
    SentenceKey,
    Step,
    passage_of,
)
from adaptive_memory_core.learn.gain import Belief, JudgedSentence, QuestionVectors, SentenceMemory, recalled, weight
from adaptive_memory_core.policy.advanced import Graphs

NAMES = 5  # that a round goes on with
REACH = 1_000_000  # sentences in which a name is looked for: in practice all
NO_TIME = "[NO_TIME]"  # the time of a sentence that mentions none


class Weight(Protocol):
    """Eq. 4: a sentence's weight for the question, by its similarity and its vectors."""

    def __call__(self, key: SentenceKey, similarity: float, vector: Array, time: Array | None, /) -> float: ...


def without_memory(_key: SentenceKey, similarity: float, _vector: Array, _time: Array | None, /) -> float:
    return similarity


class Memories(NamedTuple):
    """Eq. 2 and 4: the feedback on each sentence, the unit vectors of the present question, and that of NO_TIME.

    >>> east = np.array([1.0, 0.0])
    >>> asked = QuestionVectors(east)
    >>> memories = Memories({7: [JudgedSentence(asked, supports=True)]}, asked, None, 0.001)
    >>> memories(8, 0.5, east, None), round(memories(7, 0.5, east, None), 2)
    (0.5, 0.83)
    """

    judged: Mapping[SentenceKey, Sequence[JudgedSentence]]
    asked: QuestionVectors
    no_time: Array
    process_noise: float

    def __call__(self, key: SentenceKey, similarity: float, vector: Array, time: Array | None, /) -> float:
        if key not in self.judged:
            return similarity
        belief = None if time is None else Belief(time if time.any() else self.no_time)
        first = SentenceMemory(Belief(vector), belief)
        memory = recalled(first, self.judged[key], process_noise=self.process_noise)
        return weight(similarity, memory, self.asked)


@dataclass(frozen=True, slots=True)
class PublishedQuestion:
    """A question: the graph's entities that it is linked to, with their similarities (eq. 3); its unit vector; the
    weight of a sentence for it; and whether it asks about a time."""

    names: Mapping[str, float]
    vector: Array
    weight: Weight = without_memory
    of_time: bool = False


def link(asked: Array, names: Sequence[str], vectors: Array) -> dict[str, float]:
    """Eq. 3: for each entity of the question the most similar one of the graph, with their cosine. Takes unit vectors.

    >>> link(np.array([[0.8, 0.6]]), ["ada", "bob"], np.array([[1.0, 0.0], [0.0, 1.0]]))
    {'ada': 0.8}
    """
    found: dict[str, float] = {}
    for likeness in np.asarray(asked) @ np.asarray(vectors).T if len(names) else ():
        best = int(np.argmax(likeness))
        found[names[best]] = max(found.get(names[best], -1.0), float(likeness[best]))
    return found


def given(mentions: Mapping[str, Array], active: Mapping[str, float]) -> dict[SentenceKey, float]:
    """Eq. 5: the sum that each sentence receives from the active names that it mentions.

    >>> given({"ada": np.array([1, 2]), "bob": np.array([2])}, {"ada": 1.0, "bob": 0.5})
    {1: 1.0, 2: 1.5}
    """
    received: dict[SentenceKey, float] = {}
    for name, keys in mentions.items():
        for key in keys.tolist():
            received[key] = received.get(key, 0.0) + active[name]
    return received


def normalised_scores(scores: Mapping[SentenceKey, float]) -> dict[SentenceKey, float]:
    """Eq. 6: the scores as shares of their sum.

    >>> normalised_scores({1: 3.0, 2: 1.0}), normalised_scores({1: 0.0})
    ({1: 0.75, 2: 0.25}, {1: 0.0})
    """
    total = sum(abs(score) for score in scores.values()) or 1.0
    return {key: score / total for key, score in scores.items()}


def bonus(top: Mapping[SentenceKey, float]) -> dict[PassageKey, float]:
    """Eq. 7: the sum of the activated sentences' scores, by passage.

    >>> bonus({4096: 0.5, 4097: 0.25, 8192: 0.25})
    {1: 0.75, 2: 0.25}
    """
    found: dict[PassageKey, float] = {}
    for key, score in top.items():
        found[passage_of(key)] = found.get(passage_of(key), 0.0) + score
    return found


def accumulated(bonuses: Sequence[float]) -> float:
    """The sum in eq. 8: a passage's bonuses of all rounds, with smaller weights for later rounds. The other term, the
    similarity times alpha, is `Fusion(method="sum", vectors=alpha)`.

    >>> round(accumulated([math.e - 1, 0.0, math.e - 1]), 9)
    1.333333333
    """
    return sum(math.log1p(max(0.0, one)) / number for number, one in enumerate(bonuses, start=1))


def reactivated(names: Mapping[SentenceKey, Sequence[str]], top: Mapping[SentenceKey, float]) -> dict[str, float]:
    """Eq. 9: for each name the mean score of the activated sentences that mention it.

    >>> reactivated({1: ["ada", "bob"], 2: ["ada"]}, {1: 0.75, 2: 0.25})
    {'ada': 0.5, 'bob': 0.75}
    """
    found: dict[str, list[float]] = {}
    for key, own in names.items():
        for name in own:
            found.setdefault(name, []).append(top[key])
    return {name: sum(scores) / len(scores) for name, scores in found.items()}


@dataclass
class _Walk:
    """The results of the rounds so far."""

    active: Mapping[str, float]
    bonuses: dict[PassageKey, list[float]] = field(default_factory=dict)
    rounds: list[Mapping[SentenceKey, float]] = field(default_factory=list)
    steps: dict[SentenceKey, Step] = field(default_factory=dict)
    found_through: dict[str, SentenceKey] = field(default_factory=dict)

    def add(self, top: Mapping[SentenceKey, float], mentions: Mapping[str, Array]) -> None:
        self.rounds.append(top)
        by = {key: name for name in reversed(list(mentions)) for key in mentions[name].tolist()}
        for key in top:
            name = by.get(key)
            found_through = None if name is None else self.found_through.get(name)
            self.steps.setdefault(key, Step(len(self.rounds), key, name, found_through))
        for one, sum_ in bonus(top).items():
            own = self.bonuses.setdefault(one, [])
            own += [0.0] * (len(self.rounds) - 1 - len(own)) + [sum_]

    def go_on(self, names: Mapping[SentenceKey, Sequence[str]], most: int) -> None:
        """Activate the best names of the sentences that the last round activated."""
        again = reactivated(names, self.rounds[-1])
        self.active = dict(sorted(again.items(), key=lambda one: (-one[1], one[0]))[:most])
        for key in self.rounds[-1]:
            for name in names.get(key, ()):
                self.found_through.setdefault(name, key)


def propagate_as_published(
    view: Callable[[], AbstractContextManager[GraphPort]],
    question: PublishedQuestion,
    settings: Graphs,
    suffices: Callable[[Sequence[SentenceKey]], bool] = lambda _: False,
) -> PropagationResult:
    """The passages that the question leads to, in `settings.rounds` rounds, or fewer if `suffices` accepts the
    sentences that a round activated. The view of the graph is closed while `suffices` is called."""
    walk = _Walk(question.names)
    for number in range(1, settings.rounds + 1):
        with view() as graph:
            top = _one_round(graph, question, walk)
        if number == settings.rounds or not walk.active or suffices(list(top)):
            break
    return PropagationResult({one: accumulated(own) for one, own in walk.bonuses.items()}, walk.rounds, walk.steps)


def _one_round(graph: GraphPort, question: PublishedQuestion, walk: _Walk) -> Mapping[SentenceKey, float]:
    mentions = {name: graph.mentions(name, most=REACH) for name in walk.active}
    received = given(mentions, walk.active)
    weights = _weights(graph, question, np.array(sorted(received), dtype=np.int64) if walk.active else None)
    scores = normalised_scores({key: one * received.get(key, 1.0) for key, one in weights.items()})
    top = dict(sorted(scores.items(), key=lambda one: (-one[1], one[0]))[:SENTENCES])
    walk.add(top, mentions)
    walk.go_on(graph.names_in(np.array(list(top), dtype=np.int64), titles=False), NAMES)
    return top


def _weights(graph: GraphPort, question: PublishedQuestion, keys: Array | None) -> dict[SentenceKey, float]:
    """The weight of each sentence for the question; of all sentences if `keys` is None."""
    found = graph.sentence_vectors(keys, times=question.of_time)
    if not len(found.keys):
        return {}
    close = (found.vectors @ question.vector).tolist()
    times: Sequence[Array | None] = [None] * len(close) if found.times is None else found.times
    rows = zip(found.keys.tolist(), close, found.vectors, times, strict=True)
    return {key: question.weight(key, similarity, vector, time) for key, similarity, vector, time in rows}
