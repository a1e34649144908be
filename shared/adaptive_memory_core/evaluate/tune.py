"""Which policy would serve better? The numbers that rank best on one part of the questions, judged on the other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adaptive_memory_core.evaluate import tuning_lines as told
from adaptive_memory_core.evaluate.intervals import CONFIDENCE, Interval
from adaptive_memory_core.evaluate.tuning_numbers import between, changed_numbers, numbers_for
from adaptive_memory_core.evaluate.tuning_search import searched
from adaptive_memory_core.evaluate.worth import Example, chance_of_gain, ratio, ratio_difference
from adaptive_memory_core.policy.policy import Policy

FEWEST = 20  # different questions on each side; below, it is refused; guess
MOST = 250  # questions that a search looks at, drawn by the seed: some 0.3 s of CPU for each of 150 policies
PRIOR = 50.0  # questions at which half of what they say counts; guess
MOST_CHANCE = (1 - CONFIDENCE) / 2  # of such a gain where neither policy is better
NOTHING_BETTER = "no number that may be tuned ranks these questions better"


@dataclass(frozen=True, slots=True)
class Tuner:
    """How it is tuned."""

    held_out: float = 0.5  # share of the questions that judge and do not tune
    prior: float = PRIOR
    fewest: int = FEWEST
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Tuning:
    """What came of tuning. `policy` is safe to keep: the tuned one, or where that was `refused` the one it began with.

    `gain` is what the tuned one (`tuned`) is worth more on the held-out questions, with its interval; None where there
    was none to judge. `unnormalised` is the gain by plain inverse propensities, where the log's verdicts judge. `share`
    is how far it went from the start to what ranked best, the less the fewer questions there were. `notes` says what
    the log does not tell, `assumes` what the measure takes for granted. `users` holds the tunings of single users, from
    this policy on.
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
        """The policy to go on with."""
        return self.start if self.refused is not None else self.tuned

    @property
    def changes(self) -> dict[str, tuple[float, float]]:
        """What was tuned, by its place in the policy: from which number to which."""
        return changed_numbers(self.start, self.tuned)

    def summary(self) -> str:
        """The result in a few lines of plain text."""
        return "\n".join(told.lines(self))

    def __str__(self) -> str:
        return self.summary()

    def to_json(self) -> str:
        """All of it as JSON, for programs."""
        return json.dumps(told.plain(self))


def tune(
    examples: Sequence[Example],
    start: Policy,
    *,
    leads: Collection[str],
    measure: str,
    history: bool = False,
    tuner: Tuner = Tuner(),
) -> Tuning:
    """The tuned policy, or why it is refused. The same examples and the same seed give the same result."""
    tuning, held_out = parted(examples, tuner)
    found = Tuning(start, start, measure, questions=len(tuning), judged=len(held_out))
    thin = min(_distinct(tuning), _distinct(held_out))
    if thin < tuner.fewest:
        return replace(found, refused=told.too_thin(_distinct(tuning), _distinct(held_out), tuner.fewest))
    policy, share = fitted(tuning, start, leads=leads, history=history, tuner=tuner)
    if policy == start:
        return replace(found, refused=NOTHING_BETTER)
    before, after = ([one.worth(by) for one in held_out] for by in (start, policy))
    users = [one.user for one in held_out]
    gain = ratio_difference(after, before, users=users, seed=tuner.seed)
    chance = chance_of_gain(after, before, users=users, seed=tuner.seed)
    refused = None if gain.low > 0.0 and chance <= MOST_CHANCE else told.noise(measure, gain, chance)
    plain = ratio_difference(
        [one.unnormalised for one in after], [one.unnormalised for one in before], users=users, seed=tuner.seed
    )
    found = replace(found, before=ratio(before), after=ratio(after), gain=gain, unnormalised=plain)
    return replace(found, tuned=policy, share=share, refused=refused)


def fitted(
    examples: Sequence[Example], start: Policy, *, leads: Collection[str], history: bool, tuner: Tuner
) -> tuple[Policy, float]:
    """What ranks these best, drawn back towards the start, and how far it went: with few questions hardly."""
    some = _ordered(examples, tuner.seed)[:MOST]
    share = _distinct(examples) / (_distinct(examples) + tuner.prior) if examples else 0.0
    best = searched(start, numbers_for(start, leads, history=history), some)
    return between(start, best, share), share


def parted(examples: Sequence[Example], tuner: Tuner) -> tuple[list[Example], list[Example]]:
    """Those to tune on, and those that judge. All that ask the same in the same memory are on one side, which hangs on
    their words and the seed alone."""
    sides: tuple[list[Example], list[Example]] = ([], [])
    for one in examples:
        sides[_place(one, tuner.seed) < tuner.held_out].append(one)
    return sides


def _ordered(examples: Sequence[Example], seed: int) -> list[Example]:
    return sorted(examples, key=lambda one: _place(one, seed + 1))


def _place(one: Example, seed: int) -> float:
    """A number in [0, 1) of this question."""
    said = f"{seed}:{one.user}:{' '.join(one.key.casefold().split())}"
    return int.from_bytes(hashlib.blake2b(said.encode(errors="replace"), digest_size=6).digest(), "big") / 2**48


def _distinct(examples: Sequence[Example]) -> int:
    keys: set[tuple[Hashable, str]] = {(one.user, one.key.casefold()) for one in examples}
    return len(keys)
