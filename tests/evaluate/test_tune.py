"""Does tuning find what is there, and refuse where nothing is? On made-up rankings, many of them, without a store."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from adaptive_memory_core import Policy
from adaptive_memory_core.evaluate.tune import Tuner, fitted_policy, split_examples, tune
from adaptive_memory_core.evaluate.worth import Example, Worth
from adaptive_memory_core.policy import Advanced, Fusion

LEADS = ("words", "speaker")
START = Policy(advanced=Advanced(fusion=Fusion(vectors=1.0, words=0.2))).suited()
BETTER = START.replace(advanced={"fusion": {"words": 1.6}})


def numbers_of(policy: Policy) -> np.ndarray:
    """The weights of vectors and words, and that of the kind of a turn, which is fixed."""
    return np.array([policy.advanced.fusion.vectors, policy.advanced.fusion.words, 1.0])


def made_up(count: int, *, seed: int, right: Policy | None, user: str = "ana") -> list[Example]:
    """Questions with 12 candidates: the one that answers is the best by this policy, or (None) any of them."""
    random = np.random.default_rng(seed)
    return [_question(random.random((12, 3)), right, random, f"question {seed} {one}", user) for one in range(count)]


def _question(
    candidates: np.ndarray, right: Policy | None, random: np.random.Generator, key: str, user: str
) -> Example:
    noisy = None if right is None else candidates @ numbers_of(right) + 0.1 * random.normal(size=len(candidates))
    gold = int(random.integers(len(candidates))) if noisy is None else int(noisy.argmax())

    def worth(policy: Policy) -> Worth:
        scores = candidates @ numbers_of(policy)
        return Worth(float(1.0 / (1 + (scores > scores[gold]).sum())))

    return Example(key, user, worth)


def tuned(examples: Sequence[Example], tuner: Tuner = Tuner(prior=20)):  # type: ignore[no-untyped-def] # noqa: B008
    return tune(examples, START, leads=LEADS, measure="reciprocal rank", tuner=tuner)


@pytest.mark.parametrize("seed", range(3))
def test_it_recovers_a_policy_that_is_known_to_be_better(seed: int) -> None:
    found = tuned(made_up(300, seed=seed, right=BETTER))
    assert found.refused is None
    assert found.gain is not None
    assert found.gain.low > 0.1
    assert found.policy.advanced.fusion.words / found.policy.advanced.fusion.vectors > 0.6  # from 0.2 towards 1.6
    assert found.changes["advanced.fusion.words"][0] == 0.2


def test_where_answers_are_drawn_at_random_nothing_is_gained() -> None:
    """At 95 % one in forty is believed to gain; here are twenty."""
    believed = [seed for seed in range(20) if tuned(made_up(80, seed=seed, right=None)).refused is None]
    assert len(believed) <= 2


def test_a_policy_that_is_right_already_stays() -> None:
    found = tuned(made_up(300, seed=1, right=START))
    assert found.refused is not None
    assert found.policy == START


def test_too_few_questions_are_refused_before_anything_is_tried() -> None:
    found = tuned(made_up(20, seed=1, right=BETTER))
    assert found.refused is not None
    assert found.refused.startswith("too thin")
    assert found.changes == {}
    assert tuned([]).refused is not None


def test_the_same_question_asked_often_is_one_question() -> None:
    few = made_up(5, seed=1, right=BETTER)
    refused = tuned(few * 100).refused
    assert refused is not None
    assert "too thin" in refused


def test_the_fewer_questions_the_nearer_it_stays_to_the_common_policy() -> None:
    def words(count: int, prior: float) -> float:
        policy, _ = fitted_policy(
            made_up(count, seed=3, right=BETTER), START, leads=LEADS, history=False, tuner=Tuner(prior=prior)
        )
        return policy.advanced.fusion.words

    assert 0.2 < words(100, prior=10_000) < words(100, prior=100) < words(100, prior=1)
    assert words(1, prior=1_000_000) == pytest.approx(0.2, rel=1e-3)
    assert fitted_policy([], START, leads=LEADS, history=False, tuner=Tuner()) == (START, 0.0)


def test_the_same_seed_gives_the_same_result_and_another_another_part() -> None:
    examples = made_up(120, seed=5, right=BETTER)
    assert tuned(examples) == tuned(list(examples))
    first, other = (split_examples(examples, Tuner(seed=seed))[0] for seed in (0, 1))
    assert {one.key for one in first} != {one.key for one in other}


def test_those_that_ask_the_same_are_on_one_side() -> None:
    twice = made_up(50, seed=7, right=BETTER)
    again = [Example(one.key.upper() + "  ", one.user, one.worth) for one in twice]
    sides = split_examples([*twice, *again], Tuner())
    keys = [{one.key.casefold().strip() for one in side} for side in sides]
    assert not keys[0] & keys[1]


def test_it_can_be_read_and_kept() -> None:
    found = tuned(made_up(300, seed=2, right=BETTER))
    assert "advanced.fusion.words: 0.2 ->" in str(found)
    assert Policy.from_json(found.policy.to_json()) == found.policy
    refused = tuned(made_up(80, seed=0, right=None))
    assert "the policy stays as it is" in str(refused)
