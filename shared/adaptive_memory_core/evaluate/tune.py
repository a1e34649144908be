"""Tuning of a policy: search for the best numbers on one part of the questions, and judge them on the other part."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adaptive_memory_core.evaluate.intervals import CONFIDENCE, Interval
from adaptive_memory_core.evaluate.tuning_search import changed_numbers, numbers_for, policy_between, searched
from adaptive_memory_core.evaluate.worth import (
    MEASURE,
    Example,
    assumed,
    chance_of_gain,
    example,
    examples_of,
    ratio,
    ratio_difference,
)
from adaptive_memory_core.flow.calibrate import AskedQuestion
from adaptive_memory_core.flow.feedback import JudgedLog
from adaptive_memory_core.flow.past_recall import Rankable
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.verbs.tuning import PRIOR

FEWEST = 20  # different questions needed on each side; guess
MOST = 250  # questions in a search, drawn by the seed: some 0.3 s of CPU for each of 150 policies
MOST_CHANCE = (1 - CONFIDENCE) / 2  # the highest accepted chance of such a gain if neither policy is better
NOTHING_BETTER = "no change of a tunable number ranks these questions better"


@dataclass(frozen=True, slots=True)
class Tuner:
    """The settings of tuning."""

    held_out: float = 0.5  # the share of questions that are held back for judging
    prior: float = PRIOR
    fewest: int = FEWEST
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result of tuning. `policy` is safe to use: the tuned policy or, if it was `refused`, the original.

    `gain` is the tuned policy's gain on the held-out questions with its interval, None if there was nothing to judge.
    `unnormalised` is the gain by plain inverse propensities, if feedback in the log is the measure. `share` is the
    share of the way from the start to the best numbers; it is smaller with fewer questions. `notes` lists what the log
    does not contain, `assumes` the assumptions of the measure. `users` contains tunings of single users, which started
    from this policy.
    """

    start: Policy = field(repr=False)
    tuned: Policy = field(repr=False)
    measure: str
    refused: str | None = None
    gain: Interval | None = None
    unnormalised: Interval | None = None
    before: float | None = None
    after: float | None = None
    questions: int = 0
    judged: int = 0
    share: float = 0.0
    assumes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    users: Mapping[str | int, Tuning] = field(default_factory=dict)

    @property
    def policy(self) -> Policy:
        """The policy to use from now on."""
        return self.start if self.refused is not None else self.tuned

    @property
    def changes(self) -> dict[str, tuple[float, float]]:
        """The numbers before and after tuning, by their place in the policy."""
        return changed_numbers(self.start, self.tuned)

    def summary(self) -> str:
        """The result in a few lines of plain text."""
        return "\n".join(tuning_lines(self))

    def __str__(self) -> str:
        return self.summary()

    def to_json(self) -> str:
        """The tuning as JSON, for programs."""
        return json.dumps(tuning_as_plain_values(self))


def tune(
    examples: Sequence[Example],
    start: Policy,
    *,
    leads: Collection[str],
    measure: str,
    history: bool = False,
    tuner: Tuner = Tuner(),
) -> Tuning:
    """Tune a policy, or report why the result is refused. The same examples and seed give the same result."""
    tuning, held_out = split_examples(examples, tuner)
    found = Tuning(start, start, measure, questions=len(tuning), judged=len(held_out))
    thin = min(_distinct(tuning), _distinct(held_out))
    if thin < tuner.fewest:
        return replace(found, refused=too_thin(_distinct(tuning), _distinct(held_out), tuner.fewest))
    policy, share = fitted_policy(tuning, start, leads=leads, history=history, tuner=tuner)
    if policy == start:
        return replace(found, refused=NOTHING_BETTER)
    before, after = ([one.worth(by) for one in held_out] for by in (start, policy))
    users = [one.user for one in held_out]
    gain = ratio_difference(after, before, users=users, seed=tuner.seed)
    chance = chance_of_gain(after, before, users=users, seed=tuner.seed)
    refused = None if gain.low > 0.0 and chance <= MOST_CHANCE else noise(measure, gain, chance)
    plain = ratio_difference(
        [one.unnormalised for one in after], [one.unnormalised for one in before], users=users, seed=tuner.seed
    )
    found = replace(found, before=ratio(before), after=ratio(after), gain=gain, unnormalised=plain)
    return replace(found, tuned=policy, share=share, refused=refused)


def fitted_policy(
    examples: Sequence[Example], start: Policy, *, leads: Collection[str], history: bool, tuner: Tuner
) -> tuple[Policy, float]:
    """The policy that ranks the examples best, shrunk towards the start, and the share of the way that remains."""
    some = _ordered(examples, tuner.seed)[:MOST]
    share = _distinct(examples) / (_distinct(examples) + tuner.prior) if examples else 0.0
    best = searched(start, numbers_for(start, leads, history=history), some)
    return policy_between(start, best, share), share


def split_examples(examples: Sequence[Example], tuner: Tuner) -> tuple[list[Example], list[Example]]:
    """Split the examples into those to tune on and those to judge by. The same question in the same memory is always
    on one side, which depends only on its words and the seed."""
    sides: tuple[list[Example], list[Example]] = ([], [])
    for one in examples:
        sides[_place(one, tuner.seed) < tuner.held_out].append(one)
    return sides


def _ordered(examples: Sequence[Example], seed: int) -> list[Example]:
    return sorted(examples, key=lambda one: _place(one, seed + 1))


def _place(one: Example, seed: int) -> float:
    """A number in [0, 1) that depends only on the seed and on the question's words and user."""
    text = f"{seed}:{one.user}:{' '.join(one.key.casefold().split())}"
    return int.from_bytes(hashlib.blake2b(text.encode(errors="replace"), digest_size=6).digest(), "big") / 2**48


def _distinct(examples: Sequence[Example]) -> int:
    keys: set[tuple[Hashable, str]] = {(one.user, one.key.casefold()) for one in examples}
    return len(keys)


def too_thin(tuning: int, held_out: int, fewest: int) -> str:
    """
    >>> too_thin(7, 5, 20)
    'too thin: 7 different questions to tune on and 5 to judge by; each needs at least 20'
    """
    return f"too thin: {tuning} different questions to tune on and {held_out} to judge by; each needs at least {fewest}"


def noise(measure: str, gain: Interval, chance: float) -> str:
    """
    >>> noise("NDCG@10", Interval(mean=-0.1, low=-0.2, high=0.0, confidence=0.95, clusters=9), 0.9)
    'no gain on the held-out questions: NDCG@10 -0.100 [-0.200, 0.000]'
    >>> noise("NDCG@10", Interval(mean=0.1, low=0.01, high=0.2, confidence=0.95, clusters=9), 0.0625)
    'within the noise on the held-out questions: NDCG@10 +0.100 [0.010, 0.200], with a 6 % probability by chance'
    """
    what = "within the noise" if gain.mean > 0.0 else "no gain"
    by_chance = f", with a {100 * chance:.0f} % probability by chance" if gain.low > 0.0 else ""
    return f"{what} on the held-out questions: {measure} {gain.mean:+.3f} [{gain.low:.3f}, {gain.high:.3f}]{by_chance}"


def tuning_lines(tuning: Tuning) -> list[str]:
    found = [
        f"{tuning.questions} questions to tune on, {tuning.judged} held out, measure {tuning.measure}",
        "tuned" if tuning.refused is None else f"refused, the policy stays as it is: {tuning.refused}",
    ]
    if tuning.gain is not None and tuning.refused is None:
        found.append(f"held out: {tuning.before:.3f} before, {tuning.after:.3f} tuned, difference {tuning.gain}")
    if tuning.unnormalised not in (None, tuning.gain):
        found.append(f"by plain inverse propensities: difference {tuning.unnormalised}")
    if tuning.changes:
        found.append(
            f"{100 * tuning.share:.0f} % of the way to the numbers that ranked best on the questions to tune on:"
        )
    found += [f"  {place}: {before:.3g} -> {after:.3g}" for place, (before, after) in tuning.changes.items()]
    found += [f"assumes: {one}" for one in tuning.assumes]
    found += [f"note: {one}" for one in tuning.notes]
    for name, own in tuning.users.items():
        found.append(f"{name}: {'tuned' if own.refused is None else own.refused}")
    return found


def tuning_as_plain_values(tuning: Tuning) -> dict[str, Any]:
    gains = {name: getattr(tuning, name) for name in ("gain", "unnormalised")}
    names = ("measure", "refused", "before", "after", "questions", "judged", "share", "assumes", "notes")
    return {
        **{name: getattr(tuning, name) for name in names},
        **{name: one and {"mean": one.mean, "low": one.low, "high": one.high} for name, one in gains.items()},
        "changes": {place: list(pair) for place, pair in tuning.changes.items()},
        "policy": json.loads(tuning.policy.to_json()),
        "users": {str(name): tuning_as_plain_values(own) for name, own in tuning.users.items()},
    }


@dataclass(frozen=True, slots=True)
class TuningExamples:
    """Examples, the leads of their candidates, the measure, and whether they contain reads (`history`)."""

    examples: tuple[Example, ...]
    leads: frozenset[str]
    measure: str
    history: bool = False
    assumes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def tuned(self, start: Policy, tuner: Tuner) -> Tuning:
        """Tune the start policy on these examples."""
        found = tune(self.examples, start, leads=self.leads, measure=self.measure, history=self.history, tuner=tuner)
        return replace(found, assumes=self.assumes, notes=self.notes)

    @staticmethod
    def joined(parts: Sequence[TuningExamples]) -> TuningExamples:
        """Join the examples of several users; without any, the same as for a log without feedback."""
        if not parts:
            return TuningExamples((), frozenset(), MEASURE, history=True)
        return TuningExamples(
            tuple(one for part in parts for one in part.examples),
            frozenset().union(*(part.leads for part in parts)),
            parts[0].measure,
            any(part.history for part in parts),
            _once(one for part in parts for one in part.assumes),
            _once(one for part in parts for one in part.notes),
        )


def of_labelled(asked: Sequence[AskedQuestion], user: Hashable, *, k: int) -> TuningExamples:
    """Examples from labelled questions."""
    leads = frozenset(name for one in asked for name in leads_of(one.question))
    return TuningExamples(tuple(example(one, user, k=k) for one in asked), leads, f"NDCG@{k}")


def of_log(log: JudgedLog) -> TuningExamples:
    """Examples from feedback in the log."""
    leads = frozenset(name for one in log.recalls for name in leads_of(one.question))
    lost = [f"{log.lost} judged recalls are left out: the log does not reproduce their rankings"] if log.lost else []
    return TuningExamples(tuple(examples_of(log)), leads, MEASURE, True, assumed(log), tuple(lost))


def leads_of(question: Rankable) -> frozenset[str]:
    """The names of the candidates' leads, which are the same for all candidates of a question."""
    hits = question.hits_under(question.request.policy)
    return frozenset(hits[0].leads) if hits else frozenset()


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
