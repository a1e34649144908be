"""Is what refuses us named at once, and without the password?"""

from __future__ import annotations

import logging
import time

import psycopg
import pytest

from adaptive_memory_core.errors import InvalidInputError, LedgerError
from adaptive_memory_core.store.locations import check_ledger
from adaptive_memory_core.store.postgres.postgres_connections import Pool
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from tests.behaviour.test_interrupts import broken_off_at
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


def test_wherever_an_interrupt_strikes_a_connection_of_ours_is_never_given_to_two() -> None:
    pool = Pool(new_database())
    for step in range(1, 10_000):

        def once() -> None:
            with pool.connection() as connection:
                connection.execute("SELECT 1")

        place = broken_off_at(step, once)
        with pool.connection() as one, pool.connection() as another:
            assert one is not another
        if place is None:
            break
    assert step > 20
    pool.close()
