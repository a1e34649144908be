"""Do those who share a database write beside each other, whatever they have in common?"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest

from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from adaptive_memory_core.store.postgres.postgres_tables import row_level_security
from tests.behaviour.conftest import eventually
from tests.postgres_server import new_database
from tests.store.ledger.reads import ALICE, read

pytestmark = pytest.mark.hard("PostgreSQL")

_WAITS = "SELECT 1 FROM pg_locks WHERE NOT granted"


@pytest.fixture
def address() -> str:
    return new_database()


@pytest.fixture
def ledgers(address: str) -> Iterator[list[PostgresLedger]]:
    made = [PostgresLedger(address) for _ in range(2)]
    for number, ledger in enumerate(made):
        ledger.attach(f"uuid {number}", f"memories {number}")
    yield made
    for ledger in made:
        ledger.close()


def test_two_that_recall_under_a_new_policy_at_once_are_both_counted(
    ledgers: list[PostgresLedger], address: str
) -> None:
    """Policies are kept once for all collections."""
    one, other = ledgers
    counted: list[int] = []
    reader = threading.Thread(target=lambda: counted.append(read(other, ALICE, "r2", "m1", at=1.0)))
    with psycopg.connect(address, autocommit=True) as looking:
        with one.transaction():
            counted.append(read(one, ALICE, "r1", "m1", at=1.0))
            with one.file.reading() as sql:
                sql.execute("SELECT 1 FROM policies").fetchone()  # what waits to be sent, is
            reader.start()
            assert eventually(lambda: looking.execute(_WAITS).fetchone() is not None)
        reader.join(60)
    assert counted == [1, 1]


def test_a_user_who_is_new_to_a_role_and_to_the_application_at_once_is_made_once(
    ledgers: list[PostgresLedger], address: str
) -> None:
    counted: list[int] = []
    writer = threading.Thread(target=lambda: counted.append(read(ledgers[0], Scope("eve"), "r1", "m1", at=1.0)))
    with psycopg.connect(address) as owner, psycopg.connect(address, autocommit=True) as looking:
        looking.execute(row_level_security())
        looking.execute("DROP ROLE IF EXISTS eve_app")
        looking.execute("CREATE ROLE eve_app LOGIN")
        owner.execute("SELECT adaptive_memory.give_scope('eve_app', 'memories 0', 'eve', new_user => true)")
        writer.start()
        assert eventually(lambda: looking.execute(_WAITS).fetchone() is not None)
        owner.commit()
        writer.join(60)
    assert counted == [1]
