"""Do the tables change while others use them, and each waits for the other?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from adaptive_memory_core.store.postgres.postgres_tables import row_level_security
from tests.behaviour.conftest import eventually
from tests.postgres_server import new_database
from tests.store.test_ledger_move import Other

pytestmark = pytest.mark.hard("PostgreSQL")

_WAITS = "SELECT 1 FROM pg_locks WHERE NOT granted"
READS, WRITES = "SELECT 1", "SELECT 1 FROM adaptive_memory.collections FOR NO KEY UPDATE"


def changed_beside(address: str, begins: str, tables: tuple[str, str], change: Callable[[], object]) -> None:
    """Change them while somebody has the one table, and wants the other."""
    one, another = tables
    mode = "ACCESS SHARE" if begins == READS else "ROW EXCLUSIVE"
    done: list[Any] = []
    with psycopg.connect(address) as connection, psycopg.connect(address, autocommit=True) as looking:
        connection.execute("SET deadlock_timeout = '10s'")  # the change is what is broken off
        connection.execute(begins)
        connection.execute(f"LOCK TABLE adaptive_memory.{one} IN {mode} MODE")
        other = Other(connection, another, mode)
        changer = threading.Thread(target=lambda: done.append(change()))
        changer.start()
        assert eventually(lambda: looking.execute(_WAITS).fetchone() is not None)
        other.start()
        other.join(60)
        changer.join(60)
    assert (other.error, len(done)) == ("", 1)


@pytest.mark.parametrize("begins", [READS, WRITES])
def test_row_level_security_is_switched_on_beside_who_has_one_table_and_wants_another(begins: str) -> None:
    address = new_database()

    def switch_on() -> None:
        with psycopg.connect(address, autocommit=True) as owner:
            owner.execute(row_level_security())

    with psycopg.connect(address) as connection:
        query = "SELECT relname FROM pg_class WHERE relnamespace = 'adaptive_memory'::regnamespace AND relkind = 'r'"
        first, *_, last = [name for (name,) in connection.execute(f"{query} AND relname !~ '^recalls'").fetchall()]
    changed_beside(address, begins, (last, first), switch_on)
