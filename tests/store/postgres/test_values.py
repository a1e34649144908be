"""Do numbers come back from PostgreSQL exactly as they were given, and as the kinds that SQLite gives?"""

from __future__ import annotations

import math

import pytest

from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from tests.postgres_server import new_database

pytestmark = pytest.mark.hard("PostgreSQL")


def test_numbers_come_back_exactly_and_as_what_they_were() -> None:
    ledger = PostgresLedger(new_database())
    ledger.attach("uuid", "memories")
    with ledger.file.writing() as sql:
        for value in (-0.0, 1e-320, 1.7976931348623157e308, math.inf, 0.1 + 0.2, 1 / 3):
            (found,) = sql.execute("SELECT CAST(? AS double precision)", (value,)).fetchone()
            assert (found, math.copysign(1, found)) == (value, math.copysign(1, value))
        sql.executemany("UPDATE collections SET name = ?", [])
        assert type(sql.execute("SELECT sum(opened) FROM collections").fetchone()[0]) is int
        assert sql.execute("SELECT name FROM collections LIMIT ?", (10**18,)).fetchall() == [("memories",)]
    ledger.close()
