"""What may a verdict never do? Outrank what was asked for, come back fresh, count twice, or reach another record."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from chromadb.api.models.Collection import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, NotFoundError, Policy, UserMemory
from tests.conftest import Clock, word_vectors

TEXTS = ["green tea with milk", "green tea with lemon", "black coffee with sugar"]


@pytest.fixture
def drinker(alice: UserMemory) -> UserMemory:
    alice.remember_many([{"text": text, "id": text.split()[-1]} for text in TEXTS])
    return alice


def test_what_was_asked_for_word_by_word_stays_first_whatever_else_was_of_use(
    drinker: UserMemory, clock: Clock
) -> None:
    for _ in range(3):
        clock.pass_seconds(60)
        drinker.feedback(drinker.recall("green tea with lemon"), helpful=["lemon"])
    assert drinker.recall("green tea with milk", reinforce=False).ids[0] == "milk"


def test_a_recall_as_of_before_a_useful_read_does_not_know_of_it(drinker: UserMemory, clock: Clock) -> None:
    before = clock()
    clock.pass_days(1)
    drinker.feedback(drinker.recall("green tea"), helpful=["lemon"])
    full = Policy().replace(learning={"earned": False})
    earlier = drinker.recall("green tea", reinforce=False, now=before, policy=full)
    assert all(one.parts["useful"] == 0.0 for one in earlier)
    assert any(one.parts["useful"] > 0.0 for one in drinker.recall("green tea", reinforce=False, policy=full))


def test_what_only_the_collection_tells_of_use_counts_as_long_ago(
    memory: AdaptiveMemory, collection: Collection, clock: Clock
) -> None:
    known: dict[str, Any] = {"user_id": "alice", "useful_at": clock()}
    collection.add(
        ids=["a"], documents=["green tea"], embeddings=word_vectors(["green tea"]), metadatas=cast("Any", [known])
    )
    (hit,) = memory.for_user("alice").recall("green coffee", reinforce=False)
    assert hit.parts["useful"] < 0.01


def test_restored_usefulness_is_as_old_as_it_was_and_a_candidate_again(memory: AdaptiveMemory, clock: Clock) -> None:
    few, texts = Policy(recall_k=2), [{"text": f"green tea number {n}", "id": str(n)} for n in range(6)]
    alice = memory.for_user("alice")
    alice.remember_many([*texts, {"text": "the kettle is green", "id": "kettle"}])
    alice.feedback(alice.recall("the kettle is green", k=1), helpful=["kettle"])
    for _ in range(3):
        alice.recall("tea", k=1)
    state = json.loads(json.dumps(alice.export_state()))
    alice.forget("kettle")
    alice.remember("the kettle is green", id="kettle")
    alice.recall("tea", k=1)
    alice.restore_state(state)
    assert alice.get("kettle").read.useful_step == 5 - 3
    asked = alice.recall("green tea number", k=2, reinforce=False, policy=few)
    assert "kettle" in {*asked.ids, *(one.id for one in asked.dropped)}


def test_restored_usefulness_is_a_candidate_before_anything_else_was_recalled(
    memory: AdaptiveMemory, open_memory: Any
) -> None:
    texts = [{"text": f"green tea number {n}", "id": str(n)} for n in range(6)]
    there, here = memory.for_user("alice"), open_memory().for_user("alice")
    for one in (there, here):
        one.remember_many([*texts, {"text": "the kettle is green", "id": "kettle"}])
    there.feedback(there.recall("the kettle is green", k=1), helpful=["kettle"])
    here.restore_state(there.export_state())
    asked = here.recall("green tea number", k=2, reinforce=False, policy=Policy(recall_k=2))
    assert "kettle" in {*asked.ids, *(one.id for one in asked.dropped)}


@pytest.mark.parametrize("balance", ["x", None, [], True, float("nan"), float("inf")])
def test_a_balance_that_is_no_number_is_refused_before_anything_is_written(
    drinker: UserMemory, balance: object
) -> None:
    drinker.feedback(drinker.recall("green tea"), helpful=["lemon"])
    state = drinker.export_state()
    drinker.demote("lemon")
    with pytest.raises(InvalidInputError, match="balance"):
        drinker.restore_state({**state, "balance": balance})
    assert drinker.get("lemon").read.useful_at is None


@pytest.mark.parametrize(("balance", "gain"), [(1e9, 1.0), (-1e9, 0.0), (10**400, 1.0)])
def test_a_balance_beyond_the_bounds_is_brought_within_them(drinker: UserMemory, balance: float, gain: float) -> None:
    drinker.restore_state({**drinker.export_state(), "balance": balance})
    assert drinker.stats().useful_gain == gain


def test_a_demotion_closes_the_verdicts_before_it(drinker: UserMemory, clock: Clock) -> None:
    first = drinker.recall("green tea")
    drinker.feedback(first, helpful=["lemon"])
    drinker.demote("lemon")
    second = drinker.recall("green tea")
    drinker.feedback(second, helpful=["lemon"])
    assert drinker.feedback(first, helpful=["lemon"]) == 0
    boost = drinker.get("lemon").read.boost
    drinker.feedback(first, unhelpful=["lemon"])
    state = drinker.get("lemon").read
    assert (state.helpful, state.unhelpful, state.useful_at) == (1, 1, clock())
    assert state.boost == pytest.approx((1.0 + boost) * 0.95 - 1.0)


def test_a_verdict_on_a_forgotten_record_does_not_reach_another_with_its_id(drinker: UserMemory) -> None:
    recall = drinker.recall("green tea")
    drinker.forget("lemon")
    drinker.remember("green tea with ginger", id="lemon")
    with pytest.raises(NotFoundError, match="'lemon'"):
        drinker.feedback(recall, helpful=["lemon"])
    assert drinker.get("lemon").read.helpful == 0
    assert drinker.feedback(recall, helpful=["milk"]) == 1
