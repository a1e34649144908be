"""Are places drawn by lot where the policy says so, with the chances in the log, and nowhere else?"""

from __future__ import annotations

import random

import pytest

from adaptive_memory_core import Policy, UserMemory
from tests.behaviour.test_replay import live, remember
from tests.conftest import Clock

EXPLORING = Policy().replace(advanced={"random_tail": 2})


def filled(alice: UserMemory) -> None:
    alice.remember_many([{"text": f"green tea number {number}", "id": f"m{number}"} for number in range(30)])


def test_the_log_and_explain_tell_what_was_drawn(alice: UserMemory) -> None:
    filled(alice)
    found = [alice.recall("green tea", k=5, policy=EXPLORING) for _ in range(30)]
    assert len({one.ids[3:] for one in found}) > 5
    lines = {one.id: one for one in alice.recalls()}
    for one in found:
        assert sum(one.propensities.values()) == pytest.approx(5.0)
        told = {each.id: each.propensity for each in lines[one.id].candidates}
        assert {name: chance for name, chance in told.items() if chance} == pytest.approx(
            dict(one.propensities), abs=1e-6
        )
        assert f"{one.ids[-1]} was drawn by lot, with a chance of 0.33" in one.explain()


def test_where_nothing_is_drawn_propensities_are_one_or_nought(alice: UserMemory) -> None:
    filled(alice)
    found = alice.recall("green tea", k=5)
    (line,) = alice.recalls()
    assert found.propensities == {}
    assert all("propensity" not in one.then for one in line.candidates)
    assert {one.id for one in line.candidates if one.propensity == 1.0} == set(found.ids)


def test_a_look_draws_nothing(alice: UserMemory) -> None:
    filled(alice)
    usual = alice.recall("green tea", k=5, reinforce=False)
    looks = [alice.recall("green tea", k=5, policy=EXPLORING, reinforce=False) for _ in range(5)]
    assert all(one.ids == usual.ids and not one.propensities for one in looks)


def test_the_ways_down_the_themes_are_never_drawn(alice: UserMemory) -> None:
    filled(alice)
    assert alice.recall("green tea", k=5, policy=EXPLORING.replace(shape="top_down")).propensities == {}


@pytest.mark.parametrize("seed", range(3))
def test_a_replay_draws_what_was_drawn(seed: int, alice: UserMemory, clock: Clock) -> None:
    chance = random.Random(seed)
    remember(alice, clock, chance)
    for _ in range(10):
        found = alice.recall(" ".join(chance.choices(["tea", "cat", "ana", "oslo"], k=2)), k=5, policy=EXPLORING)
        if found:
            alice.feedback(found, helpful=[found[-1].id])
        clock.pass_seconds(1_000)
    live(alice, clock, ["default", "equal"], chance, recalls=6)
    replay = alice.replay(EXPLORING)
    assert [one.unknown for one in replay if not one.reproduced] == []
    explored = replay[:10]
    assert all(one.after == one.before for one in explored)
    assert any(chance < 1.0 for one in explored for chance in one.propensities.values())


def test_what_was_forgotten_leaves_the_chances_of_the_others(alice: UserMemory) -> None:
    filled(alice)
    found = alice.recall("green tea", k=5, policy=EXPLORING)
    alice.forget(found[0].id)
    (line,) = alice.recalls()
    assert found[0].id not in [one.id for one in line.candidates]
    told = {one.id: one.propensity for one in line.candidates if one.propensity}
    assert told == pytest.approx(
        {name: one for name, one in found.propensities.items() if name != found[0].id}, abs=1e-6
    )
