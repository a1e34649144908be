"""Conversion of the ledger's statements and values for PostgreSQL: booleans, texts with zeros, and sums.

A statement that needs no answer is sent in one message with the next one, because each message costs a round trip.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import ClientCursor, Connection, Cursor
from psycopg.adapt import Dumper, Loader
from psycopg.types.numeric import Int2Dumper
from psycopg.types.string import StrDumper

MOST_WAITING = 1_000_000  # characters that wait to be sent


def for_postgres(statement: str) -> str:
    """The statement with psycopg's placeholders. Every `?` in it is a placeholder: literals with a `?` or a `%` are
    passed as values.

    >>> for_postgres("SELECT row FROM mirror WHERE user_key = ? AND row > ?")
    'SELECT row FROM mirror WHERE user_key = %s AND row > %s'
    """
    return statement.replace("?", "%s")


class PostgresStatements:
    """A connection with the methods of SQLite's."""

    def __init__(self, connection: Connection[Any], *, in_transaction: bool = False) -> None:
        self._connection, self.in_transaction = connection, in_transaction  # whether it writes and can be rolled back
        self._waiting: list[str] = []

    @property
    def connection(self) -> Connection[Any]:
        """The connection, after sending the waiting statements."""
        if self._waiting:
            self._connection.execute(self.rest())
        return self._connection

    def execute(self, query: str, values: Sequence[Any] = ()) -> Cursor[Any]:
        return self.connection.execute(for_postgres(query), values)

    def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> Cursor[Any]:
        cursor = self.connection.cursor()
        cursor.executemany(for_postgres(query), list(rows))
        return cursor

    def later(self, query: str, values: Sequence[Any]) -> None:
        """Send the statement before the next one, or at the end of the transaction."""
        self._waiting.append(ClientCursor(self._connection).mogrify(for_postgres(query), values))
        if not self.in_transaction or sum(map(len, self._waiting)) > MOST_WAITING:
            self._connection.execute(self.rest())

    def rest(self) -> str:
        """Remove the statements not sent yet and return them; the caller sends them."""
        rest = "".join(f"{one};" for one in self._waiting)
        self._waiting.clear()
        return rest

    def undo_part(self) -> None:
        """Roll back to the start of the innermost part of the transaction."""
        self._waiting.clear()
        if not self._connection.broken:
            self._connection.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part")


ESCAPE_MARK = "\ufdd0"  # not a character, and so in hardly any text; the digit after it says what is meant
_ZERO, _ITSELF = f"{ESCAPE_MARK}0", f"{ESCAPE_MARK}1"


def stored_text(text: str) -> str:
    """The text with zeros escaped, because PostgreSQL does not accept them.

    >>> read_text("".join(stored_text("a\\x00b" + ESCAPE_MARK))) == "a\\x00b" + ESCAPE_MARK
    True
    """
    if "\x00" not in text and ESCAPE_MARK not in text:
        return text
    return text.replace(ESCAPE_MARK, _ITSELF).replace("\x00", _ZERO)


def read_text(text: str) -> str:
    """The original of a text that `stored_text` returned."""
    return text if ESCAPE_MARK not in text else text.replace(_ZERO, "\x00").replace(_ITSELF, ESCAPE_MARK)


class _Bool(Int2Dumper):
    def dump(self, obj: Any) -> Any:
        return super().dump(int(obj))


class _Text(StrDumper):
    def dump(self, obj: str) -> Any:
        return super().dump(stored_text(obj))


class _ReadText(Loader):
    def load(self, data: Any) -> str:
        return read_text(bytes(data).decode())


class _Sum(Loader):
    """Reads a decimal number as an integer if it is whole: PostgreSQL's sums of integers are decimals."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdigit() else float(text)


def adapt(connection: Connection[Any]) -> None:
    """Make the connection accept and return values as SQLite does."""
    for kind, dumper in _DUMPERS:
        connection.adapters.register_dumper(kind, dumper)
    connection.adapters.register_loader("text", _ReadText)
    connection.adapters.register_loader("numeric", _Sum)


_DUMPERS: tuple[tuple[type, type[Dumper]], ...] = ((bool, _Bool), (str, _Text))
