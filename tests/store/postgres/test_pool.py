"""Are addresses shown without what is secret, and is what refuses us named at once?"""

from __future__ import annotations

import logging
import time

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from adaptive_memory_core.errors import InvalidInputError, LedgerError
from adaptive_memory_core.store.place_names import check_ledger
from adaptive_memory_core.store.postgres.ledger import PostgresLedger
from adaptive_memory_core.store.postgres.pool import Pool, shown
from tests.behaviour.test_interrupts import broken_off_at
from tests.postgres_server import new_database


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgresql://ana:secret@one:5432,two:5433/memories", "'postgresql://one:5432,two:5433/memories'"),
        ("postgresql://ana:secret@one,two:5433/memories", "'postgresql://one:,two:5433/memories'"),
        ("postgresql://ana:se#cret@db/memories?password=secret", "'postgresql://db/memories'"),
        ("postgresql:///memories?host=/run/postgres", "'postgresql:///run/postgres/memories'"),
        ("host=db dbname=memories password=secret", "'postgresql://db/memories'"),
    ],
)
def test_every_address_that_the_server_takes_is_shown_without_its_password(address: str, told: str) -> None:
    assert shown(address) == told


@pytest.mark.parametrize("password", ["p/secret", "secret%", "sec ret", "p/s@secret"])
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


@pytest.mark.parametrize("code", ["adaptive_memory_core", "psycopg_pool"])
def test_wherever_an_interrupt_strikes_a_pool_of_the_callers_has_its_connection_back(code: str) -> None:
    with ConnectionPool(new_database(), min_size=1, max_size=1, open=True) as theirs:
        pool = Pool(theirs, 5.0)

        def use() -> None:
            with pool.connection() as connection:
                connection.execute("SELECT 1")

        for step in range(1, 10_000):
            place = broken_off_at(step, use, code)
            with theirs.connection(5.0) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,), place
            if place is None:
                break
