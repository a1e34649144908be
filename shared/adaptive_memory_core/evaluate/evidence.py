"""What are policies told apart by? Questions with known answers, of one user or of several, and what that takes for
granted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from adaptive_memory_core.evaluate.evaluation import example
from adaptive_memory_core.evaluate.off_policy import MEASURE, assumed, examples_of
from adaptive_memory_core.evaluate.tune import Tuner, Tuning, tune
from adaptive_memory_core.evaluate.worth import Example
from adaptive_memory_core.flow.judged_recalls import JudgedLog
from adaptive_memory_core.flow.labelled_questions import AskedQuestion
from adaptive_memory_core.flow.rankable import Rankable
from adaptive_memory_core.policy.policy import Policy


@dataclass(frozen=True, slots=True)
class Evidence:
    """Examples, the leads that their candidates have, the measure, and whether they tell of reads (`history`)."""

    examples: tuple[Example, ...]
    leads: frozenset[str]
    measure: str
    history: bool = False
    assumes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def tuned(self, start: Policy, tuner: Tuner) -> Tuning:
        """The policy that they ask for, from this one on."""
        found = tune(self.examples, start, leads=self.leads, measure=self.measure, history=self.history, tuner=tuner)
        return replace(found, assumes=self.assumes, notes=self.notes)

    @staticmethod
    def joined(parts: Sequence[Evidence]) -> Evidence:
        """That of several users as one; of nobody, that of a log without verdicts."""
        if not parts:
            return Evidence((), frozenset(), MEASURE, history=True)
        return Evidence(
            tuple(one for part in parts for one in part.examples),
            frozenset().union(*(part.leads for part in parts)),
            parts[0].measure,
            any(part.history for part in parts),
            _once(one for part in parts for one in part.assumes),
            _once(one for part in parts for one in part.notes),
        )


def of_labelled(asked: Sequence[AskedQuestion], user: Hashable, *, k: int) -> Evidence:
    """What labelled questions tell."""
    leads = frozenset(name for one in asked for name in leads_of(one.question))
    return Evidence(tuple(example(one, user, k=k) for one in asked), leads, f"NDCG@{k}")


def of_log(log: JudgedLog) -> Evidence:
    """What verdicts in the log tell."""
    leads = frozenset(name for one in log.recalls for name in leads_of(one.question))
    lost = [f"{log.lost} judged recalls are left out: the log does not give their rankings again"] if log.lost else []
    return Evidence(tuple(examples_of(log)), leads, MEASURE, True, assumed(log), tuple(lost))


def leads_of(question: Rankable) -> frozenset[str]:
    """What is said of its candidates besides their similarity: all have the same names."""
    hits = question.hits_under(question.request.policy)
    return frozenset(hits[0].leads) if hits else frozenset()


def _once(said: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(said))
