"""Is feedback on an answer given to the recalls that returned what went into it?"""

from __future__ import annotations

import pytest

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.errors import InvalidInputError, NotFoundError
from adaptive_memory_core.flow.feedback_on_answer import Used


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    mine = memory.for_user("alice")
    mine.remember_many(
        [{"text": "green tea", "id": "a"}, {"text": "red car", "id": "b"}, {"text": "cold rain", "id": "c"}]
    )
    memory.for_user("bob").remember("green tea too", id="bobs")
    return mine


def test_records_of_several_recalls_are_judged_at_once(alice: UserMemory) -> None:
    tea, car = alice.recall("green tea", k=1), alice.recall("red car", k=1)
    assert alice.feedback_on_answer([Used("a", tea.id), Used("a", tea.id)], [Used("b", car.id)]) == 2
    assert alice.get("a").read.helpful == 1
    assert alice.get("b").read.unhelpful == 1
    assert alice.feedback_on_answer([Used("a", tea.id)], [Used("b", car.id)]) == 0, "each counts once"


def test_a_record_that_several_look_ups_of_one_question_returned_is_judged_once(alice: UserMemory) -> None:
    found = [alice.recall("green tea", k=1, turn="q1") for _ in range(3)]
    other = alice.recall("green tea", k=1, turn="q2")
    assert alice.feedback_on_answer([Used("a", one.id) for one in [*found, other]]) == 2
    assert alice.get("a").read.helpful == 2
    again = alice.recall("green tea", k=1, turn="q1")  # as a turn that is done over
    assert alice.feedback_on_answer([Used("a", again.id)]) == 0


def test_one_that_is_gone_does_not_cost_the_others_their_verdict(alice: UserMemory) -> None:
    both = alice.recall("green tea red car", k=2)
    alice.forget("a")
    used = [Used("a", both.id), Used("b", both.id), Used("c", "no such recall"), Used("never heard of")]
    assert alice.feedback_on_answer(used) == 1
    assert alice.get("b").read.helpful == 1
    with pytest.raises(NotFoundError, match="'a'"):
        alice.feedback_on_answer([Used("a", both.id)])


def test_one_that_was_forgotten_and_written_anew_is_another_one(alice: UserMemory) -> None:
    both = alice.recall("green tea red car", k=2)
    alice.forget("a")
    alice.remember("something else", id="a")
    assert alice.feedback_on_answer([Used("a", both.id), Used("b", both.id)]) == 1
    assert alice.get("a").read.helpful == 0


def test_an_id_is_that_of_the_last_recall_that_returned_it(alice: UserMemory) -> None:
    first = alice.recall("green tea", k=1)
    alice.recall("red car", k=1)  # looks at "a" as well, and does not return it
    assert alice.feedback_on_answer(["a"]) == 1
    assert alice.changes("a")[0].by == f"recall {first.id}"
    assert [one.id for one in alice.recalls(containing="a")] == [first.id]


@pytest.mark.parametrize("way", ["recall", "turn"])
def test_a_recall_and_a_turn_mean_all_that_they_returned(alice: UserMemory, way: str) -> None:
    tea = alice.recall("green tea", k=1, turn="question 7")
    alice.recall("red car", k=1, turn="question 7")
    assert alice.feedback_on_answer(unhelpful=[tea.id if way == "recall" else "question 7"]) == (
        1 if way == "recall" else 2
    )


def test_with_a_turn_ids_are_those_it_returned(alice: UserMemory) -> None:
    tea = alice.recall("green tea", k=1, turn="q1")
    alice.recall("green tea", k=1, turn="q2")
    assert alice.feedback_on_answer(["a", "b"], turn="q1") == 1
    assert alice.changes("a")[0].by == f"recall {tea.id}"
    assert [one.turn for one in alice.recalls()] == ["q2", "q1"]
    assert [one.id for one in alice.recalls(turn="q1")] == [tea.id]


def test_helpful_and_unhelpful_at_once_is_refused_before_anything_is_judged(alice: UserMemory) -> None:
    both = [alice.recall("green tea", k=1, turn="q1") for _ in range(2)]
    with pytest.raises(InvalidInputError, match="helpful and as unhelpful"):
        alice.feedback_on_answer([Used("a", both[0].id)], [Used("a", both[1].id)])
    assert alice.stats().verdicts == 0


async def test_shared_ones_are_passed_over_and_nobody_judges_for_others(
    memory: AdaptiveMemory, alice: UserMemory
) -> None:
    bobs = memory.for_user("bob").recall("green tea")
    assert await alice.afeedback_on_answer([Used("bobs", bobs.id, shared=True)]) == 0
    with pytest.raises(NotFoundError):
        await alice.afeedback_on_answer([Used("bobs", bobs.id)])
    assert memory.for_user("bob").stats().verdicts == 0
    with pytest.raises(InvalidInputError, match="list of ids"):
        alice.feedback_on_answer("a")
