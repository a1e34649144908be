"""How is either kind of ledger asked for whole rows? Where one moves from, or to."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.store.ledger.sql_ledger import SqlLedger
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.store.ledger.state_rows import chunks
from adaptive_memory_core.store.moving.tables import VERSIONS, keys

Key = tuple[Any, ...]
Row = Sequence[Any]
AT_ONCE = 200  # keys in a statement
_DATABASE = "SELECT oid, pg_postmaster_start_time() FROM pg_database WHERE datname = current_database()"


class Place:
    """A ledger's tables, by their names in it."""

    def __init__(self, ledger: SqlLedger) -> None:
        self.ledger, self.is_file = ledger, isinstance(ledger, SQLiteLedger)
        self._columns: dict[str, tuple[str, ...]] = {}

    @interruptible
    def reading(self) -> Generator[Any, None, None]:
        with self.ledger.file.reading() as sql:
            yield sql

    @interruptible
    def writing(self) -> Generator[Any, None, None]:
        sql: Any
        with self.ledger.file.writing(told=True) as sql:
            if not self.is_file:
                sql.connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # the other one may be slow
            yield sql

    def identity(self) -> tuple[Any, ...]:
        """The same for the same file, or database, whatever it is called."""
        if self.is_file:
            found = Path(self.ledger.file.path).stat()
            return found.st_dev, found.st_ino
        with self.reading() as sql:
            return tuple(sql.connection.execute(_DATABASE).fetchone())

    def of(self, name: str) -> str:
        """A table, or what else has a name."""
        return self.ledger.file.named(name)

    def has(self, sql: Any, name: str) -> bool:
        return self.ledger.file.has_table(sql, name)

    def columns(self, sql: Any, name: str) -> tuple[str, ...]:
        """Those that both kinds have, in this one's order."""
        if name not in self._columns:
            described = sql.execute(f"SELECT * FROM {self.of(name)} LIMIT 0").description  # noqa: S608 - our own names
            self._columns[name] = tuple(one[0] for one in described if (name, one[0]) not in VERSIONS)
        return self._columns[name]

    def count(self, sql: Any, name: str) -> int:
        return int(sql.execute(f"SELECT count(*) FROM {self.of(name)}").fetchone()[0])  # noqa: S608 - our own names

    def page(self, sql: Any, name: str, after: Key | None, columns: Sequence[str], limit: int) -> list[Row]:
        """The rows behind this key, in the order of keys."""
        key = ", ".join(keys()[name])
        behind = "" if after is None else f"WHERE ({key}) > ({_marks(key_size(name))}) "
        query = f"SELECT {', '.join(columns)} FROM {self.of(name)} {behind}ORDER BY {key} LIMIT ?"  # noqa: S608
        found: list[Row] = sql.execute(query, (*(after or ()), limit)).fetchall()
        return found

    def rows(self, sql: Any, name: str, wanted: Sequence[Key], columns: Sequence[str]) -> list[Row]:
        """Those of the rows that there are."""
        found: list[Row] = []
        for some in chunks(wanted, AT_ONCE):
            query = f"SELECT {', '.join(columns)} FROM {self.of(name)} WHERE {_among(name, len(some))}"  # noqa: S608
            found += sql.execute(query, [value for key in some for value in key]).fetchall()
        return found

    def delete(self, sql: Any, name: str, gone: Sequence[Key]) -> None:
        for some in chunks(gone, AT_ONCE):
            query = f"DELETE FROM {self.of(name)} WHERE {_among(name, len(some))}"  # noqa: S608 - our own names
            sql.execute(query, [value for key in some for value in key])

    def insert(self, sql: Any, name: str, columns: Sequence[str], rows: Sequence[Row]) -> bool:
        """Whether all of them had room; those have none of which something unique is another row's."""
        if not rows:
            return True
        names = ", ".join(columns)
        query = f"INSERT INTO {self.of(name)} ({names}) VALUES ({_marks(len(columns))}) ON CONFLICT DO NOTHING"  # noqa: S608
        return bool(sql.executemany(query, rows).rowcount == len(rows))


def key_size(name: str) -> int:
    return len(keys()[name])


def key_of(name: str, columns: Sequence[str], row: Row) -> Key:
    """The row's key."""
    return tuple(row[columns.index(one)] for one in keys()[name])


def distinct_keys(found: Iterable[Row]) -> list[Key]:
    return list(dict.fromkeys(tuple(one) for one in found))


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _among(name: str, count: int) -> str:
    one = f"({_marks(key_size(name))})"
    return f"({', '.join(keys()[name])}) IN (VALUES {', '.join([one] * count)})"
