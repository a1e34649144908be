"""Does the public contract hold, call by call, over real Chroma - and again after a restart?"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from chromadb import Collection

from adaptive_memory_core import (
    AdaptiveMemory,
    ClosedError,
    EmbedderMismatchError,
    InvalidInputError,
    Keeping,
    NotFoundError,
    Policy,
    Record,
    ScopeError,
    UserMemory,
    Weights,
)

if TYPE_CHECKING:
    from tests.conftest import Clock, Contents, Open, Rows, Vectors

DAY = 86_400.0


def shown(memory: AdaptiveMemory, stored_id: str) -> dict[str, Any]:
    """A record's metadata as the collection itself gives it."""
    store: Any = memory.ports().store
    found = store.collection.get(ids=[stored_id], include=["metadatas"])["metadatas"]
    return dict(found[0] or {})


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether it becomes true within ten seconds: for what a background thread does."""
    for _ in range(1000):
        if holds():
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    return memory.for_user("alice")


# --- remember and get


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


@pytest.mark.slow
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
    alice.remember("likes coffee", id="a", metadata={"new": 2, "both": 2})
    record = alice.get("a")
    assert record.read == before
    assert (before.retrieval_count, before.remembered, before.pinned) == (3, True, True)
    assert (record.text, record.valid_until, dict(record.metadata)) == ("likes coffee", None, {"new": 2, "both": 2})
    memory.flush()
    assert {"old", "valid_until"} & set(shown(memory, "a")) == set()
    assert shown(memory, "a")["retrieval_count"] == 3
    assert alice.recall("likes coffee")[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert alice.stats().records == 1


# --- recall


def test_a_recall_ranks_scores_and_explains(alice: UserMemory) -> None:
    alice.remember_many(["alice likes green tea", "bob drives a red car", "the sky is blue today"])
    answer = alice.recall("green tea", k=2)
    assert len(answer) == 2
    assert answer[0].text == "alice likes green tea"
    assert 0 <= answer[1].score <= answer[0].score <= 1
    assert set(answer[0].parts) == {"recency", "importance", "similarity"}
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
    answer = alice.recall("quarterly tax report", policy=Policy(similarity_floor=0.9))
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


def test_looking_without_touching_changes_nothing_at_all(
    open_memory: Open, clock: Clock, ledger_rows: Callable[..., Rows], contents: Callable[[Collection], Contents]
) -> None:
    memory = open_memory()
    alice, store = memory.for_user("alice"), memory.ports().store
    collection: Collection = store.collection  # type: ignore[attr-defined]
    alice.remember_many([{"text": f"tea number {n}", "id": str(n)} for n in range(5)])
    alice.recall("tea", k=2)
    memory.flush()
    clock.pass_days(1)
    before = ledger_rows(memory), contents(collection), collection.metadata, alice.stats()
    for user in (alice, memory.for_user("never seen"), memory.for_everyone()):
        answer = user.recall("tea", reinforce=False)
        answer.explain(), answer.render()
        assert answer.step is None
        user.stats(), user.recalls()
    alice.get("1")
    memory.flush()
    assert (ledger_rows(memory), contents(collection), collection.metadata, alice.stats()) == before


# --- supersession and validity


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
    assert alice.get("b").importance == pytest.approx(0.75)  # boost_max, of 0.5
    assert alice.get("a").importance == pytest.approx(0.5 * 0.95**10)


# --- forget


def test_forgetting_leaves_neither_id_nor_text_in_the_ledgers_file(
    open_memory: Open, tmp_path: Path, clock: Clock
) -> None:
    memory = open_memory()
    alice = memory.for_user("alice")
    alice.remember_many([{"text": "xylophone passphrase tea", "id": "secret-id"}, {"text": "tea plain", "id": "kept"}])
    alice.remember("tea again", id="newer", supersedes="secret-id")
    clock.pass_days(1)
    answer = alice.recall("tea")
    alice.feedback(answer, helpful=["newer"])
    alice.recall("tea", filter={"kind": "event"})
    alice.remember("xylophone passphrase water", id="secret-id")
    answer = alice.recall("tea")
    alice.feedback(answer, unhelpful=["secret-id"])
    receipt = alice.forget("secret-id")
    assert (receipt.id, receipt.collection, receipt.ledger) == ("secret-id", True, True)
    assert (receipt.log_entries, receipt.verdicts) == (3, 1)
    memory.close()
    ledger = tmp_path / "memory" / "adaptive_memory.sqlite3"
    with closing(sqlite3.connect(ledger)) as sql:
        dump = "\n".join(sql.iterdump())
    assert "secret-id" not in dump
    assert "xylophone" not in dump
    for file in (ledger, *ledger.parent.glob("adaptive_memory.sqlite3-*")):
        assert b"secret-id" not in file.read_bytes()
        assert b"xylophone" not in file.read_bytes()
    with open_memory() as again:
        alice = again.for_user("alice")
        assert {record.id for line in alice.recalls() for record in line.candidates} == {"kept", "newer"}
        assert alice.get("newer").supersedes is None
        with pytest.raises(NotFoundError):
            alice.get("secret-id")


def test_forgetting_one_id_leaves_lines_about_others_as_they_were(alice: UserMemory, clock: Clock) -> None:
    alice.remember_many([{"text": "tea one", "id": "k"}, {"text": "tea two", "id": "bk"}, {"text": "tea", "id": "s"}])
    alice.recall("tea two", k=1)
    clock.pass_days(1)
    alice.forget("k")
    (line,) = alice.recalls()
    assert {one.id: one.reason for one in line.candidates} == {"bk": None, "s": "beyond k"}


def test_a_receipt_counts_only_the_lines_that_named_the_record(alice: UserMemory, clock: Clock) -> None:
    alice.remember_many([{"text": "tea", "id": "a"}, {"text": "red car", "id": "abc", "valid_until": clock() + DAY}])
    alice.recall("tea", filter={"valid_until": {"$gt": 0}})
    assert alice.forget("a").log_entries == 0


def test_an_id_that_was_never_there_is_not_forgotten_and_leaves_no_mark(
    memory: AdaptiveMemory, ledger_rows: Callable[..., Rows]
) -> None:
    alice = memory.for_user("alice")
    alice.remember("tea", id="a")
    alice.recall("tea")
    memory.flush()
    before = ledger_rows(memory)
    for unknown in ("e", "score", "nowhere"):
        with pytest.raises(NotFoundError):
            alice.forget(unknown)
    with pytest.raises(NotFoundError):
        memory.for_user("somebody new").forget("a")
    assert ledger_rows(memory) == before


def test_what_is_remembered_anew_after_forgetting_starts_fresh(memory: AdaptiveMemory, clock: Clock) -> None:
    alice = memory.for_user("alice")
    alice.remember("tea", id="a")
    for _ in range(3):
        alice.feedback(alice.recall("tea"), helpful=["a"])
        clock.pass_days(1)
    alice.pin("a")
    alice.forget("a")
    alice.remember("tea", id="a")
    record = alice.get("a")
    assert (record.read.retrieval_count, record.read.remembered, record.read.pinned, record.read.boost) == (
        0,
        False,
        False,
        0,
    )
    assert record.importance == 0.5
    alice.recall("tea")
    memory.flush()
    assert alice.get("a").read.retrieval_count == shown(memory, "a")["retrieval_count"] == 1


def test_forgetting_twice_is_not_found(alice: UserMemory) -> None:
    alice.remember("tea", id="a")
    assert alice.forget("a").collection
    with pytest.raises(NotFoundError):
        alice.forget("a")


# --- the log


def test_the_log_tells_what_was_looked_at_and_why(alice: UserMemory, clock: Clock) -> None:
    alice.remember_many([{"text": "green tea", "id": "a"}, {"text": "red car", "id": "b"}])
    answer = alice.recall("green tea", k=1)
    (line,) = alice.recalls()
    assert (line.id, line.at, line.cue, line.k, line.step) == (answer.id, clock(), "green tea", 1, 1)
    assert line.policy_hash == Policy().hash
    assert [one.id for one in line.kept] == ["a"]
    assert {one.id: one.reason for one in line.candidates} == {"a": None, "b": "beyond k"}
    assert line.kept[0].score == pytest.approx(answer[0].score, abs=1e-4)
    assert line.kept[0].parts == pytest.approx(dict(answer[0].parts), abs=1e-4)
    assert line.kept[0].signals["similarity"] == pytest.approx(answer[0].similarity, abs=1e-6)


def test_the_log_is_asked_by_time_by_number_and_by_record(alice: UserMemory, clock: Clock) -> None:
    alice.remember_many([{"text": "green tea", "id": "a", "metadata": {"x": 1}}, {"text": "red car", "id": "b"}])
    start = clock()
    for cue in ("one", "two", "three"):
        alice.recall(cue, filter={"x": 1} if cue == "two" else None)
        clock.pass_days(1)
    assert [line.cue for line in alice.recalls()] == ["three", "two", "one"]
    assert [line.cue for line in alice.recalls(since=start + DAY)] == ["three", "two"]
    assert [line.cue for line in alice.recalls(until=start + DAY)] == ["two", "one"]
    assert [line.cue for line in alice.recalls(limit=1)] == ["three"]
    assert [line.cue for line in alice.recalls(containing="b")] == ["three", "one"]
    assert alice.recalls(containing="nothing of that name") == []


@pytest.mark.parametrize("word", ["score", "similarity", "parts", "id", "beyond k"])
def test_the_log_is_not_found_by_words_that_are_no_id(alice: UserMemory, word: str) -> None:
    alice.remember_many(["green tea", "red car"])
    alice.recall("tea", k=1)
    assert list(alice.recalls(containing=word)) == []


def test_the_log_can_be_switched_off(collection: Collection, clock: Clock, embed: Callable[..., Vectors]) -> None:
    with AdaptiveMemory(collection, embedder=embed, clock=clock, keeping=Keeping(log=False)) as memory:
        alice = memory.for_user("alice")
        alice.remember("tea", id="a")
        answer = alice.recall("tea")
        assert list(alice.recalls()) == []
        assert alice.get("a").read.retrieval_count == 1
        assert (alice.stats().recalls, alice.stats().logged_recalls) == (1, 0)
        assert alice.feedback(answer, helpful=["a"]) == 1


@pytest.mark.parametrize("keeping", [Keeping(lag_seconds=0.01, log_recalls=3), Keeping(lag_seconds=0.01, log_days=2.5)])
def test_the_log_keeps_what_its_retention_says(
    collection: Collection, clock: Clock, embed: Callable[..., Vectors], keeping: Keeping
) -> None:
    with AdaptiveMemory(collection, embedder=embed, clock=clock, keeping=keeping) as memory:
        alice, bob = memory.for_user("alice"), memory.for_user("bob")
        alice.remember("tea")
        bob.remember("tea")
        bob.recall("bob")
        for number in range(6):
            clock.pass_days(1)
            alice.recall(str(number))
        assert eventually(lambda: len(alice.recalls()) == 3)
        assert [line.cue for line in alice.recalls()] == ["5", "4", "3"]
        assert len(bob.recalls()) == (1 if keeping.log_days > 5 else 0)
        assert alice.stats().recalls == 6


def test_a_long_cue_is_logged_in_part(alice: UserMemory) -> None:
    alice.remember("tea")
    alice.recall("word " * 100_000)
    assert len(alice.recalls()[0].cue) <= 2_000


# --- stats


def test_stats_tell_of_this_scope_alone(memory: AdaptiveMemory, clock: Clock) -> None:
    alice, bob = memory.for_user("alice"), memory.for_user("bob")
    alice.remember_many([{"text": "tea", "id": "a"}, {"text": "coffee", "id": "b"}])
    bob.remember("tea")
    for _ in range(3):
        answer = alice.recall("tea", k=1)
        clock.pass_days(1)
    alice.feedback(answer, helpful=["a"])
    alice.pin("b")
    stats = alice.stats()
    assert (stats.records, stats.recalls, stats.reads, stats.read_records) == (2, 3, 3, 1)
    assert (stats.remembered, stats.pinned, stats.verdicts, stats.logged_recalls) == (1, 1, 1, 3)
    assert stats.projection.pending == 2
    memory.flush()
    assert alice.stats().projection.pending == 0
    assert (bob.stats().records, bob.stats().recalls, bob.stats().reads) == (1, 0, 0)


# --- the write-back


def test_after_a_flush_the_collection_shows_what_was_read(memory: AdaptiveMemory, clock: Clock) -> None:
    alice = memory.for_user("alice")
    alice.remember("tea", id="a", importance=0.75, metadata={"source": "chat"})
    for _ in range(3):
        clock.pass_seconds(0.123456)
        clock.pass_days(1)
        alice.recall("tea")
    memory.flush()
    metadata = shown(memory, "a")
    assert metadata["last_read"] == pytest.approx(clock(), abs=1e-6)
    assert (metadata["retrieval_count"], metadata["remembered"], metadata["strength"]) == (3, 1, 1.0)
    assert type(metadata["retrieval_count"]) is type(metadata["remembered"]) is int
    assert type(metadata["last_read"]) is type(metadata["strength"]) is float
    assert (metadata["user_id"], metadata["kind"], metadata["importance"]) == ("alice", "event", 0.75)
    assert (metadata["source"], type(metadata["created_at"])) == ("chat", float)


def test_a_new_record_already_carries_the_public_keys(memory: AdaptiveMemory) -> None:
    memory.for_user("alice").remember("tea", id="a")
    memory.for_everyone().remember("tea", id="b")
    own = {"user_id", "kind", "importance", "created_at", "retrieval_count", "remembered", "strength"}
    assert set(shown(memory, "a")) == own
    assert set(shown(memory, "b")) == own - {"user_id"}


def test_write_through_shows_a_read_before_the_recall_returns(
    collection: Collection, clock: Clock, embed: Callable[..., Vectors]
) -> None:
    with AdaptiveMemory(collection, embedder=embed, clock=clock, write="through") as memory:
        alice = memory.for_user("alice")
        alice.remember("tea", id="a")
        alice.recall("tea")
        assert shown(memory, "a")["retrieval_count"] == 1
        assert shown(memory, "a")["last_read"] == clock()


def test_the_write_back_happens_by_itself(collection: Collection, clock: Clock, embed: Callable[..., Vectors]) -> None:
    with AdaptiveMemory(collection, embedder=embed, clock=clock, keeping=Keeping(lag_seconds=0.01)) as memory:
        alice = memory.for_user("alice")
        alice.remember("tea", id="a")
        alice.recall("tea")
        assert eventually(lambda: shown(memory, "a")["retrieval_count"] == 1)


def test_filters_see_what_was_read(memory: AdaptiveMemory, clock: Clock) -> None:
    alice = memory.for_user("alice")
    alice.remember_many([{"text": "green tea", "id": "a"}, {"text": "red car", "id": "b"}])
    for _ in range(3):
        alice.recall("green tea", k=1)
        clock.pass_days(1)
    memory.flush()
    assert alice.recall("tea", filter={"remembered": 1}).ids == ("a",)
    assert alice.recall("tea", filter={"retrieval_count": {"$gte": 3}}).ids == ("a",)


# --- opening, closing, restarting


def test_everything_is_there_after_a_restart(open_memory: Open, clock: Clock) -> None:
    with open_memory() as first:
        alice = first.for_user("alice")
        alice.remember_many([{"text": "green tea", "id": "a", "importance": 0.8}, {"text": "red car", "id": "b"}])
        answer = alice.recall("green tea", k=1)
        alice.feedback(answer, helpful=["a"])
        alice.pin("b")
        before = [alice.get("a"), alice.get("b"), alice.recalls(), alice.recall("tea", reinforce=False).ids]
        stats = alice.stats()
    with open_memory() as second:
        alice = second.for_user("alice")
        assert [alice.get("a"), alice.get("b"), alice.recalls(), alice.recall("tea", reinforce=False).ids] == before
        again = alice.stats()
        assert (again.records, again.reads, again.verdicts) == (stats.records, stats.reads, stats.verdicts)
        assert again.projection.pending == 0
        clock.pass_days(1)
        alice.recall("green tea", k=1)
        assert alice.get("a").read.retrieval_count == 2


def test_closing_writes_back_what_is_due(open_memory: Open) -> None:
    memory = open_memory()
    memory.for_user("alice").remember("tea", id="a")
    memory.for_user("alice").recall("tea")
    memory.close()
    with open_memory() as again:
        assert shown(again, "a")["retrieval_count"] == 1


def test_the_ledger_lies_beside_the_collection_unless_told_otherwise(open_memory: Open, tmp_path: Path) -> None:
    open_memory().for_user("alice").remember("tea")
    assert (tmp_path / "memory" / "adaptive_memory.sqlite3").exists()
    elsewhere = tmp_path / "other place" / "reads.sqlite3"
    with open_memory(collection="second", ledger=elsewhere) as memory:
        memory.for_user("alice").remember("tea")
    assert elsewhere.exists()


def test_two_collections_of_one_directory_do_not_meet(open_memory: Open) -> None:
    one, two = open_memory(collection="one"), open_memory(collection="two")
    one.for_user("alice").remember("tea", id="a")
    one.for_user("alice").recall("tea")
    alice = two.for_user("alice")
    assert len(alice.recall("tea")) == 0
    assert alice.stats().recalls == 1
    assert alice.stats().records == 0
    assert [len(line.candidates) for line in alice.recalls()] == [0]
    alice.remember("coffee", id="a")
    assert alice.get("a").read.retrieval_count == 0
    assert one.for_user("alice").get("a").text == "tea"


def test_closing_twice_is_closing_once(memory: AdaptiveMemory) -> None:
    memory.close()
    memory.close()


def test_a_memory_closes_at_the_end_of_its_block(open_memory: Open) -> None:
    with open_memory() as memory:
        alice = memory.for_user("alice")
        alice.remember("tea", id="a")
    with pytest.raises(ClosedError, match="Open it again"):
        alice.get("a")


def test_an_error_inside_the_block_closes_as_well(open_memory: Open) -> None:
    def fail() -> None:
        with open_memory() as memory:
            memory.for_user("alice").remember("tea", id="a")
            memory.for_user("alice").recall("tea")
            raise KeyError("of the caller")

    with pytest.raises(KeyError):
        fail()
    with open_memory() as again:
        assert shown(again, "a")["retrieval_count"] == 1


def test_a_closed_memory_refuses_every_verb(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    alice.remember("tea", id="a")
    answer = alice.recall("tea")
    memory.close()
    calls: list[Callable[[], object]] = [
        lambda: alice.remember("tea"),
        lambda: alice.remember_many(["tea"]),
        lambda: alice.recall("tea"),
        lambda: alice.recall("tea", reinforce=False),
        lambda: alice.get("a"),
        lambda: alice.pin("a"),
        lambda: alice.unpin("a"),
        lambda: alice.demote("a"),
        lambda: alice.forget("a"),
        lambda: alice.feedback(answer, helpful=["a"]),
        alice.recalls,
        alice.stats,
        memory.flush,
        lambda: memory.for_user("bob").stats(),
    ]
    for call in calls:
        with pytest.raises(ClosedError, match="was closed"):
            call()


def test_no_verb_exists_without_a_scope(memory: AdaptiveMemory) -> None:
    verbs = {name for name in dir(UserMemory) if not name.startswith("_")} - {"scope", "user"}
    assert {"recall", "remember", "get", "forget", "stats"} <= verbs
    assert not verbs & set(dir(memory))


def test_scopes_say_whose_they_are(memory: AdaptiveMemory) -> None:
    assert memory.for_user("alice").user == "alice"
    assert memory.for_everyone().user is None
    with pytest.raises(ScopeError):
        memory.for_user(None)  # type: ignore[arg-type]


def test_what_belongs_to_everyone_is_nobodys_own(memory: AdaptiveMemory) -> None:
    everyone, alice = memory.for_everyone(), memory.for_user("alice")
    everyone.remember("tea for all", id="a")
    alice.remember("tea for alice", id="b")
    assert everyone.recall("tea").ids == ("a",)
    assert alice.recall("tea").ids == ("b",)


@pytest.mark.parametrize("write", ["later", None, True])
def test_an_unknown_way_to_write_is_refused(collection: Collection, embed: Callable[..., Vectors], write: Any) -> None:
    with pytest.raises(InvalidInputError, match="'behind' or 'through'"):
        AdaptiveMemory(collection, embedder=embed, write=write)


def test_a_clock_that_is_no_function_is_refused(collection: Collection, embed: Callable[..., Vectors]) -> None:
    with pytest.raises(InvalidInputError, match="POSIX seconds"):
        AdaptiveMemory(collection, embedder=embed, clock=123.0)  # type: ignore[arg-type]


def test_the_bundled_embedder_opens_in_one_line(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path / "memory") as memory:
        alice = memory.for_user("alice")
        alice.remember_many(["she moved to Lisbon last spring", "the invoice is overdue", "he is allergic to nuts"])
        answer = alice.recall("what food must he avoid?", k=1)
        assert answer[0].text == "he is allergic to nuts"
    with AdaptiveMemory.open(tmp_path / "memory") as memory:
        assert memory.for_user("alice").get(answer[0].id).read.retrieval_count == 1


def test_another_embedder_on_a_written_collection_is_refused(open_memory: Open, embed: Callable[..., Vectors]) -> None:
    def shorter(texts: list[str]) -> list[list[float]]:
        return [[1.0, float(len(text))] for text in texts]

    def same_length(texts: list[str]) -> Any:
        return embed(texts)

    open_memory().for_user("alice").remember("tea")
    for other in (shorter, same_length):
        with pytest.raises(EmbedderMismatchError, match="was written with 'word_vectors'"):
            open_memory(embedder=other)
    assert open_memory().for_user("alice").recall("tea")[0].text == "tea"


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
