"""Over which ledgers does the contract run? Another database is one more line in `IMPLEMENTATIONS`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from adaptive_memory_core import SQLiteLedger
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from tests.pgbouncer_server import shared_pgbouncer
from tests.postgres_server import new_database, secured_database

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

COLLECTION = "uuid-of-a-collection"
BEHIND_POOLER = "PostgreSQL behind PgBouncer"


class Ledgers:
    """Ledgers of one store. What is asked for again is another connection to it; a store in RAM has but one."""

    def __init__(self, make: Callable[[], Ledger]) -> None:
        self._make = make
        self.opened: list[Ledger] = []

    def __call__(self) -> Ledger:
        ledger = self._make()
        ledger.attach(COLLECTION, "memories")
        self.opened.append(ledger)
        return ledger

    def close(self) -> None:
        for ledger in self.opened:
            ledger.close()
        self.opened.clear()


def _file(directory: Path) -> Callable[[], Ledger]:
    return lambda: SQLiteLedger(str(directory / "ledger.sqlite3"))


def _ram(_: Path) -> Callable[[], Ledger]:
    ledger = SQLiteLedger(":memory:")
    return lambda: ledger


def _postgres(_: Path) -> Callable[[], Ledger]:
    address = secured_database()
    return lambda: PostgresLedger(address)


def _pooled(_: Path) -> Callable[[], Ledger]:
    address = shared_pgbouncer().address(new_database())
    return lambda: PostgresLedger(address)


IMPLEMENTATIONS: dict[str, Callable[[Path], Callable[[], Ledger]]] = {
    "SQLite file": _file,
    "SQLite in RAM": _ram,
    "PostgreSQL": _postgres,
    BEHIND_POOLER: _pooled,
}
