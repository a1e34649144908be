"""How does a record's standing change: by newer facts, by hand, by verdicts?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adaptive_memory_core import (
    AdaptiveMemory,
    InvalidInputError,
    NotFoundError,
    Policy,
    UserMemory,
    Weights,
)
from tests.behaviour.conftest import shown

if TYPE_CHECKING:
    from tests.conftest import Clock, Open

DAY = 86_400.0


def test_a_superseded_memory_gives_way_and_stays_in_the_collection(alice: UserMemory, clock: Clock) -> None:
    alice.remember("lives in Berlin", id="old")
    clock.pass_days(10)
    alice.remember("lives in Paris", id="new", supersedes="old")
    clock.pass_days(1)
    answer = alice.recall("lives in Berlin")
    assert answer.ids == ("new",)
    assert [(one.id, one.reason) for one in answer.dropped] == [("old", "superseded by new")]
    assert (alice.get("old").superseded_by, alice.get("new").supersedes) == ("new", "old")
    assert alice.get("old").valid_until == clock() - DAY


def test_the_past_is_recalled_as_it_was(alice: UserMemory, clock: Clock) -> None:
    alice.remember("lives in Berlin", id="old")
    clock.pass_days(10)
    alice.remember("lives in Paris", id="new", supersedes="old", valid_from=clock())
    back_then = alice.recall("lives in", now=clock() - DAY, reinforce=False)
    assert back_then.ids == ("old",)
    assert alice.recall("lives in", now=clock() + DAY, reinforce=False).ids == ("new",)


def test_a_memory_counts_only_within_its_validity(alice: UserMemory, clock: Clock) -> None:
    alice.remember("tea sale", id="a", valid_from=clock() + DAY, valid_until=clock() + 2 * DAY)
    assert [one.reason for one in alice.recall("tea").dropped] == ["not valid yet"]
    clock.pass_days(1)
    assert alice.recall("tea").ids == ("a",)
    clock.pass_days(1)
    assert [one.reason for one in alice.recall("tea").dropped] == ["expired"]


def test_what_does_not_exist_cannot_be_superseded_and_nothing_is_written(alice: UserMemory) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        alice.remember("tea", supersedes="nowhere")
    assert alice.stats().records == 0


def test_a_memory_cannot_supersede_itself(alice: UserMemory) -> None:
    with pytest.raises(InvalidInputError, match="supersede"):
        alice.remember("tea", id="a", supersedes="a")
    assert alice.stats().records == 0


# --- pin, unpin, demote, feedback


def test_a_pin_is_set_shown_and_taken_back(memory: AdaptiveMemory, alice: UserMemory) -> None:
    alice.remember("tea", id="a")
    assert alice.pin("a").pinned
    memory.flush()
    assert alice.get("a").read.pinned
    assert shown(memory, "a")["pinned"] == 1
    assert not alice.unpin("a").pinned
    memory.flush()
    assert not alice.get("a").read.pinned
    assert shown(memory, "a")["pinned"] == 0


def test_a_demoted_memory_loses_its_standing_and_keeps_its_history(alice: UserMemory, clock: Clock) -> None:
    alice.remember("tea", id="a")
    alice.pin("a")
    for _ in range(3):
        alice.recall("tea")
        clock.pass_days(1)
    assert alice.get("a").read.remembered
    state = alice.demote("a")
    assert (state.remembered, state.pinned, state.retrieval_count) == (False, False, 3)
    assert alice.get("a").importance == pytest.approx(0.5 * 0.95)


@pytest.mark.parametrize("verb", ["get", "pin", "unpin", "demote", "forget"])
def test_an_unknown_id_is_not_found(alice: UserMemory, verb: str) -> None:
    alice.remember("tea", id="a")
    alice.recall("tea")
    with pytest.raises(NotFoundError, match="'e' for user 'alice'"):
        getattr(alice, verb)("e")


def test_feedback_moves_the_importance_by_a_twentieth_and_counts_once(alice: UserMemory) -> None:
    alice.remember_many([{"text": "tea one", "id": "a"}, {"text": "tea two", "id": "b"}])
    answer = alice.recall("tea")
    assert alice.feedback(answer, helpful=["a"], unhelpful=["b"]) == 2
    assert alice.get("a").importance == pytest.approx(0.525)
    assert alice.get("b").importance == pytest.approx(0.475)
    assert alice.feedback(answer, helpful=["a"], unhelpful=["b"]) == 0
    assert alice.feedback(answer.id, helpful=["a"]) == 0
    assert alice.get("a").importance == pytest.approx(0.525)
    assert alice.stats().verdicts == 2


def test_feedback_takes_hits_and_records_as_well_as_ids(alice: UserMemory) -> None:
    alice.remember_many([{"text": f"tea {number}", "id": f"t{number}"} for number in range(3)])
    answer = alice.recall("tea", k=3)
    assert alice.feedback(answer, helpful=[answer[0]], unhelpful=[answer[1].record]) == 2
    assert alice.get(answer[0].id).read.helpful == 1
    assert alice.get(answer[1].id).read.unhelpful == 1
    assert alice.feedback_on_answer(unhelpful=[answer[2]]) == 1
    assert alice.get(answer[2].id).read.unhelpful == 1


def test_feedback_by_id_counts_once_over_a_restart(open_memory: Open) -> None:
    with open_memory() as first:
        alice = first.for_user("alice")
        alice.remember("tea", id="a")
        recall_id = alice.recall("tea").id
        assert alice.feedback(recall_id, helpful=["a"]) == 1
    with open_memory() as second:
        alice = second.for_user("alice")
        assert alice.feedback(recall_id, helpful=["a"]) == 0
        assert alice.get("a").importance == pytest.approx(0.525)
        assert alice.feedback(recall_id, unhelpful=["a"]) == 1
        assert alice.get("a").importance == pytest.approx(0.475)
        assert alice.stats().verdicts == 1


def test_feedback_counts_once_through_two_memories_at_a_time(open_memory: Open) -> None:
    one, other = open_memory().for_user("alice"), open_memory().for_user("alice")
    one.remember("tea", id="a")
    answer = one.recall("tea")
    assert (one.feedback(answer, helpful=["a"]), other.feedback(answer.id, helpful=["a"])) == (1, 0)
    assert one.get("a").importance == other.get("a").importance == pytest.approx(0.525)


def test_a_changed_mind_takes_back_exactly_its_own_verdict_and_no_other(alice: UserMemory, clock: Clock) -> None:
    alice.remember("tea", id="a")
    first = alice.recall("tea")
    clock.pass_days(1)
    second = alice.recall("tea")
    alice.feedback(first, helpful=["a"])
    alice.feedback(second, helpful=["a"])
    both = alice.get("a").read.boost
    alice.feedback(first, unhelpful=["a"])
    assert alice.get("a").read.boost == pytest.approx(0.95 * 1.05 - 1)
    alice.feedback(first, helpful=["a"])
    assert alice.get("a").read.boost == pytest.approx(both) == pytest.approx(0.1025)


def test_feedback_on_a_look_without_touching_is_taken_by_its_recall(alice: UserMemory) -> None:
    alice.remember("tea", id="a")
    answer = alice.recall("tea", reinforce=False)
    assert alice.feedback(answer, helpful=["a"]) == 1
    with pytest.raises(NotFoundError, match="no recall"):
        alice.feedback(answer.id, helpful=["a"])


def test_feedback_judges_only_what_the_recall_returned(alice: UserMemory) -> None:
    alice.remember_many([{"text": "green tea", "id": "a"}, {"text": "red car", "id": "b"}])
    answer = alice.recall("green tea", k=1)
    for recall in (answer, answer.id):
        with pytest.raises(InvalidInputError, match="did not return 'b'"):
            alice.feedback(recall, helpful=["a", "b"])
    assert alice.get("a").read.boost == 0.0


def test_verdicts_reach_the_ranking(alice: UserMemory, clock: Clock) -> None:
    alice.remember_many([{"text": "tea one", "id": "a"}, {"text": "tea two", "id": "b"}])
    for _ in range(10):
        alice.feedback(alice.recall("tea"), helpful=["b"], unhelpful=["a"])
        clock.pass_days(1)
    worth = Policy(weights=Weights(recency=0, importance=1, similarity=0))
    assert alice.recall("tea", policy=worth).ids == ("b", "a")
    assert alice.get("b").importance == pytest.approx(0.75)  # importance_bound, of 0.5
    assert alice.get("a").importance == pytest.approx(0.5 * 0.95**10)


def test_forgetting_what_took_its_place_makes_a_memory_valid_again(alice: UserMemory) -> None:
    alice.remember("old tea", id="old")
    alice.remember("new tea", id="new", supersedes="old")
    assert alice.recall("tea").ids == ("new",)
    alice.forget("new")
    assert alice.recall("tea").ids == ("old",)
