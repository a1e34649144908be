"""Is a transaction kept once, and everybody told, where its connection breaks or an interrupt strikes?"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from adaptive_memory_core import Fields, Record, Scope
from adaptive_memory_core.errors import ClosedError, LedgerError
from adaptive_memory_core.flow.calls.running_calls import one_call
from adaptive_memory_core.flow.ports.records import Stored
from adaptive_memory_core.store.chroma.open_collection import CollectionAccess
from adaptive_memory_core.store.ledger_records import LedgerRecords
from adaptive_memory_core.store.postgres import lost_connections, postgres_database
from adaptive_memory_core.store.postgres.lost_connections import LostConnectionError
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from tests import postgres_server
from tests.behaviour.test_interrupts import Interrupt, in_another_thread
from tests.postgres_server import new_database

pytestmark = pytest.mark.hard("PostgreSQL")

COUNT = "UPDATE collections SET opened = opened + 1"


class Cut:
    """Connections that break at a statement; of one that is cut without a word, the server hears nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = ""
        self.cut: Callable[[Cut, int], None] = Cut.before
        self.kept: list[Any] = []  # so that the server goes on waiting
        execute = psycopg.Connection.execute

        def then_cut(connection: Any, query: Any, *given: Any, **named: Any) -> Any:
            if self.at and query.endswith(self.at):
                self.at = ""
                self.cut(self, connection.fileno())
            return execute(connection, query, *given, **named)

        monkeypatch.setattr(psycopg.Connection, "execute", then_cut)

    def before(self, number: int) -> None:
        with socket.socket(fileno=os.dup(number)) as end:
            end.shutdown(socket.SHUT_RDWR)

    def answer(self, number: int) -> None:
        with socket.socket(fileno=os.dup(number)) as end:
            end.shutdown(socket.SHUT_RD)

    def server_and_number_given_again(self, number: int) -> None:
        """The server is killed with the transaction, and after it another one has the same number, and is kept."""
        postgres_server.kill()
        postgres_server.start_again()
        with psycopg.connect(postgres_server.new_database(), autocommit=True) as elsewhere:
            for _ in range(100):
                elsewhere.execute("SELECT pg_current_xact_id()")

    def without_a_word(self, number: int) -> None:
        self.kept.append(os.fdopen(os.dup(number), "rb", closefd=True, buffering=0))
        ours, theirs = socket.socketpair()
        theirs.close()
        os.dup2(ours.fileno(), number)
        ours.close()


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cut]:
    made = Cut(monkeypatch)
    yield made
    for one in made.kept:
        one.close()


@pytest.fixture
def ledger() -> Iterator[PostgresLedger]:
    made = PostgresLedger(new_database(), wait_seconds=2.0)
    made.attach("uuid", "memories")
    yield made
    made.close()


def count(ledger: PostgresLedger, told: list[int]) -> None:
    with ledger.file.writing() as sql:
        sql.execute(COUNT)
        ledger.afterwards(lambda: told.append(1))


def counted(ledger: PostgresLedger) -> int:
    with ledger.file.reading() as sql:
        return int(sql.execute("SELECT opened FROM collections").fetchone()[0])


def test_what_was_kept_is_known_though_its_answer_is_lost_and_all_connections_are_in_use(
    ledger: PostgresLedger, cut: Cut
) -> None:
    told: list[int] = []
    cut.at, cut.cut = "COMMIT", Cut.answer
    pool = ledger.file._pool  # type: ignore[attr-defined]
    with pool.connection(), pool.connection(), pool.connection():
        count(ledger, told)
    assert (counted(ledger), told) == (1, [1])


def test_what_was_kept_is_known_with_a_single_connection_of_the_callers(cut: Cut) -> None:
    told: list[int] = []
    with ConnectionPool(new_database(), min_size=1, max_size=1, open=True) as pool:
        ledger = PostgresLedger(pool, wait_seconds=2.0)
        ledger.attach("uuid", "memories")
        cut.at, cut.cut = "COMMIT", Cut.answer
        count(ledger, told)
        assert (counted(ledger), told) == (1, [1])
        ledger.close()


@pytest.mark.parametrize("how", [Cut.before, Cut.without_a_word])
def test_what_was_cut_before_it_was_kept_is_undone_and_keeps_nobody_waiting(
    ledger: PostgresLedger, cut: Cut, how: Callable[[Cut, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_connections, "GRACE_SECONDS", 0.1)
    told: list[int] = []
    cut.at, cut.cut = "COMMIT", how
    with pytest.raises(LedgerError, match="Nothing of this call was kept"):
        count(ledger, told)
    count(ledger, told)
    assert (counted(ledger), told) == (1, [1])


def test_a_collection_that_is_met_as_its_connection_breaks_is_kept_all_the_same(cut: Cut) -> None:
    made = PostgresLedger(new_database())
    cut.at, cut.cut = "COMMIT", Cut.before
    made.attach("uuid", "memories")
    assert cut.at == ""  # it broke
    assert made.retention.collections() == {"uuid"}
    made.close()


def test_a_record_that_is_written_beside_its_collection_as_the_connection_breaks_is_kept(
    ledger: PostgresLedger, cut: Cut
) -> None:
    records = LedgerRecords(ledger, Fields(), "cosine", CollectionAccess())
    cut.at, cut.cut = "COMMIT", Cut.before
    records.add(Scope("ana"), [Stored(Record("tea", "green tea", created_at=1.0), "tea")], [[1.0, 0.0]])
    assert cut.at == ""  # it broke
    assert (records.ids(), ledger.due_records.waiting()) == (["tea"], 1)


def test_what_a_killed_server_lost_is_not_taken_for_kept_though_its_number_was_given_again(
    ledger: PostgresLedger, cut: Cut
) -> None:
    told: list[int] = []
    cut.at, cut.cut = "COMMIT", Cut.server_and_number_given_again
    with pytest.raises(LedgerError, match="Nothing of this call was kept"):
        count(ledger, told)
    assert (counted(ledger), told) == (0, [])


def test_where_nobody_can_say_whether_it_was_kept_nobody_says_so(
    ledger: PostgresLedger, cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_connections, "RETRIED_SECONDS", 0.3)
    monkeypatch.setattr(lost_connections, "_STATUS", "SELECT nothing_of_that_name(%s)")
    told: list[int] = []
    cut.at, cut.cut = "COMMIT", Cut.answer
    with pytest.raises(LedgerError, match="may have been kept"):
        count(ledger, told)
    assert told == []


def test_a_lost_connection_is_tried_again_for_as_long_as_the_call_would_wait_however_long_one_try_takes(
    ledger: PostgresLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_database, "RETRIED_SECONDS", 0.05)
    tries: list[int] = []

    def lost_at_first() -> int:
        tries.append(1)
        time.sleep(0.1)  # a server that is gone is noticed late
        if len(tries) == 1:
            raise LostConnectionError("lost")
        return len(tries)

    with one_call(30.0):
        assert ledger.file.again(lost_at_first) == 2  # type: ignore[attr-defined]
    tries.clear()
    with pytest.raises(LostConnectionError):
        ledger.file.again(lost_at_first)  # type: ignore[attr-defined]


def test_what_became_of_a_call_is_asked_for_as_long_as_it_would_wait(
    ledger: PostgresLedger, cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_connections, "RETRIED_SECONDS", 0.0)
    told: list[int] = []
    cut.at, cut.cut = "COMMIT", Cut.answer
    with one_call(30.0):
        count(ledger, told)
    assert (counted(ledger), told) == (1, [1])


def test_an_interrupt_within_a_statement_leaves_no_connection_behind(ledger: PostgresLedger) -> None:
    def struck() -> None:
        with ledger.file.writing() as sql:
            sql.connection.pgconn.send_query(b"SELECT pg_sleep(0.2)")  # type: ignore[attr-defined]
            raise Interrupt

    for _ in range(6):
        with pytest.raises(Interrupt):
            struck()
    told: list[int] = []
    in_another_thread(lambda: count(ledger, told))
    assert told == [1]


def test_many_threads_count_each_once_while_others_read(ledger: PostgresLedger) -> None:
    told: list[int] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(5):
                count(ledger, told)
                counted(ledger)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (failed, counted(ledger), len(told)) == ([], 40, 40)


def test_who_reads_waits_for_nobody_though_many_wait_to_write(ledger: PostgresLedger) -> None:
    told: list[int] = []
    address = ledger.file._pool._given  # type: ignore[attr-defined]
    threads = [threading.Thread(target=count, args=(ledger, told)) for _ in range(6)]
    with psycopg.connect(address) as elsewhere:
        elsewhere.execute("SELECT 1 FROM adaptive_memory.collections FOR UPDATE")
        for thread in threads:
            thread.start()
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        while elsewhere.execute(waiting).fetchone() < (3,):  # type: ignore[operator]
            time.sleep(0.01)
        assert [counted(ledger) for _ in range(3)] == [0, 0, 0]
        assert told == []
    for thread in threads:
        thread.join(60)
    assert (counted(ledger), len(told)) == (6, 6)


def test_a_closed_ledger_says_so(ledger: PostgresLedger) -> None:
    ledger.close()
    with pytest.raises(ClosedError):
        counted(ledger)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_process_leaves_its_parents_connections_alone(ledger: PostgresLedger) -> None:
    told: list[int] = []
    count(ledger, told)
    child = os.fork()
    if child == 0:
        try:
            count(ledger, told)
            os._exit(0)
        finally:
            os._exit(1)
    deadline = time.monotonic() + 20
    while (done := os.waitpid(child, os.WNOHANG))[0] == 0:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(done[1]) == 0
    count(ledger, told)
    assert counted(ledger) == 3
