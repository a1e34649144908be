"""Does a memory learn from verdicts, per user, and give it back: taken back, restored, copied, reset?"""

from __future__ import annotations

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from tests.behaviour.conftest import shown
from tests.conftest import Clock, Rows, ledger_rows

TEXTS = ["green tea with milk", "green tea with lemon", "black coffee with sugar"]


@pytest.fixture
def drinker(alice: UserMemory) -> UserMemory:
    same_time = 0.0  # none is a newer version of another
    alice.remember_many([{"text": text, "id": text.split()[-1], "created_at": same_time} for text in TEXTS])
    return alice


def test_a_helpful_verdict_brings_a_memory_to_the_front(drinker: UserMemory, clock: Clock) -> None:
    first = drinker.recall("green tea", k=2)
    second = first.ids[1]
    drinker.feedback(first, helpful=[second])
    assert drinker.get(second).read.useful_at == clock()
    assert drinker.recall("green tea", k=2, reinforce=False).ids[0] == second
    again = drinker.recall("green tea", k=2, reinforce=False, policy=Policy().replace(learning={"earned": False}))
    assert again[0].parts["useful"] > 0.0
    assert "useful" in again.explain()
    assert "recency" in again.explain()


def test_a_changed_mind_takes_it_back_to_what_it_was(drinker: UserMemory, clock: Clock) -> None:
    early = drinker.recall("tea", k=1)
    (name,) = early.ids
    drinker.feedback(early, helpful=[name])
    before = drinker.get(name).read
    clock.pass_days(1)
    late = drinker.recall("tea", k=1)
    drinker.feedback(late.id, helpful=[name])
    assert drinker.get(name).read.useful_at == clock()
    drinker.feedback(late.id, unhelpful=[name])
    after = drinker.get(name).read
    assert (after.useful_at, after.useful_step, after.helpful) == (before.useful_at, before.useful_step, 1)


def test_usefulness_is_shown_in_the_collection_and_survives_a_move(
    memory: AdaptiveMemory, drinker: UserMemory, clock: Clock
) -> None:
    recall = drinker.recall("tea", k=1)
    (name,) = recall.ids
    drinker.feedback(recall, helpful=[name])
    memory.flush()
    assert shown(memory, name)["useful_at"] == clock()
    state = drinker.export_state()
    drinker.demote(name)
    drinker.forget(name)
    drinker.remember(next(text for text in TEXTS if text.endswith(name)), id=name)
    assert drinker.get(name).read.useful_at is None
    drinker.restore_state(state)
    assert drinker.get(name).read.useful_at == clock()


def test_what_was_of_use_lately_is_a_candidate_though_others_are_nearer(alice: UserMemory) -> None:
    few = Policy(recall_k=2)
    alice.remember_many([f"green tea number {n}" for n in range(6)])
    alice.remember("the kettle is green", id="kettle")
    recall = alice.recall("the kettle is green", k=1)
    alice.feedback(recall, helpful=["kettle"])
    asked = alice.recall("green tea number", k=2, reinforce=False, policy=few)
    assert "kettle" in {*asked.ids, *(one.id for one in asked.dropped)}
    narrow = alice.recall("green tea number", k=2, reinforce=False, policy=few, filter={"kind": "event"})
    assert "kettle" not in {*narrow.ids, *(one.id for one in narrow.dropped)}


QUESTIONS = ("is there tea", "what do I drink", "something with milk or lemon", "a cup of green", "what is there")
COUNTS = "having been helpful recently counts"


def in_a_burst(user: UserMemory, clock: Clock, name: str = "lemon") -> None:
    """Questions with other words, close together, that all need the same record."""
    for question in QUESTIONS:
        clock.pass_seconds(60)
        user.feedback(user.recall(question, k=8), helpful=[name])


def test_what_usefulness_earned_is_a_users_own_is_explained_and_can_be_reset(
    memory: AdaptiveMemory, drinker: UserMemory, clock: Clock
) -> None:
    assert drinker.stats().useful_gain == 0.0
    in_a_burst(drinker, clock)
    earned = drinker.stats().useful_gain
    assert 0.0 < earned < 1.0
    assert f"{COUNTS} {earned:.2f} of its full weight" in drinker.recall("tea", reinforce=False).explain()
    assert memory.for_user("bob").stats().useful_gain == 0.0
    state = drinker.export_state()
    drinker.reset_balance()
    assert drinker.stats().useful_gain == 0.0
    assert COUNTS not in drinker.recall("tea", reinforce=False).explain()
    drinker.restore_state(state)
    assert drinker.stats().useful_gain == earned


def test_usefulness_earns_nothing_where_it_would_rank_the_wrong_record_first(drinker: UserMemory, clock: Clock) -> None:
    drinker.remember_many([{"text": f"green tea {n}", "id": str(n)} for n in range(8)])
    for turn in range(8):  # what was useful before is never what is needed next
        clock.pass_seconds(600)
        recall = drinker.recall(f"is there any green tea {turn} at home", k=8)
        drinker.feedback(recall, helpful=[str(turn)])
    assert drinker.stats().useful_gain == 0.0


def test_looking_changes_nothing_of_it(memory: AdaptiveMemory, drinker: UserMemory) -> None:
    recall = drinker.recall("green tea", k=2)
    drinker.feedback(recall, helpful=[recall.ids[1]])
    rows: Rows = ledger_rows(memory)  # a fixture that is a function
    drinker.recall("green tea", k=2, reinforce=False)
    assert ledger_rows(memory) == rows  # likewise


async def test_the_async_twins_learn_alike(drinker: UserMemory) -> None:
    recall = await drinker.arecall("green tea", k=2)
    await drinker.afeedback(recall, helpful=[recall.ids[1]])
    assert (await drinker.arecall("green tea", k=2, reinforce=False)).ids[0] == recall.ids[1]
    await drinker.areset_balance()
