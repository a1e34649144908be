"""How is a connection to PostgreSQL spoken to as SQLite's is? The ledger's statements are put into its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from psycopg import Connection, Cursor

from adaptive_memory_core.store.postgres.dialect import for_postgres


class Sql:
    """A connection that is spoken to as SQLite's is."""

    def __init__(self, connection: Connection[Any], *, in_transaction: bool = False) -> None:
        self.connection, self.in_transaction = connection, in_transaction  # one that writes, and may yet be undone

    def execute(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Cursor[Any]:
        return self.connection.execute(for_postgres(query), values)

    def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> Cursor[Any]:
        cursor = self.connection.cursor()
        cursor.executemany(for_postgres(query), list(rows))
        return cursor
