"""Which ways of learning from verdicts are compared? Over the same vectors: none, GAM-RAG's, and ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.learn.asked_before import (
    BEHIND,
    RatedQuestions,
    ahead_of_others,
    fallen_behind,
    gained,
    median_baseline,
    question_evidence,
)
from adaptive_memory_core.learn.gain import FIRST_UNCERTAINTY, Belief, updated
from adaptive_memory_core.policy import Graphs
from benchmarks.rot import Clock

Items = Mapping[str, Any]
START, HOUR = 1_760_000_000.0, 3_600.0
CANDIDATES = 20  # of a recall


class Asked(NamedTuple):
    """A question in words and as a vector."""

    text: str
    vector: Any


class Form(Protocol):
    """It ranks the items for a question, and hears which were helpful for it."""

    def ranked(self, asked: Asked) -> Sequence[str]: ...
    def judge(self, asked: Asked, verdicts: Mapping[str, bool]) -> None: ...


class Paper:
    """GAM-RAG's task memory: equations 4 and 10 to 13, on items in the place of sentences."""

    def __init__(self, items: Items) -> None:
        self._ids, self._vectors = list(items), np.array(list(items.values()))
        self._memory = self._vectors.copy()
        self._uncertainty = np.full(len(self._ids), FIRST_UNCERTAINTY)

    def ranked(self, asked: Asked) -> Sequence[str]:
        gates = 1.0 + (1.0 - self._uncertainty) * (self._memory @ asked.vector)
        return _best_first(self._ids, (self._vectors @ asked.vector) * gates)

    def judge(self, asked: Asked, verdicts: Mapping[str, bool]) -> None:
        for item, helpful in verdicts.items():
            at = self._ids.index(item)
            belief = Belief(self._memory[at], float(self._uncertainty[at]))
            after = updated(belief, asked.vector, supports=helpful, process_noise=Graphs().process_noise)
            self._memory[at], self._uncertainty[at] = after


class Ours:
    """What `Learning.similar_questions` does, with the similarity from the baseline as relevance."""

    def __init__(self, items: Items) -> None:
        self._ids, self._vectors = list(items), np.array(list(items.values()))
        self._questions: list[Any] = []
        self._verdicts: list[tuple[int, int, int, int, float]] = []  # item, question, helpful, unhelpful, ahead
        self._known: RatedQuestions | None = None

    def ranked(self, asked: Asked) -> Sequence[str]:
        baseline, standings = self._standings(asked)
        if self._known is None and self._verdicts:
            records, rows, good, bad, ahead = zip(*self._verdicts, strict=True)
            vectors = np.array(self._questions)
            self._known = RatedQuestions(self._ids, vectors, records, rows, good, bad, ahead=np.array(ahead))
        if self._known is None:
            return _best_first(self._ids, standings)
        then = np.zeros(len(self._ids))
        said = {self._ids.index(one): it for one, it in question_evidence(self._known, asked.vector, baseline).items()}
        for at, one in said.items():
            then[at] = one.ahead
        fallen, by = fallen_behind(standings.tolist(), then.tolist()), np.zeros(len(self._ids))
        for at, one in said.items():
            near = max(0.0, one.near - BEHIND * fallen[at])
            by[at] = gained(float(standings[at]), near, one.trusted, one.against, 1.0)
        return _best_first(self._ids, standings + by)

    def judge(self, asked: Asked, verdicts: Mapping[str, bool]) -> None:
        number, self._known = len(self._questions), None
        self._questions.append(asked.vector)
        ahead = ahead_of_others(self._standings(asked)[1].tolist())
        for item, helpful in verdicts.items():
            at = self._ids.index(item)
            self._verdicts.append((at, number, int(helpful), int(not helpful), ahead[at]))

    def _standings(self, asked: Asked) -> tuple[float, Any]:
        """The baseline of the candidates, and all similarities measured from it."""
        similarities = self._vectors @ asked.vector
        baseline = median_baseline(np.sort(similarities)[-CANDIDATES:].tolist())
        return baseline, (similarities - baseline) / (1.0 - baseline)


class OfMemory:
    """A memory as users have it: recalls that are read, an hour apart, and feedback."""

    def __init__(self, memory: AdaptiveMemory, clock: Clock, policy: Policy) -> None:
        self._user, self._clock, self._policy = memory.for_user("a reader"), clock, policy

    def ranked(self, asked: Asked) -> Sequence[str]:
        return self._user.recall(asked.text, k=5, policy=self._policy, reinforce=False).ids

    def judge(self, asked: Asked, verdicts: Mapping[str, bool]) -> None:
        self._clock.now += HOUR
        found = self._user.recall(asked.text, k=5, policy=self._policy)
        good, bad = ([one for one in found.ids if verdicts.get(one) is helpful] for helpful in (True, False))
        self._user.feedback(found, helpful=good, unhelpful=bad)


def _best_first(ids: Sequence[str], scores: Any) -> list[str]:
    return [ids[at] for at in np.argsort(-scores, kind="stable").tolist()]


FORMS: dict[str, Callable[[Items], Form]] = {"paper": Paper, "ours": Ours}
