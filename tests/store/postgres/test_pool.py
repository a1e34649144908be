"""Is what refuses us named at once, and without the password?"""

from __future__ import annotations

import logging
import signal
import threading
import time
from contextlib import ExitStack

import psycopg
import pytest

from adaptive_memory_core.errors import InvalidInputError, LedgerError
from adaptive_memory_core.store.locations import check_ledger
from adaptive_memory_core.store.postgres import postgres_connections
from adaptive_memory_core.store.postgres.postgres_connections import Pool
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from tests import postgres_server
from tests.behaviour.test_interrupts import Interrupt
from tests.pgbouncer_server import shared_pgbouncer
from tests.postgres_server import new_database

pytestmark = pytest.mark.hard("PostgreSQL")


@pytest.mark.parametrize(
    "password", ["p/secret", "secret%", "sec ret", "p/s@secret", "p@secret", "p@one,secret", "p@one:secret"]
)
def test_an_address_that_cannot_be_read_is_refused_without_saying_it(
    password: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(InvalidInputError, match="percent-encoded") as told:
        PostgresLedger(f"postgresql://ana:{password}@db/memories")
    assert "sec" not in str(told.value) + repr(told.value.__cause__) + caplog.text


def test_an_address_of_another_kind_is_refused_without_its_password() -> None:
    with pytest.raises(InvalidInputError, match=r"'postgresql\+psycopg://") as told:
        check_ledger("postgresql+psycopg://ana:secret@db/memories")
    assert "secret" not in str(told.value)


def test_a_database_that_is_not_there_is_said_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(LedgerError, match="does not exist"):
        PostgresLedger(new_database().replace("/memories_", "/no_memories_"), wait_seconds=25.0)
    assert time.monotonic() - began < 20.0  # it does not wait for it to come


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [("/memories_", "/no_memories_", "does not exist"), ("//postgres:@", "//nobody_here:pass@", "does not exist")],
)
def test_who_is_not_let_in_is_told_what_to_look_at(before: str, after: str, why: str) -> None:
    with pytest.raises(LedgerError, match=rf"{why}\. The server answers: check user, password and database"):
        PostgresLedger(new_database().replace(before, after), wait_seconds=1.0)


def test_texts_come_back_from_a_database_of_another_encoding() -> None:
    address = new_database()
    name = psycopg.conninfo.conninfo_to_dict(address)["dbname"]
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" SET client_encoding = latin1')
    ledger = PostgresLedger(address)
    ledger.attach("uuid", "mémoire")
    with ledger.file.reading() as sql:
        assert sql.execute("SELECT name FROM collections").fetchone()[0] == "mémoire"
    ledger.close()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms on this system")
def test_who_is_interrupted_as_they_wait_for_a_connection_keeps_none_from_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def strike(*_: object) -> None:
        raise Interrupt

    monkeypatch.setattr(postgres_connections, "LOOK_SECONDS", 30.0)  # it waits on when it is struck
    pool, before = Pool(new_database(), wait_seconds=5.0), signal.signal(signal.SIGALRM, strike)
    try:
        for _ in range(2):
            with ExitStack() as all_of_them:
                for _ in range(postgres_connections.MOST):
                    all_of_them.enter_context(pool.connection())
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                with pytest.raises(Interrupt), pool.connection():
                    pass
    finally:
        signal.signal(signal.SIGALRM, before)
    with ExitStack() as all_of_them:
        held = [all_of_them.enter_context(pool.connection()) for _ in range(postgres_connections.MOST)]
        assert len(set(held)) == postgres_connections.MOST
    pool.close()


@pytest.mark.parametrize("pooled", [False, True])
def test_a_server_that_comes_back_is_found_again_by_those_who_wait(
    pooled: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    address = new_database()
    pool = Pool(shared_pgbouncer().address(address) if pooled else address, wait_seconds=30.0)
    with pool.connection() as connection:
        connection.execute("SELECT 1")
    postgres_server.kill()
    back = threading.Timer(1.0, postgres_server.start_again)
    back.start()
    monkeypatch.setattr(postgres_connections, "CHECKED_SECONDS", 0.0)
    with pool.connection() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    back.join()
    pool.close()
    assert [one for one in caplog.records if one.name == "psycopg.pool"] == []
