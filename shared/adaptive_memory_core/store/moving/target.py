"""How far has a ledger arrived? Each page is kept with its mark, so that whoever comes again goes on behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.store.ledger.moved import ARRIVAL
from adaptive_memory_core.store.moving.place import Key, Place, Row, key_of
from adaptive_memory_core.store.moving.tables import NUMBERED, keys, sqlite_triggers
from adaptive_memory_core.store.postgres.dialect import SCHEMA, tables


class Mark(NamedTuple):
    """Up to which key a table is copied, how many rows that were, and whether these are all."""

    last: Key | None = None
    rows: int = 0
    whole: bool = False


class Target:
    """The ledger that is moved to; nobody else may use it yet."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def move(self) -> str | None:
        """Which move was begun here."""
        with self.place.reading() as sql:
            if not self.place.has(sql, ARRIVAL):
                return None
            row = sql.execute(f"SELECT mark FROM {self.place.of(ARRIVAL)} WHERE name = ''").fetchone()  # noqa: S608
        return str(row[0])

    def begin(self, move: str) -> None:
        """From now on nobody opens it until all has arrived. It must be empty."""
        with self.place.writing() as sql:
            self._refuse_used(sql)
            sql.execute(f"CREATE TABLE {self.place.of(ARRIVAL)} (name text PRIMARY KEY, mark text NOT NULL)")
            sql.execute(f"INSERT INTO {self.place.of(ARRIVAL)} VALUES ('', ?)", (move,))  # noqa: S608 - our own names
            self._switch_triggers(sql, on=False)

    def mark(self, name: str) -> Mark:
        query = f"SELECT mark FROM {self.place.of(ARRIVAL)} WHERE name = ?"  # noqa: S608 - our own names
        with self.place.reading() as sql:
            row = sql.execute(query, (name,)).fetchone()
        if row is None:
            return Mark()
        last, rows, whole = orjson.loads(row[0])
        return Mark(None if last is None else tuple(map(_read, last)), rows, whole)

    def put(self, name: str, columns: Sequence[str], rows: Sequence[Row], *, whole: bool) -> bool:
        """A page, with its mark; whether all rows had room."""
        before = self.mark(name)
        last = key_of(name, columns, rows[-1]) if rows else before.last
        written = None if last is None else list(map(_written, last))
        mark = orjson.dumps([written, before.rows + len(rows), whole]).decode()
        keep = f"INSERT INTO {self.place.of(ARRIVAL)} VALUES (?, ?) "  # noqa: S608 - our own names
        with self.place.writing() as sql:
            had_room = self.place.insert(sql, name, columns, rows)
            sql.execute(f"{keep}ON CONFLICT (name) DO UPDATE SET mark = excluded.mark", (name, mark))
        return had_room

    def open(self) -> None:
        """All has arrived, and nothing is copied any more: whoever wants may use it. New rows are numbered behind those
        that came along, and what belongs to a row is done with it again."""
        with self.place.writing() as sql:
            self._switch_triggers(sql, on=True)
            for name, column in NUMBERED:
                self.place.ledger.file.numbered(sql, name, column)
            sql.execute(f"DROP TABLE {self.place.of(ARRIVAL)}")

    def _refuse_used(self, sql: Any) -> None:
        exists = "SELECT EXISTS (SELECT 1 FROM {})"
        used = [name for name in keys() if sql.execute(exists.format(self.place.of(name))).fetchone()[0]]
        if used:
            raise InvalidInputError(
                f"The ledger to move to is in use: there are rows in {', '.join(used[:3])}. Give an empty one: a new "
                "file, or a database whose schema 'adaptive_memory' was just made."
            )

    def _switch_triggers(self, sql: Any, *, on: bool) -> None:
        """Those of the ledger are off meanwhile: what they would write is copied as well."""
        if not self.place.is_file:
            for name in tables():
                sql.connection.execute(f"ALTER TABLE {SCHEMA}.{name} {'ENABLE' if on else 'DISABLE'} TRIGGER USER")
            return
        for name, statement in sqlite_triggers().items():
            sql.execute(f"DROP TRIGGER IF EXISTS {name}")
            if on:
                sql.execute(statement)


def _written(value: Any) -> Any:
    """
    >>> _read(_written(b"a")), _read(_written("a")), _read(_written(1.5))
    (b'a', 'a', 1.5)
    """
    return {"bytes": value.hex()} if isinstance(value, bytes) else value


def _read(value: Any) -> Any:
    return bytes.fromhex(value["bytes"]) if isinstance(value, dict) else value
