"""Which ways of learning from verdicts are compared? Over the same vectors: none, GAM-RAG's, and ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.learn.asked_before import Questions, gained, told
from adaptive_memory_core.learn.gain import Belief, updated
from adaptive_memory_core.policy.asked_before import AskedBefore
from adaptive_memory_core.policy.gain import Gain
from benchmarks.rot import Clock

Items = Mapping[str, Any]
START, HOUR = 1_760_000_000.0, 3_600.0


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
        self._uncertainty = np.full(len(self._ids), Gain().first_uncertainty)

    def ranked(self, asked: Asked) -> Sequence[str]:
        gates = 1.0 + (1.0 - self._uncertainty) * (self._memory @ asked.vector)
        return _best_first(self._ids, (self._vectors @ asked.vector) * gates)

    def judge(self, asked: Asked, verdicts: Mapping[str, bool]) -> None:
        for item, helpful in verdicts.items():
            at = self._ids.index(item)
            belief = Belief(self._memory[at], float(self._uncertainty[at]))
            self._memory[at], self._uncertainty[at] = updated(belief, asked.vector, supports=helpful, noise=Gain())


class Ours:
    """What `Policy.asked_before` does, with at most so many questions an item as that says."""

    def __init__(self, items: Items, numbers: AskedBefore | None = None) -> None:
        self._numbers = AskedBefore() if numbers is None else numbers
        self._ids, self._vectors = list(items), np.array(list(items.values()))
        self._questions: list[Any] = []
        self._verdicts: list[tuple[int, int, int, int, float]] = []  # item, question, helpful, unhelpful, ahead
        self._known: Questions | None = None

    def ranked(self, asked: Asked) -> Sequence[str]:
        question = asked.vector
        relevance = self._vectors @ question
        if self._known is None and self._verdicts:
            records, rows, good, bad, ahead = zip(*self._verdicts, strict=True)
            vectors = np.array(self._questions)
            self._known = Questions(self._ids, vectors, records, rows, good, bad, ahead=np.array(ahead))
        if self._known is not None:
            return _best_first(self._ids, relevance + self._gained(question, relevance))
        return _best_first(self._ids, relevance)

    def _gained(self, question: Any, relevance: Any) -> Any:
        by = np.zeros(len(relevance))
        first, second = np.sort(relevance)[:-3:-1].tolist()
        for item, said in told(self._known, question, self._numbers).items():  # type: ignore[arg-type]
            at = self._ids.index(item)
            own = float(relevance[at])
            fallen = max(0.0, 2.0 * said.ahead - 1.0 - own + (second if own == first else first))
            near = max(0.0, said.near - self._numbers.behind * fallen)
            by[at] = gained(own, near, said.trusted, said.against, self._numbers)
        return by

    def judge(self, asked: Asked, verdicts: Mapping[str, bool]) -> None:
        number, self._known = len(self._questions), None
        self._questions.append(asked.vector)
        near = self._vectors @ asked.vector
        first, second = np.sort(near)[:-3:-1].tolist()
        for item, helpful in verdicts.items():
            at = self._ids.index(item)
            ahead = float(near[at]) - (second if near[at] == first else first)
            self._verdicts.append((at, number, int(helpful), int(not helpful), ahead))


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
