"""Is one question one read, however many recalls it takes? And may others retrieve, and we rank?"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, UserMemory
from tests.conftest import Clock, Open

EVERY = Policy(refresh_floor_seconds=0.0)


def counts(user: UserMemory, *ids: str) -> list[int]:
    return [user.get(one).read.retrieval_count for one in ids]


def test_recalls_of_one_turn_are_one_step_and_read_a_record_once(alice: UserMemory) -> None:
    alice.remember_many([{"text": "green tea", "id": "tea"}, {"text": "black coffee", "id": "coffee"}])
    first = alice.recall("tea", k=1, policy=EVERY, turn="question-1")
    second = alice.recall("tea coffee", k=2, policy=EVERY, turn="question-1")
    assert (first.step, second.step) == (1, 1)
    assert counts(alice, "tea", "coffee") == [1, 1]
    assert alice.recall("tea", k=1, policy=EVERY, turn="question-2").step == 2
    assert alice.recall("tea", k=1, policy=EVERY).step == 3
    assert alice.recall("tea", k=1, policy=EVERY).step == 4
    assert counts(alice, "tea", "coffee") == [4, 1]


def test_a_turn_that_comes_back_after_another_is_still_one(alice: UserMemory) -> None:
    alice.remember("green tea", id="tea")
    steps = [alice.recall("tea", policy=EVERY, turn=turn).step for turn in ("a", "b", "a", "b")]
    assert steps == [1, 2, 1, 2]
    assert counts(alice, "tea") == [2]


def test_turns_of_two_users_are_two(memory: AdaptiveMemory) -> None:
    for user in ("alice", "bob"):
        memory.for_user(user).remember("green tea", id=f"tea-{user}")
        memory.for_user(user).recall("tea", policy=EVERY, turn="the same name")
    assert counts(memory.for_user("alice"), "tea-alice") == counts(memory.for_user("bob"), "tea-bob") == [1]


def test_a_turn_is_one_across_threads_and_openings(open_memory: Open) -> None:
    with open_memory(policy=EVERY) as memory:
        memory.for_user("alice").remember("green tea", id="tea")
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: memory.for_user("alice").recall("tea", turn="t"), range(16)))
    alice = open_memory(policy=EVERY).for_user("alice")
    assert alice.recall("tea", turn="t").step == 1
    assert counts(alice, "tea") == [1]


def test_a_turn_is_forgotten_after_days(memory: AdaptiveMemory, alice: UserMemory, clock: Clock) -> None:
    alice.remember("green tea", id="tea")
    alice.recall("tea", turn="t")
    clock.pass_days(3)
    memory.flush()
    assert alice.recall("tea", turn="t").step == 2


@pytest.mark.parametrize("turn", ["", " ", 5, b"x", "x" * 1001])
def test_a_turn_must_have_a_usable_name(alice: UserMemory, turn: Any) -> None:
    with pytest.raises(InvalidInputError, match="turn"):
        alice.recall("tea", turn=turn)


# --- what somebody else has retrieved


def test_given_hits_are_ranked_read_and_logged_as_our_own(alice: UserMemory) -> None:
    alice.remember_many([{"text": "green tea", "id": "tea"}, {"text": "black coffee", "id": "coffee", "importance": 1}])
    answer = alice.rerank("a drink", {"tea": 0.9, "coffee": 0.2, "nothing": 0.99}, policy=EVERY)
    assert answer.ids == ("tea", "coffee")
    assert [(one.id, one.reason) for one in answer.dropped] == [("nothing", "not a record of this scope")]
    assert answer[0].similarity == 0.9
    assert counts(alice, "tea", "coffee") == [1, 1]
    assert alice.recalls()[0].cue == "a drink"


def test_given_hits_of_another_user_are_dropped_and_not_read(memory: AdaptiveMemory, alice: UserMemory) -> None:
    bob = memory.for_user("bob")
    bob.remember("his secret", id="secret")
    assert len(alice.rerank("secret", {"secret": 1.0})) == 0
    assert counts(bob, "secret") == [0]


def test_only_the_k_best_of_given_hits_are_read(alice: UserMemory) -> None:
    alice.remember_many([{"text": text, "id": text} for text in ("tea", "coffee", "milk")])
    answer = alice.rerank("a drink", {"tea": 0.1, "coffee": 0.9, "milk": None}, k=1)
    assert answer.ids == ("coffee",)
    assert {one.id: one.reason for one in answer.dropped} == {"milk": "beyond k", "tea": "beyond k"}
    assert counts(alice, "tea", "coffee", "milk") == [0, 1, 0]


def test_looking_at_given_hits_may_change_nothing(alice: UserMemory) -> None:
    alice.remember("tea", id="tea")
    assert alice.rerank("a drink", {"tea": 0.5}, reinforce=False).step is None
    assert alice.rerank("a drink", {}).ids == ()
    assert counts(alice, "tea") == [0]


@pytest.mark.parametrize("hits", [["tea"], "tea", {"tea": "near"}, {"tea": float("nan")}, {"": 0.5}, {1: 0.5}, None])
def test_given_hits_must_be_ids_with_numbers(alice: UserMemory, hits: Any) -> None:
    with pytest.raises(InvalidInputError):
        alice.rerank("a drink", hits)


async def test_given_hits_are_ranked_async_too(alice: UserMemory) -> None:
    await alice.aremember("tea", id="tea")
    assert (await alice.arerank("a drink", {"tea": 0.5}, turn="t")).ids == ("tea",)


def test_nothing_that_passes_a_filter_is_an_empty_answer_in_a_conversation_too(alice: UserMemory) -> None:
    told = [{"speaker": who, "session": "one", "seq": n} for n, who in enumerate(("Ana", "Ben"))]
    alice.remember_many([{"text": f"tea {n}", "metadata": one} for n, one in enumerate(told)])
    assert alice.recall("what did Ana say about tea?", filter={"kind": "none"}, reinforce=False).ids == ()
