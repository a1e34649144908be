"""How many messages does a recall send to PostgreSQL, and does it read again only what others may have changed?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from adaptive_memory_core.records import ReadState, Scope, Seen
from adaptive_memory_core.store.postgres.ledger import PostgresLedger
from tests.postgres_server import new_database
from tests.store.ledger.reads import ALICE, BOB, NEW, entry, read, turned

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
    assert len(looked) == 2  # the versions of the collection and of the user
    assert [one.split()[0] for one in counted] == ["BEGIN;", "UPDATE", "UPDATE", "INSERT", "INSERT", "INSERT"]
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
    assert len(messages.of(lambda: known(ours))) == 2  # nothing else than the two versions
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


def undone(ledger: PostgresLedger) -> None:
    with ledger.transaction():
        read(ledger, ALICE, "r2", "m1", at=2.0)
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


def test_what_a_reader_makes_of_everyones_records_is_seen_elsewhere(
    two: tuple[PostgresLedger, PostgresLedger],
) -> None:
    ours, theirs = two
    shared = NEW._replace(shared=True)
    for number, ledger in enumerate((ours, theirs, ours)):
        ledger.recalls.count(OVER, entry(f"over {number}", float(number), "m1"), {"m1": shared}, _once_more)
    assert known(ours, OVER) == known(theirs, OVER) == 3


def _once_more(seen: Seen, *, timeline: Any) -> ReadState:
    return replace(seen.state, retrieval_count=seen.state.retrieval_count + 1)
