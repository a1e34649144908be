"""What is left of the past: the log, the numbers, and nothing of what was forgotten?"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, NotFoundError, UserMemory
from tests.behaviour.conftest import eventually, shown
from tests.conftest import Clock, Open, ledger_rows

DAY = 86_400.0


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


def test_an_id_that_was_never_there_is_not_forgotten_and_leaves_no_mark(memory: AdaptiveMemory) -> None:
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
    assert line.policy_hash == answer.policy.hash
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


def test_the_log_can_be_switched_off(over: Open) -> None:
    alice = over(keeping=Keeping(log=False)).for_user("alice")
    alice.remember("tea", id="a")
    answer = alice.recall("tea")
    assert list(alice.recalls()) == []
    assert alice.get("a").read.retrieval_count == 1
    assert (alice.stats().recalls, alice.stats().logged_recalls) == (1, 0)
    assert alice.feedback(answer, helpful=["a"]) == 1


@pytest.mark.parametrize("keeping", [Keeping(lag_seconds=0.01, log_recalls=3), Keeping(lag_seconds=0.01, log_days=2.5)])
def test_the_log_keeps_what_its_retention_says(over: Open, clock: Clock, keeping: Keeping) -> None:
    memory = over(keeping=keeping)
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


def test_what_is_remembered_under_a_forgotten_id_is_logged_and_judged(alice: UserMemory) -> None:
    for number in range(5):
        alice.remember(f"zebra number {number}", id="zebra")
        alice.remember(f"giraffe number {number}", id=f"giraffe {number}")
        answer = alice.recall("zebra", k=1)
        assert alice.feedback(answer, helpful=["zebra"]) == 1
        assert [one.id for one in alice.recalls(limit=1)[0].kept] == ["zebra"]
        alice.forget("zebra")
        assert not [one for past in alice.recalls() for one in past.candidates if one.id == "zebra"]
        alice.recall("giraffe", k=1)  # whose id may get the number that has become free
