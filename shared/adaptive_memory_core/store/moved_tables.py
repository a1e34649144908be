"""The source and the target of a ledger's move: whole rows of either kind of ledger, and notes of the keys to copy."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.store.ledger.schema import ARRIVAL, MOVE
from adaptive_memory_core.store.ledger.sql_ledger import Ledger, SQLiteLedger
from adaptive_memory_core.store.ledger.state_rows import in_batches
from adaptive_memory_core.store.postgres.postgres_tables import SCHEMA, tables

RowKey = tuple[Any, ...]
TableRow = Sequence[Any]
AT_ONCE = 200  # keys in a statement
_DATABASE = "SELECT oid, pg_postmaster_start_time() FROM pg_database WHERE datname = current_database()"


class LedgerEnd:
    """The tables of the ledger at one end of a move."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger, self.is_file = ledger, isinstance(ledger, SQLiteLedger)
        self._columns: dict[str, tuple[str, ...]] = {}

    @contextmanager
    def reading(self) -> Generator[Any, None, None]:
        with self.ledger.file.reading() as sql:
            yield sql

    @contextmanager
    def writing(self) -> Generator[Any, None, None]:
        sql: Any
        with self.ledger.file.writing(announced=True) as sql:
            if not self.is_file:
                sql.connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # the other end may be slow
            yield sql

    def identity(self) -> tuple[Any, ...]:
        """A value that identifies the file or database, whatever name or path it was opened by."""
        if self.is_file:
            found = Path(self.ledger.file.path).stat()
            return found.st_dev, found.st_ino
        with self.reading() as sql:
            return tuple(sql.connection.execute(_DATABASE).fetchone())

    def has(self, sql: Any, name: str) -> bool:
        return self.ledger.file.has_table(sql, name)

    def columns(self, sql: Any, name: str) -> tuple[str, ...]:
        """The columns that both kinds of ledger have, in this ledger's order."""
        if name not in self._columns:
            described = sql.execute(f"SELECT * FROM {name} LIMIT 0").description  # noqa: S608 - our own names
            self._columns[name] = tuple(one[0] for one in described if (name, one[0]) not in VERSIONS)
        return self._columns[name]

    def count(self, sql: Any, name: str) -> int:
        return int(sql.execute(f"SELECT count(*) FROM {name}").fetchone()[0])  # noqa: S608 - our own names

    def rows(self, sql: Any, name: str, wanted: Sequence[RowKey], columns: Sequence[str]) -> list[TableRow]:
        """The existing rows with these keys."""
        found: list[TableRow] = []
        for some in in_batches(wanted, AT_ONCE):
            query = f"SELECT {', '.join(columns)} FROM {name} WHERE {_among(keys()[name], len(some))}"  # noqa: S608
            found += sql.execute(query, [value for key in some for value in key]).fetchall()
        return found

    def delete(self, sql: Any, name: str, gone: Sequence[RowKey], columns: Sequence[str]) -> None:
        """Delete the rows with these values in the columns."""
        for some in in_batches(gone, AT_ONCE):
            query = f"DELETE FROM {name} WHERE {_among(columns, len(some))}"  # noqa: S608 - our own names
            sql.execute(query, [value for key in some for value in key])

    def insert(self, sql: Any, name: str, columns: Sequence[str], rows: Sequence[TableRow]) -> bool:
        """Insert rows; return whether all were inserted. A row is skipped if another row has the same unique value."""
        if not rows:
            return True
        names = ", ".join(columns)
        query = f"INSERT INTO {name} ({names}) VALUES ({_marks(len(columns))}) ON CONFLICT DO NOTHING"  # noqa: S608
        return bool(sql.executemany(query, rows).rowcount == len(rows))


def distinct_keys(found: Iterable[TableRow]) -> list[RowKey]:
    return list(dict.fromkeys(tuple(one) for one in found))


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _among(columns: Sequence[str], count: int) -> str:
    return f"({', '.join(columns)}) IN (VALUES {', '.join([f'({_marks(len(columns))})'] * count)})"


COPYING, GONE, COPIED, NOTING = 0, 1, 2, 3
_EVENTS = {"in": ("INSERT", ("new",)), "out": ("DELETE", ("old",)), "changed": ("UPDATE", ("old", "new"))}
_NOTE = f"""
CREATE OR REPLACE FUNCTION {SCHEMA}.note_move() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    put text := format('INSERT INTO {SCHEMA}.%I (%s) SELECT %s', TG_ARGV[0], TG_ARGV[1], TG_ARGV[2]);
BEGIN
    IF TG_OP <> 'INSERT' THEN EXECUTE put USING old; END IF;
    IF TG_OP <> 'DELETE' THEN EXECUTE put USING new; END IF;
    RETURN NULL;
END $$
"""
_REFUSE = f"""
CREATE OR REPLACE FUNCTION {SCHEMA}.refuse_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'this ledger was moved to %', TG_ARGV[0];
END $$
"""


class Noted(NamedTuple):
    """A row that has to be copied: its key, and the number of the note."""

    number: int
    key: RowKey


class MoveSource:
    """The ledger that is moved while others use it."""

    def __init__(self, place: LedgerEnd) -> None:
        self.place = place

    def begin(self, move: str, target: str) -> None:
        """Note the keys of all rows, and of later changes. Notes of another move are removed."""
        with self.place.writing() as sql:
            self.keep_others_out(sql)
            self._clear(sql)
            sql.execute(f"CREATE TABLE {MOVE} (id text NOT NULL, target text NOT NULL, moved integer)")
            sql.execute(f"INSERT INTO {MOVE} VALUES (?, ?, {NOTING})", (move, target))  # noqa: S608
            if not self.place.is_file:
                sql.connection.execute(_NOTE)
            for name in keys():
                self._note(sql, name)
        for name in keys():
            names = ", ".join(keys()[name])
            with self.place.writing() as sql:
                sql.execute(f"INSERT INTO {self._notes(name)} ({names}) SELECT {names} FROM {name}")  # noqa: S608
        with self.place.writing() as sql:
            sql.execute(f"UPDATE {MOVE} SET moved = {COPYING}")  # noqa: S608 - our own names

    def state(self) -> int | None:
        """The state of the move: see `begun`."""
        begun = self.begun()
        return None if begun is None else begun[1]

    def begun(self) -> tuple[str, int] | None:
        """The id and the state of the move: `NOTING`, `COPYING`, `GONE` from here, or `COPIED`; None if none was
        begun."""
        with self.place.reading() as sql:
            if not self.place.has(sql, MOVE):
                return None
            row = sql.execute(f"SELECT id, moved FROM {MOVE}").fetchone()  # noqa: S608 - our own names
        return str(row[0]), int(row[1])

    def last_noted(self, sql: Any, name: str) -> int:
        """The number of the latest note; 0 if there is none."""
        return int(sql.execute(f"SELECT coalesce(max(noted), 0) FROM {self._notes(name)}").fetchone()[0])  # noqa: S608

    def noted(self, sql: Any, name: str, last: int, limit: int) -> list[Noted]:
        """The oldest notes up to the number `last`."""
        names = ", ".join(keys()[name])
        query = f"SELECT noted, {names} FROM {self._notes(name)} WHERE noted <= ? ORDER BY noted LIMIT ?"  # noqa: S608
        return [Noted(row[0], tuple(row[1:])) for row in sql.execute(query, (last, limit)).fetchall()]

    def note(self, sql: Any, name: str, changed: list[RowKey]) -> None:
        """Note that these rows have to be copied again."""
        names, marks = ", ".join(keys()[name]), ", ".join("?" * len(keys()[name]))
        sql.executemany(f"INSERT INTO {self._notes(name)} ({names}) VALUES ({marks})", changed)  # noqa: S608

    def copied(self, sql: Any, name: str, done: list[Noted]) -> None:
        self.place.delete(sql, self._notes(name), [(one.number,) for one in done], ("noted",))

    def waiting(self) -> int:
        """The number of notes, of rows and changes that are not copied yet."""
        with self.place.reading() as sql:
            return sum(self.place.count(sql, f"move_changes_{name}") for name in keys())

    def keep_others_out(self, sql: Any) -> None:
        """Block other writers. In SQLite the writing transaction does this. On a server, every writer locks this table
        first, so no deadlock is possible."""
        if not self.place.is_file:
            sql.connection.execute(f"LOCK TABLE {SCHEMA}.collections IN EXCLUSIVE MODE")

    def end(self, sql: Any, *, stays: bool) -> None:
        """Finish the move after all rows are copied. Unless the source `stays` in use, later writes to it raise an
        error that names the new ledger."""
        target = sql.execute(f"SELECT target FROM {MOVE}").fetchone()[0]  # noqa: S608 - our own names
        for name in keys():
            self._drop_notes(sql, name)
            if not stays:
                self._refuse(sql, name, target)
        sql.execute(f"UPDATE {MOVE} SET moved = ?", (COPIED if stays else GONE,))  # noqa: S608

    def _notes(self, name: str) -> str:
        return f"move_changes_{name}"

    def _note(self, sql: Any, name: str) -> None:
        names = ", ".join(keys()[name])
        if not self.place.is_file:
            sql.connection.execute(
                f"CREATE TABLE {self._notes(name)} AS SELECT {names} FROM {SCHEMA}.{name} WITH NO DATA; "  # noqa: S608
                f"ALTER TABLE {self._notes(name)} ADD noted bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
            )
            arguments = f"'move_changes_{name}', '{names}', '{', '.join(f'($1).{one}' for one in keys()[name])}'"
            sql.connection.execute(
                f"CREATE TRIGGER move_noted AFTER INSERT OR UPDATE OR DELETE ON {SCHEMA}.{name} "
                f"FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.note_move({arguments})"
            )
            return
        sql.execute(f"CREATE TABLE {self._notes(name)} (noted INTEGER PRIMARY KEY, {names})")
        for event, (when, rows) in _EVENTS.items():
            values = ", ".join(f"({', '.join(f'{row}.{one}' for one in keys()[name])})" for row in rows)
            sql.execute(
                f"CREATE TRIGGER move_{event}_{name} AFTER {when} ON {name} BEGIN "  # noqa: S608 - our own names
                f"INSERT INTO {self._notes(name)} ({names}) VALUES {values}; END"
            )

    def _drop_notes(self, sql: Any, name: str) -> None:
        if not self.place.is_file:
            sql.connection.execute(f"DROP TRIGGER IF EXISTS move_noted ON {SCHEMA}.{name}")
        for event in _EVENTS if self.place.is_file else ():
            sql.execute(f"DROP TRIGGER IF EXISTS move_{event}_{name}")
        sql.execute(f"DROP TABLE IF EXISTS {self._notes(name)}")

    def _refuse(self, sql: Any, name: str, target: str) -> None:
        quoted = target.replace("'", "''")
        if not self.place.is_file:
            sql.connection.execute(_REFUSE)
            sql.connection.execute(
                f"CREATE TRIGGER moved BEFORE INSERT OR UPDATE OR DELETE ON {SCHEMA}.{name} "
                f"FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.refuse_moved('{quoted}')"
            )
            return
        for event, (when, _) in _EVENTS.items():
            sql.execute(
                f"CREATE TRIGGER moved_{event}_{name} BEFORE {when} ON {name} BEGIN "
                f"SELECT RAISE(ABORT, 'this ledger was moved to {quoted}'); END"
            )

    def _clear(self, sql: Any) -> None:
        for name in keys():
            self._drop_notes(sql, name)
        sql.execute(f"DROP TABLE IF EXISTS {MOVE}")


class MoveTarget:
    """The target of a move; nobody else may use it yet."""

    def __init__(self, place: LedgerEnd) -> None:
        self.place = place

    def move(self) -> str | None:
        """The id of the move that was begun here."""
        with self.place.reading() as sql:
            if not self.place.has(sql, ARRIVAL):
                return None
            return str(sql.execute(f"SELECT id FROM {ARRIVAL}").fetchone()[0])  # noqa: S608 - our own names

    def begin(self, move: str) -> None:
        """Mark the target, which must be empty, so that nobody opens it until all rows have arrived."""
        self.refuse_used()
        with self.place.writing() as sql:
            sql.execute(f"CREATE TABLE {ARRIVAL} (id text NOT NULL)")
            sql.execute(f"INSERT INTO {ARRIVAL} VALUES (?)", (move,))  # noqa: S608 - our own names
            self._switch_triggers(sql, on=False)

    def rows(self) -> int:
        """The number of rows that have arrived."""
        with self.place.reading() as sql:
            return sum(self.place.count(sql, name) for name in keys())

    def open(self) -> None:
        """Make the ledger usable after all rows have arrived: new rows get higher numbers than the copied rows, and
        triggers are on again."""
        with self.place.writing() as sql:
            self._switch_triggers(sql, on=True)
            for name, column in NUMBERED:
                self.place.ledger.file.numbered(sql, name, column)
            sql.execute(f"DROP TABLE {ARRIVAL}")

    def refuse_used(self) -> None:
        """Raise if there are rows, of a memory or of another move."""
        exists = "SELECT EXISTS (SELECT 1 FROM {})"
        with self.place.reading() as sql:
            used = [name for name in keys() if sql.execute(exists.format(name)).fetchone()[0]]
        if used:
            raise InvalidInputError(
                f"The ledger to move to is in use: there are rows in {', '.join(used[:3])}. Give an empty one: a new "
                "file, or a database whose schema 'adaptive_memory' was just made."
            )

    def _switch_triggers(self, sql: Any, *, on: bool) -> None:
        """Switch the ledger's own triggers; they are off during the move, because the rows they would write are copied
        too."""
        if not self.place.is_file:
            for name in tables():
                sql.connection.execute(f"ALTER TABLE {SCHEMA}.{name} {'ENABLE' if on else 'DISABLE'} TRIGGER USER")
            return
        for name, statement in sqlite_triggers().items():
            sql.execute(f"DROP TRIGGER IF EXISTS {name}")
            if on:
                sql.execute(statement)


STAYS = {"leases", "writers", "user_files", "to_purge"}  # rows about processes, and about files next to the ledger
NUMBERED = (  # tables whose rows are numbered consecutively
    *(("collections", "collection_key"), ("users", "user_key"), ("records", "record_key"), ("recalls", "recall_key")),
    *(("spans", "span_key"), ("changes", "change_key"), ("words", "row"), ("words_gone", "gone")),
    *(("logged_ids", "id_key"), ("mirror", "row"), ("mirror_gone", "gone"), ("due_records", "number")),
    *(("graph_passages", "passage"), ("graph_names", "name_key"), ("judged_questions", "question_key")),
    *(("judged_for", "judged_key"), ("hierarchy_messages", "message"), ("hierarchy_episodes", "episode")),
    *(("hierarchy_semantics", "semantic"), ("hierarchy_themes", "theme")),
)
VERSIONS = {("collections", "version"), ("users", "counted")}  # counters that make readers of a ledger reload


@lru_cache(maxsize=1)
def keys() -> dict[str, tuple[str, ...]]:
    """The columns of each table's key.

    >>> keys()["records"], keys()["erased"]
    (('record_key',), ('user_key', 'digest'))
    """
    with closing(SQLiteLedger(":memory:")) as ledger, ledger.file.reading() as sql:
        found = {name: sql.execute(f"PRAGMA table_info({name})").fetchall() for name in sorted(set(tables()) - STAYS)}
    return {
        name: tuple(row[1] for row in sorted(rows, key=lambda row: int(row[5])) if row[5])
        for name, rows in found.items()
    }


@lru_cache(maxsize=1)
def sqlite_triggers() -> dict[str, str]:
    """The ledger's own triggers in SQLite: name and statement."""
    with closing(SQLiteLedger(":memory:")) as ledger, ledger.file.reading() as sql:
        return dict(sql.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall())
