"""How many messages does a recall send to PostgreSQL, and does it read again only what others may have changed?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from adaptive_memory_core.flow.calls.running_calls import one_call
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.records import ReadState, Scope, Seen
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from tests.postgres_server import new_database
from tests.store.ledger.reads import ALICE, BOB, NEW, entry, read, turned

pytestmark = pytest.mark.hard("PostgreSQL")

OVER = Scope("bob", over="everyone")


class Messages:
    """What is sent to the server, while it is asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[str] = []
        execute = psycopg.Connection.execute

        def noted(connection: Any, query: Any, *given: Any, **named: Any) -> Any:
            self.sent.append(str(query))
            return execute(connection, query, *given, **named)

        monkeypatch.setattr(psycopg.Connection, "execute", noted)

    def of(self, call: Callable[[], object]) -> list[str]:
        self.sent.clear()
        call()
        return self.sent.copy()


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> Messages:
    return Messages(monkeypatch)


@pytest.fixture
def two() -> Iterator[tuple[PostgresLedger, PostgresLedger]]:
    address = new_database()
    ours, theirs = PostgresLedger(address), PostgresLedger(address)
    for one in (ours, theirs):
        one.attach("uuid", "memories")
    yield ours, theirs
    for one in (ours, theirs):
        one.close()


def known(ledger: PostgresLedger, scope: Any = ALICE) -> int:
    found = ledger.states.known(scope, ["m1"]).states
    return found["m1"].retrieval_count if "m1" in found else 0


def test_a_recall_is_looked_up_and_counted_in_a_few_messages(
    two: tuple[PostgresLedger, PostgresLedger], messages: Messages
) -> None:
    ours, _ = two
    for number in range(3):
        read(ours, ALICE, f"r{number}", "m1", at=float(number))
    known(ours)
    looked = messages.of(lambda: known(ours))
    counted = messages.of(lambda: read(ours, ALICE, "r9", "m1", at=9.0))
    assert len(looked) == 1  # the versions of the collection and of the user
    assert [one.split()[0] for one in counted] == ["BEGIN;", "UPDATE"]
    assert counted[-1].count("INSERT") == 3  # the outbox, the log and the mark of its writer
    assert counted[-1].endswith("COMMIT")


def test_what_others_recall_is_read_again_for_that_user_alone(
    two: tuple[PostgresLedger, PostgresLedger], messages: Messages
) -> None:
    ours, theirs = two
    for ledger in two:
        for scope, record in ((ALICE, "m1"), (BOB, "m2")):
            read(ledger, scope, f"{id(ledger)} {scope.user}", record)
            known(ledger, scope)
    before = known(ours)
    read(theirs, BOB, "r1", "m2", at=5.0)
    assert len(messages.of(lambda: known(ours))) == 1  # nothing else than the two versions
    read(theirs, ALICE, "r2", "m1", at=6.0)
    assert known(ours) == before + 1
    assert read(ours, ALICE, "r3", "m1", at=7.0) == 4
    assert (known(ours), known(theirs)) == (before + 2, before + 2)


def test_what_others_write_besides_is_read_again_for_all(two: tuple[PostgresLedger, PostgresLedger]) -> None:
    ours, theirs = two
    read(ours, ALICE, "r1", "m1")
    assert not ours.states.known(ALICE, ["m1"]).states["m1"].pinned
    theirs.states.change(ALICE, "m1", NEW, turned, what="pinned", by="test", now=2.0)
    assert ours.states.known(ALICE, ["m1"]).states["m1"].pinned
    with theirs.transaction():
        read(theirs, ALICE, "r2", "m1", at=3.0)
        theirs.states.change(ALICE, "m1", NEW, turned, what="unpinned", by="test", now=3.0)
    now = ours.states.known(ALICE, ["m1"]).states["m1"]
    assert (now.pinned, now.retrieval_count) == (False, 2)
    ours.removal.erase(ALICE, "m1", "m1", existed=True, now=4.0)
    assert known(theirs) == 0


def undone(ledger: PostgresLedger, name: str = "r2") -> None:
    with ledger.transaction():
        read(ledger, ALICE, name, "m1", at=2.0)
        raise RuntimeError


def test_a_recall_that_was_undone_leaves_nothing_known(two: tuple[PostgresLedger, PostgresLedger]) -> None:
    ours, theirs = two
    read(ours, ALICE, "r1", "m1")
    with pytest.raises(RuntimeError):
        undone(ours)
    assert (known(ours), known(theirs)) == (1, 1)
    steps = [read(one, ALICE, f"r{number}", "m1", at=float(number)) for number, one in enumerate(two * 2, start=3)]
    assert steps == [2, 3, 4, 5]
    assert known(ours) == known(theirs) == 5


def test_whoever_counts_a_recall_in_whatever_transaction_others_hear_of_it_and_hear_it_themselves(
    two: tuple[PostgresLedger, PostgresLedger],
) -> None:
    ours, theirs = two
    steps = [read(one, ALICE, f"met {number}", "m1", at=float(number)) for number, one in enumerate(two)]
    with pytest.raises(RuntimeError):
        undone(ours)  # then it is not known yet whose recall begins
    steps += [read(one, ALICE, f"undone {number}", "m1", at=2.0 + number) for number, one in enumerate((*two, ours))]
    with ours.transaction():
        steps += [read(ours, ALICE, f"within {number}", "m1", at=5.0 + number) for number in range(2)]
    steps += [read(one, ALICE, f"after {number}", "m1", at=7.0 + number) for number, one in enumerate((*two, *two))]
    steps.append(read(theirs, ALICE, "once more", "m1", at=11.0))
    steps.append(read(ours, ALICE, "and more", "m1", at=12.0))
    assert steps == list(range(1, 14))
    assert known(ours) == known(theirs) == 13


def test_what_a_reader_makes_of_everyones_records_is_seen_elsewhere(
    two: tuple[PostgresLedger, PostgresLedger],
) -> None:
    ours, theirs = two
    shared = NEW._replace(shared=True)
    for number, ledger in enumerate((ours, theirs, ours)):
        ledger.recalls.count(OVER, entry(f"over {number}", float(number), "m1"), {"m1": shared}, _once_more)
    assert known(ours, OVER) == known(theirs, OVER) == 3


def _once_more(seen: Sequence[Seen], _timeline: object) -> list[ReadState]:
    return [replace(one.state, retrieval_count=one.state.retrieval_count + 1) for one in seen]


def written_back(ledger: PostgresLedger) -> None:
    """What the write-back of a recall does."""
    due = ledger.outbox.due(10)
    assert due
    ledger.mirror.annotate({one.stored_id: {"retrieval_count": one.version} for one in due})
    ledger.outbox.settle(due)


def test_what_is_written_back_is_read_again_by_nobody_who_does_not_ask_for_it(
    two: tuple[PostgresLedger, PostgresLedger], messages: Messages
) -> None:
    ours, theirs = two
    ours.mirror.put({ALICE: [MirrorRow("m1", "tea", {"user_id": "alice"}, b"\0" * 8)]})
    for ledger in two:
        read(ledger, ALICE, f"{id(ledger)}", "m1")
    assert (known(ours), len(ours.mirror.rows(["m1"])), len(ours.words.stored_ids())) == (2, 1, 0)
    written_back(theirs)
    assert len(messages.of(lambda: known(ours))) == 1
    assert len(messages.of(ours.words.stored_ids)) == 1
    assert ours.mirror.rows(["m1"]) == theirs.mirror.rows(["m1"])
    assert ours.mirror.rows(["m1"])[0][2] == {"user_id": "alice", "retrieval_count": 2}


def test_what_this_process_wrote_back_itself_is_not_read_again(
    two: tuple[PostgresLedger, PostgresLedger], messages: Messages
) -> None:
    ours, theirs = two
    ours.mirror.put({ALICE: [MirrorRow("m1", "tea", {"user_id": "alice"}, b"\0" * 8)]})
    read(ours, ALICE, "r1", "m1")
    ours.mirror.rows(["m1"])
    written_back(ours)
    with one_call():
        assert len(messages.of(lambda: ours.mirror.rows(["m1"]))) == 1  # whether anybody has written
    assert ours.mirror.rows(["m1"]) == theirs.mirror.rows(["m1"])


def test_what_waits_to_be_sent_of_a_part_that_was_undone_is_not_sent(
    two: tuple[PostgresLedger, PostgresLedger],
) -> None:
    ours, _ = two
    read(ours, ALICE, "r1", "m1")
    with ours.transaction():
        read(ours, ALICE, "r2", "m1", at=2.0)
        with pytest.raises(RuntimeError):
            undone(ours, "r3")
        read(ours, ALICE, "r4", "m1", at=4.0)
    for ledger in two:
        lines = ledger.log.recalls(ALICE, since=None, until=None, limit=9, containing=None)
        assert [(one.id, one.step) for one in lines] == [("r4", 3), ("r2", 2), ("r1", 1)]
        assert known(ledger) == 3


def test_any_text_and_number_can_wait_to_be_sent(two: tuple[PostgresLedger, PostgresLedger]) -> None:
    ours, theirs = two
    text = "what's \\ %s ; said\x00 \ufdd0 \U0001f375"
    given = entry("r1", 1e9 + 1 / 3, "m1")._replace(cue=text)
    ours.recalls.count(ALICE, given, {"m1": NEW}, _once_more)
    line = theirs.log.recall(ALICE, "r1")
    assert line is not None
    assert (line.cue, line.at) == (text, 1e9 + 1 / 3)
