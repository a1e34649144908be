"""How does a record's standing change: by newer facts, by hand, by verdicts?"""

from __future__ import annotations

from functools import partial

import pytest

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, NotFoundError, Policy, UserMemory, Weights
from tests.behaviour.conftest import shown
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


async def test_an_update_changes_what_is_given_and_nothing_else(alice: UserMemory, clock: Clock) -> None:
    metadata = {"page": 3, "topic": "tea"}
    alice.remember("likes tea", id="a", importance=0.9, kind="fact", valid_until=clock() + DAY, metadata=metadata)
    alice.feedback(alice.recall("likes tea"), helpful=["a"])
    clock.pass_seconds(90)
    before = alice.get("a")
    assert alice.update("a", importance=0.3, metadata={"page": 4, "topic": None}) == alice.get("a")
    after = alice.get("a")
    assert (after.written_importance, dict(after.metadata)) == (0.3, {"page": 4})
    same = ("text", "kind", "created_at", "valid_until")
    assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same]
    assert after.read == before.read
    assert (await alice.aupdate("a", kind="event", valid_until=clock() + 9 * DAY)).read.helpful == 1
    assert (alice.get("a").kind, alice.get("a").valid_until) == ("event", clock() + 9 * DAY)
    assert dict(alice.get("a").metadata) == {"page": 4}


def test_an_update_of_the_text_is_found_by_its_words_and_begins_anew(alice: UserMemory) -> None:
    alice.remember_many([{"text": "lives in Berlin", "id": "a", "importance": 0.9}, {"text": "likes tea", "id": "b"}])
    alice.feedback(alice.recall("lives in Berlin", k=1), helpful=["a"])
    assert alice.update("a", text="lives in Paris").text == "lives in Paris"
    assert alice.recall("Paris", k=1).ids == ("a",)
    assert (alice.get("a").importance, alice.get("a").read.helpful) == (0.9, 0)


def test_an_update_keeps_the_links_between_records(alice: UserMemory, clock: Clock) -> None:
    alice.remember("lives in Berlin", id="old")
    clock.pass_days(1)
    alice.remember("lives in Paris", id="new", supersedes="old")
    ended = alice.get("old").valid_until
    alice.update("old", importance=0.1)
    alice.update("new", importance=0.1)
    assert (alice.get("old").superseded_by, alice.get("old").valid_until) == ("new", ended)
    assert alice.get("new").supersedes == "old"
    assert alice.recall("lives in Berlin").ids == ("new",)


def test_an_update_of_nothing_or_of_what_is_not_there_is_refused(memory: AdaptiveMemory, alice: UserMemory) -> None:
    alice.remember("likes tea", id="a")
    memory.for_everyone().remember("a page", id="page")
    with pytest.raises(InvalidInputError, match="nothing to change"):
        alice.update("a")
    with pytest.raises(InvalidInputError, match="importance is 2"):
        alice.update("a", importance=2)
    for user, unknown in ((alice, "nowhere"), (memory.for_user("alice", over="everyone"), "page")):
        with pytest.raises(NotFoundError):
            user.update(unknown, text="mine")
    assert memory.for_everyone().get("page").text == "a page"


async def test_several_are_forgotten_by_ids_or_by_a_filter(memory: AdaptiveMemory, alice: UserMemory) -> None:
    notes = [{"text": f"note {n}", "id": str(n), "metadata": {"old": n < 4}} for n in range(9)]
    alice.remember_many(notes)
    memory.for_user("bob").remember("note 1", id="1", metadata={"old": True})
    assert alice.forget("8").collection
    recall = alice.recall("note 7", k=1)
    assert [one.id for one in alice.forget([recall[0], alice.get("6"), "5", "5", "nowhere"])] == ["7", "6", "5"]
    assert sorted(one.id for one in await alice.aforget(filter={"old": True})) == ["0", "1", "2", "3"]
    assert alice.forget(filter={"old": True}) == []
    assert [one.id for one in alice.records()] == ["4"]
    assert memory.for_user("bob").get("1").text == "note 1"
    with pytest.raises(NotFoundError, match="nowhere"):
        alice.forget(["nowhere"])
    for forget in (alice.forget, partial(alice.forget, ["4"], filter={"old": False})):
        with pytest.raises(InvalidInputError, match="ids or a filter"):
            forget()


def test_a_filter_forgets_nothing_of_everyones(memory: AdaptiveMemory) -> None:
    memory.for_everyone().remember("a page", id="page", metadata={"old": True})
    reader = memory.for_user("alice", over="everyone")
    reader.remember("a note", id="note", metadata={"old": True})
    assert [one.id for one in reader.forget(filter={"old": True})] == ["note"]
    assert memory.for_everyone().get("page").text == "a page"


@pytest.mark.parametrize("policy", [None, Policy(min_score=0.01, min_similarity=0.9)])
async def test_a_recall_has_a_least_score_and_a_least_similarity(alice: UserMemory, policy: Policy | None) -> None:
    alice.remember_many([{"text": text, "id": text} for text in ("green tea", "green car", "red car")])
    every = alice.recall("green tea", reinforce=False, min_score=0.0, min_similarity=0.0, policy=policy)
    assert len(every) == 3
    second, near = every[1].score, sorted(one.similarity for one in every)[-2]
    cut = await alice.arecall("green tea", reinforce=False, min_score=second, min_similarity=0.0, policy=policy)
    assert cut.ids == every.ids[:2]
    assert "score" in cut.dropped[-1].reason
    likest = alice.recall("green tea", reinforce=False, min_similarity=near + 1e-6, min_score=0.0, policy=policy)
    assert likest.ids == ("green tea",)
    found = {one.id: one.similarity for one in every}
    again = alice.rerank("green tea", found, min_score=0.0, min_similarity=near + 1e-6, reinforce=False)
    assert again.ids == ("green tea",)
    with pytest.raises(InvalidInputError, match="min_score is 80"):
        alice.recall("tea", min_score=80)
