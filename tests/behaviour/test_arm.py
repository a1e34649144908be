"""Is it Algorithm 1? Strengths, flags and the k returned, after any history, against the paper's own O(N) form."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from tests.behaviour.naive_arm import NaiveARM
from tests.conftest import DIMENSIONS, Clock
from tests.suites import at_most

PROFILES = ["balanced", "ultra_efficient", "broad_adaptation", "conservative", "aggressive"]
USERS = ["alice", "bob"]
users = st.sampled_from(USERS)
numbers = st.integers(0, 10_000)


def vector(text: str) -> list[float]:
    """A direction for each number; the first half of the numbers is crowded around one direction."""
    number = int(text.rsplit(maxsplit=1)[-1])
    direction = np.random.default_rng(number).normal(size=DIMENSIONS)
    crowd = np.random.default_rng(10**6).normal(size=DIMENSIONS)
    mixed = direction + (4.0 * crowd if number % 2 else 0.0)
    return [float(x) for x in mixed / np.linalg.norm(mixed)]


def embed(texts: Any) -> list[list[float]]:
    return [vector(text) for text in texts]


class Histories(RuleBasedStateMachine):
    """Any order of adds, recalls, changes of standing, deletions, changes of policy and restarts."""

    @initialize(profile=st.sampled_from(PROFILES), recall_k=st.sampled_from([1, 3, 20]))
    def open(self, profile: str, recall_k: int) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.policy = Policy.preset(profile).replace(recall_k=recall_k)
        self.naive = {user: NaiveARM() for user in USERS}
        self.written = 0
        self._open()
        for user in USERS:  # something stale to begin with
            self._add(user, list(range(8)))
            self._recall(user, 1, 1, 12)

    def _open(self) -> None:
        self.memory = AdaptiveMemory.open(
            Path(self.directory.name) / "memory", embedder=embed, clock=self.clock, policy=self.policy
        )

    def user(self, name: str) -> UserMemory:
        return self.memory.for_user(name)

    @rule(user=users, seeds=st.lists(numbers, min_size=1, max_size=12))
    def add(self, user: str, seeds: list[int]) -> None:
        self._add(user, seeds)

    def _add(self, user: str, seeds: list[int]) -> None:
        names = [f"{user}-{self.written + index}" for index in range(len(seeds))]
        self.written += len(seeds)
        self.user(user).remember_many(
            [{"id": name, "text": f"memory {seed}"} for name, seed in zip(names, seeds, strict=True)]
        )
        for name, seed in zip(names, seeds, strict=True):
            self.naive[user].add(name, np.asarray(vector(f"memory {seed}")))

    @rule(user=users, seed=numbers, k=st.integers(1, 4), times=st.integers(1, 8))
    def recall(self, user: str, seed: int, k: int, times: int) -> None:
        self._recall(user, seed, k, times)

    def _recall(self, user: str, seed: int, k: int, times: int) -> None:
        naive = self.naive[user]
        for _ in range(times):
            self.clock.pass_seconds(1.0)
            recall = self.user(user).recall(f"cue {seed}", k=k)
            truth = naive.scores(np.asarray(vector(f"cue {seed}")))
            best = sorted(truth.values(), reverse=True)[:k]
            assert [one.score for one in recall] == pytest.approx(best, abs=1e-6)
            assert [truth[one.id] for one in recall] == pytest.approx(best, abs=1e-6)
            self._advance(user, list(recall.ids))

    def _advance(self, user: str, returned: list[str]) -> None:
        policy = self.memory.policy
        theta, gamma, alpha = policy.decay.remembrance_threshold, policy.decay.grace, policy.decay.rate
        self.naive[user].query(returned, theta=theta, gamma=gamma, alpha=alpha)

    @rule(user=users, which=numbers, act=st.sampled_from(["pin", "unpin", "demote", "forget"]))
    def change(self, user: str, which: int, act: str) -> None:
        items = self.naive[user].items
        if not items:
            return
        name = sorted(items)[which % len(items)]
        getattr(self.user(user), act)(name)
        if act == "forget":
            del items[name]
        elif act == "demote":
            self.naive[user].demote(name)
        else:
            items[name].pinned = act == "pin"

    @rule(profile=st.sampled_from(PROFILES))
    def another_profile(self, profile: str) -> None:
        self.policy = Policy.preset(profile).replace(recall_k=self.policy.recall_k)
        self.memory.policy = self.policy

    @rule()
    def restart(self) -> None:
        self.memory.close()
        self._open()

    @invariant()
    def strengths_and_flags_are_those_of_the_paper(self) -> None:
        for user, naive in getattr(self, "naive", {}).items():
            stored = {one.id: one.read for one in self.user(user).records(limit=1_000, current=True)}
            for name, item in naive.items.items():
                read = stored[name]
                assert read.strength == pytest.approx(item.norm, rel=1e-9, abs=1e-12)
                assert (read.remembered, read.pinned) == (item.remembered, item.pinned)

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()
            self.directory.cleanup()


@pytest.mark.hard("random run")
def test_any_history_gives_what_algorithm_1_gives() -> None:
    run_state_machine_as_test(Histories, settings=settings(at_most(20), stateful_step_count=30))
