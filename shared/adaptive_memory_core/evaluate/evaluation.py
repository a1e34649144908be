"""How good are recalls on questions whose answers are known? Recall@k, NDCG@k and hit@1, with intervals."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field

from adaptive_memory_core.evaluate.intervals import Interval, bootstrap
from adaptive_memory_core.evaluate.metrics import hit_rate_at, mean, ndcg_at, recall_at
from adaptive_memory_core.evaluate.worth import Example, Worth
from adaptive_memory_core.flow.labelled_questions import AskedQuestion
from adaptive_memory_core.policy.policy import Policy

SEED = 18  # of the intervals
Measure = Callable[[Sequence[str], Collection[str], int], float]
MEASURES: dict[str, Measure] = {
    "recall@{}": lambda ranking, gold, k: recall_at(ranking, gold, k=k),
    "NDCG@{}": lambda ranking, gold, k: ndcg_at(ranking, gold, k=k),
    "hit@1": lambda ranking, gold, _: hit_rate_at(ranking, gold, k=1),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """The mean of one measure over the questions, with its interval (None: one question alone)."""

    name: str
    mean: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What recalls by a policy found of what answers the questions. Print it."""

    policy: Policy = field(repr=False)
    questions: int
    k: int
    measures: tuple[Measured, ...]

    def summary(self) -> str:
        lines = [f"{self.questions} questions, k={self.k}"]
        lines += [f"{one.name}: {one.interval or format(one.mean, '.3f')}" for one in self.measures]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def to_json(self) -> str:
        """All of it as JSON, for programs."""
        said = {"questions": self.questions, "k": self.k, "policy": json.loads(self.policy.to_json())}
        return json.dumps({**said, "measures": [_plain(one) for one in self.measures]})


def evaluated(asked: Sequence[AskedQuestion], policy: Policy, *, k: int) -> Evaluation:
    """The measures over the questions as they were asked, under the policy they were asked by."""
    found = tuple(_measured(name.format(k), measure, asked, k) for name, measure in MEASURES.items()) if asked else ()
    return Evaluation(policy, len(asked), k, found)


def example(asked: AskedQuestion, user: Hashable, *, k: int) -> Example:
    """The question as one that tells policies apart, by NDCG@k."""
    found = {hit.record.id for hit in asked.question.hits_under(asked.question.request.policy)} & asked.gold

    def worth(policy: Policy) -> Worth:
        return Worth(ndcg_at(asked.question.ranked(policy, k).ids, asked.gold, k=k) if found else 0.0)

    return Example(asked.question.request.cue.text, user, worth)


def _measured(name: str, measure: Measure, asked: Sequence[AskedQuestion], k: int) -> Measured:
    scores = [measure(one.returned, one.gold, k) for one in asked]
    return Measured(name, mean(scores), bootstrap(scores, seed=SEED) if len(scores) > 1 else None)


def _plain(one: Measured) -> dict[str, object]:
    sure = one.interval
    return {"name": one.name, "mean": one.mean, "low": sure and sure.low, "high": sure and sure.high}
