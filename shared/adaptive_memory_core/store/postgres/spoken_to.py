"""How is a connection to PostgreSQL spoken to as SQLite's is? The ledger's statements are put into its words.

What needs no answer is put into one message with the statement that comes next: each message costs a round trip.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from psycopg import ClientCursor, Connection, Cursor

from adaptive_memory_core.store.postgres.dialect import for_postgres

MOST_WAITING = 1_000_000  # characters that wait to be sent


class Sql:
    """A connection that is spoken to as SQLite's is."""

    def __init__(self, connection: Connection[Any], *, in_transaction: bool = False) -> None:
        self._connection, self.in_transaction = connection, in_transaction  # one that writes, and may yet be undone
        self._waiting: list[str] = []

    @property
    def connection(self) -> Connection[Any]:
        """All that was said before was sent through it."""
        if self._waiting:
            self._connection.execute(self.rest())
        return self._connection

    def execute(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Cursor[Any]:
        return self.connection.execute(for_postgres(query), values)

    def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> Cursor[Any]:
        cursor = self.connection.cursor()
        cursor.executemany(for_postgres(query), list(rows))
        return cursor

    def later(self, query: str, values: Sequence[Any]) -> None:
        """Send it before the next statement, or with the end of the transaction."""
        self._waiting.append(ClientCursor(self._connection).mogrify(for_postgres(query), values))
        if not self.in_transaction or sum(map(len, self._waiting)) > MOST_WAITING:
            self._connection.execute(self.rest())

    def rest(self) -> str:
        """What was not sent yet; whoever asks sends it."""
        rest = "".join(f"{one};" for one in self._waiting)
        self._waiting.clear()
        return rest

    def undo_part(self) -> None:
        """Back to where the innermost part of the transaction began."""
        self._waiting.clear()
        if not self._connection.broken:
            self._connection.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part")
