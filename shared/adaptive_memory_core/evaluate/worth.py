"""The worth of a policy: on questions with known answers, and on logged feedback by inverse propensities.

Off-policy value, by inverse propensities, self-normalised and clipped: The log contains each candidate's chance p of
being returned. A hit that a policy ranks at place r counts 1 / log2(r + 1), and 1 / p times as much if the log returned
it, to represent the times when it was not returned. So

    value = sum(helpful / p * discount) / sum(1 / p * discount)    over the hits of the policy that were returned

is the share of the policy's places, first places counting most, whose hits are helpful. A hit that had no chance of
being returned counts as useless (p = 1 in the lower sum). 1 / p is at most `MOST_WEIGHT`, at the price of some bias.

The assumptions: feedback depends on the question and the record, not on the place or on other hits shown; hits without
feedback, in an answer that has some, were useless; the judged recalls are like future ones. Without a randomised tail p
is 1 or 0, and the value of a policy that ranks new hits is too low.

Source: Horvitz and Thompson (1952); self-normalised as in Swaminathan and Joachims, NIPS 2015; by item and position as
in Li et al., Offline evaluation of ranking policies with click models, KDD 2018.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from adaptive_memory_core.evaluate.intervals import CONFIDENCE, RESAMPLES, Interval, bootstrap
from adaptive_memory_core.evaluate.metrics import hit_rate_at, mean, ndcg_at, recall_at
from adaptive_memory_core.flow.calibrate import AskedQuestion
from adaptive_memory_core.flow.feedback import JudgedLog, JudgedRecall
from adaptive_memory_core.flow.look_up import StrengthsAgain
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.score.ranking import as_candidates

if TYPE_CHECKING:
    import numpy.typing as npt

_Rows: TypeAlias = "npt.NDArray[np.float64]"
ROUNDING = 1e-12
FEWEST_USERS = 10  # users from which whole users are drawn; with fewer, single questions are drawn


class Worth(NamedTuple):
    """One question's numerator and denominator in the ratio. For a mean, `possible` is 1. `expected` is the average of
    `possible`, if that depends on chance."""

    gained: float
    possible: float = 1.0
    expected: float | None = None

    @property
    def unnormalised(self) -> Worth:
        """The worth with the expected denominator instead of the observed one."""
        return self if self.expected is None else Worth(self.gained, self.expected)


@dataclass(frozen=True, slots=True)
class Example:
    """A question on which policies are compared. `key` is its words: repeated questions stay on one side of a split.
    `user` is the user who asked it."""

    key: str
    user: Hashable
    worth: Callable[[Policy], Worth]


def ratio(worths: Sequence[Worth]) -> float:
    """The total gained, as a share of the total possible.

    >>> ratio([Worth(1.0, 2.0), Worth(0.5, 1.0)]), ratio([])
    (0.5, 0.0)
    """
    possible = sum(one.possible for one in worths)
    return sum(one.gained for one in worths) / possible if possible > 0.0 else 0.0


def ratio_difference(
    after: Sequence[Worth], before: Sequence[Worth], *, users: Sequence[Hashable], seed: int
) -> Interval:
    """The difference of two ratios on the same questions, with a percentile bootstrap interval.

    Whole users are drawn if there are ten or more, else single questions; then the interval is valid for these users.

    >>> even, ahead = [Worth(0.5), Worth(0.0)] * 5, [Worth(0.75), Worth(0.25)] * 5
    >>> print(ratio_difference(ahead, even, users=["ana"] * 10, seed=1))
    0.250 [0.250, 0.250]
    """
    sums = _sums(after, before, users)
    random = np.random.default_rng(seed)
    drawn = np.array([sums[random.integers(0, len(sums), size=len(sums))].sum(axis=0) for _ in range(RESAMPLES)])
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(_difference(drawn), [tail, 1 - tail])
    middle = float(_difference(sums.sum(axis=0)[None, :])[0])
    return Interval(middle, float(low), float(high), CONFIDENCE, len(sums))


def chance_of_gain(after: Sequence[Worth], before: Sequence[Worth], *, users: Sequence[Hashable], seed: int) -> float:
    """The p-value of a permutation test: how often the gain would be as large if neither policy were better. The
    policies are swapped on a random half of the questions. If few questions differ, this is stricter than an interval,
    which assumes that the sample is complete.

    >>> ahead, even = [Worth(1.0)] * 4 + [Worth(0.5)] * 96, [Worth(0.5)] * 100
    >>> 0.04 < chance_of_gain(ahead, even, users=["ana"] * 100, seed=1) < 0.09          # 4 of 4 won: one in sixteen
    True
    """
    sums = _sums(after, before, users)
    swapped = np.random.default_rng(seed).integers(0, 2, size=(RESAMPLES, len(sums))) @ (sums[:, [2, 3, 0, 1]] - sums)
    seen = _difference(sums.sum(axis=0)[None, :])[0]
    return float((1 + (_difference(sums.sum(axis=0) + swapped) >= seen - ROUNDING).sum()) / (1 + RESAMPLES))


def _sums(after: Sequence[Worth], before: Sequence[Worth], users: Sequence[Hashable]) -> _Rows:
    """A row of four sums per question, or per user if there are enough users."""
    rows = np.array([(*one[:2], *two[:2]) for one, two in zip(after, before, strict=True)], dtype=np.float64)
    numbers = {user: number for number, user in enumerate(dict.fromkeys(users))}
    if len(numbers) < FEWEST_USERS:
        return rows
    sums = np.zeros((len(numbers), rows.shape[1]))
    np.add.at(sums, [numbers[user] for user in users], rows)
    return sums


def _difference(sums: _Rows) -> _Rows:
    first, second = (
        np.divide(gained, possible, out=np.zeros_like(gained), where=possible > 0.0)
        for gained, possible in ((sums[:, 0], sums[:, 1]), (sums[:, 2], sums[:, 3]))
    )
    found: _Rows = first - second
    return found


SEED = 18  # of the intervals
RecallMeasure = Callable[[Sequence[str], Collection[str], int], float]
RECALL_MEASURES: dict[str, RecallMeasure] = {
    "recall@{}": lambda ranking, gold, k: recall_at(ranking, gold, k=k),
    "NDCG@{}": lambda ranking, gold, k: ndcg_at(ranking, gold, k=k),
    "hit@1": lambda ranking, gold, _: hit_rate_at(ranking, gold, k=1),
}


@dataclass(frozen=True, slots=True)
class MeanMeasure:
    """The mean of one measure over the questions, with its interval (None if there is only one question)."""

    name: str
    mean: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The measures of recalls under a policy on labelled questions. Print it."""

    policy: Policy = field(repr=False)
    questions: int
    k: int
    measures: tuple[MeanMeasure, ...]

    def summary(self) -> str:
        lines = [f"{self.questions} questions, k={self.k}"]
        lines += [f"{one.name}: {one.interval or format(one.mean, '.3f')}" for one in self.measures]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def to_json(self) -> str:
        """The evaluation as JSON, for programs."""
        values = {"questions": self.questions, "k": self.k, "policy": json.loads(self.policy.to_json())}
        return json.dumps({**values, "measures": [_plain(one) for one in self.measures]})


def evaluated(asked: Sequence[AskedQuestion], policy: Policy, *, k: int) -> Evaluation:
    """The measures over the questions, under the policy that they were asked with."""
    found = (
        tuple(_measured(name.format(k), measure, asked, k) for name, measure in RECALL_MEASURES.items())
        if asked
        else ()
    )
    return Evaluation(policy, len(asked), k, found)


def example(asked: AskedQuestion, user: Hashable, *, k: int) -> Example:
    """The question as an example whose worth is NDCG@k."""
    found = {hit.record.id for hit in asked.question.hits_under(asked.question.request.policy)} & asked.gold

    def worth(policy: Policy) -> Worth:
        return Worth(ndcg_at(asked.question.ranked(policy, k).ids, asked.gold, k=k) if found else 0.0)

    return Example(asked.question.request.cue.text, user, worth)


def _measured(name: str, measure: RecallMeasure, asked: Sequence[AskedQuestion], k: int) -> MeanMeasure:
    scores = [measure(one.returned, one.gold, k) for one in asked]
    return MeanMeasure(name, mean(scores), bootstrap(scores, seed=SEED) if len(scores) > 1 else None)


def _plain(one: MeanMeasure) -> dict[str, object]:
    sure = one.interval
    return {"name": one.name, "mean": one.mean, "low": sure and sure.low, "high": sure and sure.high}


MOST_WEIGHT = 20.0  # times that one hit may count; guess
MEASURE = "share of helpful hits, first places counting most"
ASSUMES = (
    "feedback depends on the question and the record, not on the place or on the other hits shown",
    "in an answer with feedback, hits without feedback were useless",
)
NO_TAIL = "no place was drawn by lot: hits that the log never returned count as useless, so new hits gain too little"
READS = "reads are as recorded: the reads that another policy would have caused are not simulated"


def worth_of(
    ranking: Sequence[str], chances: Mapping[str, float], returned: Collection[str], helpful: Collection[str]
) -> Worth:
    """The worth of a ranking by one logged answer; `chances` has the propensities of candidates that had any.

    >>> worth_of(["a", "b"], {"a": 1.0}, ["a"], ["a"])[:2] == (1.0, 1.0 + 1 / math.log2(3))     # b was never returned
    True
    >>> worth_of(["b"], {"a": 0.5, "b": 0.5}, ["b"], ["b"]), worth_of(["b"], {"a": 0.5, "b": 0.5}, ["a"], ["a"])
    (Worth(gained=2.0, possible=2.0, expected=1.0), Worth(gained=0.0, possible=0.0, expected=1.0))
    """
    gained = possible = expected = 0.0
    for place, one in enumerate(ranking, start=1):
        discount = 1.0 / math.log2(place + 1)
        expected += discount
        chance = chances.get(one, 0.0)
        if chance <= 0.0:
            possible += discount
        elif one in returned:
            counts = discount * min(MOST_WEIGHT, 1.0 / chance)
            possible += counts
            gained += counts * (one in helpful)
    return Worth(gained, possible, expected)


def examples_of(log: JudgedLog) -> list[Example]:
    """The judged recalls as examples."""
    strengths = StrengthsAgain(log.lines, frozenset(one.line.id for one in log.recalls))
    return [_example(one, strengths) for one in log.recalls]


def assumed(log: JudgedLog) -> tuple[str, ...]:
    """The assumptions that are made about this log."""
    drawn = any(0.0 < one.propensity < 1.0 for each in log.recalls for one in each.line.candidates)
    return (*ASSUMES, READS) if drawn else (*ASSUMES, NO_TAIL, READS)


def _example(recall: JudgedRecall, strengths: StrengthsAgain) -> Example:
    line, question, helpful = recall.line, recall.question, recall.helpful
    chances = {one.id: one.propensity for one in line.candidates if one.propensity > 0.0}
    returned = {one.id for one in line.kept}
    hits = as_candidates(question.hits_under(question.request.policy))  # tunable numbers don't change the candidates
    then = replace(question, hits_under=lambda policy: strengths.under(policy, line.id, hits))

    def worth(policy: Policy) -> Worth:
        return worth_of(then.ranked(policy).ids, chances, returned, helpful)

    return Example(line.cue, question.request.scope.user, worth)
