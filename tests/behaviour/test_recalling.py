"""Does a memory give back what it was given, ranked, explained and counted?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy, Record, UserMemory, Weights
from tests.behaviour.conftest import shown
from tests.conftest import Clock

DAY = 86_400.0


def test_what_is_remembered_can_be_got(alice: UserMemory, clock: Clock) -> None:
    given = alice.remember(
        "prefers PostgreSQL",
        id="db",
        importance=0.9,
        kind="fact",
        created_at=clock() - DAY,
        valid_from=clock() - DAY,
        valid_until=clock() + DAY,
        metadata={"source": "chat", "turn": 3, "tags": ["db", "tech"]},
    )
    record = alice.get("db")
    assert given == record.id == "db"
    assert (record.text, record.importance, record.kind) == ("prefers PostgreSQL", 0.9, "fact")
    assert (record.created_at, record.valid_from, record.valid_until) == (clock() - DAY, clock() - DAY, clock() + DAY)
    assert record.metadata == {"source": "chat", "turn": 3, "tags": ["db", "tech"]}
    assert (record.read.retrieval_count, record.read.last_read, record.read.remembered) == (0, None, False)


def test_an_id_is_made_up_where_none_is_given(alice: UserMemory) -> None:
    one, other = alice.remember("tea"), alice.remember("tea")
    assert one != other
    assert alice.get(one).text == alice.get(other).text == "tea"


def test_creation_is_now_unless_the_caller_says_otherwise(alice: UserMemory, clock: Clock) -> None:
    alice.remember("tea", id="a")
    alice.remember("coffee", id="b", created_at=datetime(2025, 1, 1, tzinfo=timezone.utc))
    assert alice.get("a").created_at == clock()
    assert alice.get("b").created_at == datetime(2025, 1, 1, tzinfo=timezone.utc).timestamp()


def test_remember_many_takes_texts_mappings_and_records_and_keeps_their_order(alice: UserMemory) -> None:
    ids = alice.remember_many(
        ["tea", {"text": "coffee", "id": "c", "importance": 0.0}, Record("r", "water", kind="fact")]
    )
    assert ids[1:] == ["c", "r"]
    assert [alice.get(one).text for one in ids] == ["tea", "coffee", "water"]
    assert alice.get("c").importance == 0.0
    assert alice.get("r").kind == "fact"
    assert alice.remember_many(iter([])) == []


@pytest.mark.hard("large")
def test_a_collection_larger_than_one_batch_is_written_whole(alice: UserMemory) -> None:
    ids = alice.remember_many(f"number {n} of many" for n in range(5_500))
    assert len(set(ids)) == alice.stats().records == 5_500
    assert alice.get(ids[0]).text == "number 0 of many"
    assert alice.get(ids[-1]).text == "number 5499 of many"
    assert len(alice.recall("number 5400 of many", k=50)) == 50


def test_remembering_over_an_id_keeps_its_reads_and_removes_stale_keys(memory: AdaptiveMemory, clock: Clock) -> None:
    alice = memory.for_user("alice")
    alice.remember("likes tea", id="a", metadata={"old": 1, "both": 1}, valid_until=clock() + 100 * DAY)
    for _ in range(3):
        alice.recall("tea")
        clock.pass_days(1)
    alice.pin("a")
    before = alice.get("a").read
    alice.remember("likes  tea", id="a", metadata={"new": 2, "both": 2})
    record = alice.get("a")
    assert record.read == before
    assert (before.retrieval_count, before.remembered, before.pinned) == (3, True, True)
    assert (record.text, record.valid_until, dict(record.metadata)) == ("likes  tea", None, {"new": 2, "both": 2})
    memory.flush()
    assert {"old", "valid_until"} & set(shown(memory, "a")) == set()
    assert shown(memory, "a")["retrieval_count"] == 3
    alice.remember("likes coffee", id="a")
    assert (alice.get("a").text, alice.get("a").read.retrieval_count, alice.get("a").read.pinned) == (
        "likes coffee",
        0,
        False,
    )
    assert alice.recall("likes coffee")[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert alice.stats().records == 1


# --- recall


def test_a_recall_ranks_scores_and_explains(alice: UserMemory) -> None:
    alice.remember_many(["alice likes green tea", "bob drives a red car", "the sky is blue today"])
    answer = alice.recall("green tea", k=2)
    assert len(answer) == 2
    assert answer[0].text == "alice likes green tea"
    assert 0 <= answer[1].score <= answer[0].score <= 1
    assert set(answer[0].parts) == {"recency", "importance", "similarity", "words", "useful"}
    assert sum(answer[0].parts.values()) == pytest.approx(answer[0].score, abs=1e-9)
    assert [one.reason for one in answer.dropped] == ["beyond k"]
    assert answer[0].id in answer.explain()
    assert answer.dropped[0].id in answer.explain()
    assert "alice likes green tea" in answer.render(max_tokens=600)
    assert answer.id


def test_k_above_the_number_of_records_gives_them_all(alice: UserMemory) -> None:
    alice.remember_many(["tea", "coffee", "water"])
    assert len(alice.recall("tea", k=10_000)) == 3


def test_a_user_without_records_recalls_nothing(memory: AdaptiveMemory) -> None:
    memory.for_user("bob").remember("tea")
    answer = memory.for_user("alice").recall("tea")
    assert (len(answer), answer.dropped, answer.render()) == (0, (), "")
    assert "nothing found" in answer.explain()


def test_a_recall_counts_its_hits_as_read_and_not_what_it_dropped(alice: UserMemory, clock: Clock) -> None:
    alice.remember_many([{"text": "green tea", "id": "a"}, {"text": "red car", "id": "b"}])
    alice.recall("green tea", k=1)
    assert alice.get("a").read.retrieval_count == 1
    assert alice.get("a").read.last_read == clock()
    assert alice.get("b").read.retrieval_count == 0


def test_reads_within_the_refresh_floor_count_once_and_three_make_a_memory_remembered(
    alice: UserMemory, clock: Clock
) -> None:
    alice.remember("tea", id="a")
    for _ in range(5):
        alice.recall("tea")
        clock.pass_seconds(10)
    assert alice.get("a").read.retrieval_count == 1
    for _ in range(2):
        clock.pass_seconds(60)
        alice.recall("tea")
    assert (alice.get("a").read.retrieval_count, alice.get("a").read.remembered) == (3, True)


def test_a_read_memory_outranks_its_unread_twin(alice: UserMemory, clock: Clock) -> None:
    alice.remember_many([{"text": "green tea one", "id": "a"}, {"text": "green tea two", "id": "b"}])
    clock.pass_days(60)
    alice.recall("two", k=1, policy=Policy(weights=Weights(similarity=1, recency=0, importance=0)))
    clock.pass_days(1)
    assert alice.get("b").read.retrieval_count == 1
    answer = alice.recall(
        "green tea", reinforce=False, policy=Policy(weights=Weights(recency=1, importance=0, similarity=0))
    )
    assert answer.ids == ("b", "a")


def test_trap_now_is_an_argument_of_the_call_and_the_clock_otherwise(alice: UserMemory, clock: Clock) -> None:
    alice.remember("tea", id="a")
    assert alice.recall("tea", reinforce=False).now == clock()
    clock.pass_days(3)
    assert alice.recall("tea", reinforce=False).now == clock()
    later = alice.recall("tea", now=clock() + DAY)
    assert later.now == clock() + DAY
    assert alice.get("a").read.last_read == clock() + DAY


def test_a_filter_narrows_by_the_callers_metadata_and_by_ours(alice: UserMemory) -> None:
    alice.remember_many(
        [
            {"text": "green tea", "id": "a", "kind": "fact", "metadata": {"turn": 1}},
            {"text": "green tea", "id": "b", "kind": "fact", "metadata": {"turn": 2}},
            {"text": "green tea", "id": "c", "kind": "event", "metadata": {"turn": 2}},
        ]
    )
    assert set(alice.recall("tea", filter={"turn": 2}).ids) == {"b", "c"}
    assert alice.recall("tea", filter={"turn": 2, "kind": "fact"}).ids == ("b",)
    assert set(alice.recall("tea", filter={"$or": [{"turn": 1}, {"kind": "event"}]}).ids) == {"a", "c"}
    assert alice.recall("tea", filter={"turn": 9}).ids == ()


def test_an_absolute_floor_finds_nothing_where_nothing_fits(alice: UserMemory) -> None:
    alice.remember_many(["green tea", "red car"])
    answer = alice.recall("quarterly tax report", policy=Policy(min_similarity=0.9))
    assert answer.ids == ()
    assert {one.reason for one in answer.dropped} == {"below the similarity floor"}


def test_gates_do_not_starve_a_recall(alice: UserMemory, clock: Clock) -> None:
    alice.remember_many([{"text": "green tea", "valid_until": clock() + 1} for _ in range(60)])
    alice.remember_many([{"text": f"green tea and cake {n}", "id": f"valid{n}"} for n in range(5)])
    clock.pass_seconds(2)
    assert set(alice.recall("green tea").ids) == {f"valid{n}" for n in range(5)}


@pytest.mark.parametrize("preset", ["equal", "assistant", "support", "coding", "planning", "generative_agents"])
def test_every_preset_recalls(alice: UserMemory, preset: str) -> None:
    alice.remember_many(["green tea", "red car"])
    answer = alice.recall("green tea", policy=Policy.preset(preset))
    assert all(0 <= hit.score <= 1 for hit in answer)
    assert len(answer) == 2


def test_a_record_that_was_read_can_be_written_again_without_counting_its_verdicts_twice(alice: UserMemory) -> None:
    alice.remember("tea", id="a", importance=0.9)
    for _ in range(20):
        answer = alice.recall("tea")
        alice.feedback(answer, helpful=["a"])
    assert alice.get("a").importance == 1.0
    alice.remember_many([alice.get("a")])
    assert alice.get("a").written_importance == 0.9
    alice.remember_many([replace(alice.get("a"), importance=0.4)])
    assert alice.get("a").written_importance == 0.4


def test_a_record_made_by_hand_needs_no_id(alice: UserMemory) -> None:
    (given,) = alice.remember_many([Record(text="tea", importance=0.7, metadata={"cup": 2})])
    assert given
    assert (alice.get(given).text, alice.get(given).importance, alice.get(given).metadata) == ("tea", 0.7, {"cup": 2})
