"""What changes in a ledger while it is copied? Triggers note the keys; once all is copied, others refuse to write."""

from __future__ import annotations

from typing import Any, NamedTuple

from adaptive_memory_core.store.ledger.moved import MOVE
from adaptive_memory_core.store.moving.place import Key, Place
from adaptive_memory_core.store.moving.tables import keys
from adaptive_memory_core.store.postgres.dialect import SCHEMA

UNDER_WAY, GONE, COPIED = 0, 1, 2
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
    """A change: its number, and whose key."""

    number: int
    key: Key


class Source:
    """The ledger that is moved, while others use it."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def begin(self, move: str, target: str) -> None:
        """Note from now on what changes; what was noted for another move goes."""
        with self.place.writing() as sql:
            self.keep_others_out(sql)
            self._clear(sql)
            sql.execute(f"CREATE TABLE {self.place.of(MOVE)} (id text NOT NULL, target text NOT NULL, moved integer)")
            sql.execute(f"INSERT INTO {self.place.of(MOVE)} VALUES (?, ?, 0)", (move, target))  # noqa: S608
            if not self.place.is_file:
                sql.connection.execute(_NOTE)
            for name in keys():
                self._note(sql, name)

    def begun(self) -> tuple[str, int] | None:
        """Which move was begun, and how far it is: `UNDER_WAY`, `GONE` from here, or `COPIED`."""
        with self.place.reading() as sql:
            if not self.place.has(sql, MOVE):
                return None
            row = sql.execute(f"SELECT id, moved FROM {self.place.of(MOVE)}").fetchone()  # noqa: S608 - our own names
        return str(row[0]), int(row[1])

    def last_noted(self, sql: Any, name: str) -> int:
        """The number of the latest change that is not copied yet; 0 where there is none."""
        return int(sql.execute(f"SELECT coalesce(max(noted), 0) FROM {self._notes(name)}").fetchone()[0])  # noqa: S608

    def noted(self, sql: Any, name: str, last: int, limit: int) -> list[Noted]:
        """The first changes, up to that one, that are not copied yet."""
        names = ", ".join(keys()[name])
        query = f"SELECT noted, {names} FROM {self._notes(name)} WHERE noted <= ? ORDER BY noted LIMIT ?"  # noqa: S608
        return [Noted(row[0], tuple(row[1:])) for row in sql.execute(query, (last, limit)).fetchall()]

    def note(self, sql: Any, name: str, changed: list[Key]) -> None:
        """These have to be copied again."""
        names, marks = ", ".join(keys()[name]), ", ".join("?" * len(keys()[name]))
        sql.executemany(f"INSERT INTO {self._notes(name)} ({names}) VALUES ({marks})", changed)  # noqa: S608

    def copied(self, sql: Any, name: str, done: list[Noted]) -> None:
        sql.executemany(f"DELETE FROM {self._notes(name)} WHERE noted = ?", [(one.number,) for one in done])  # noqa: S608

    def waiting(self) -> int:
        """How many changes are not copied yet."""
        with self.place.reading() as sql:
            return sum(self.place.count(sql, f"move_changes_{name}") for name in keys())

    def keep_others_out(self, sql: Any) -> None:
        """SQLite does, with a transaction that may write. On a server every writer has this table first of all, so that
        none of them holds one that we wait for, and waits for one of ours."""
        if not self.place.is_file:
            sql.connection.execute(f"LOCK TABLE {SCHEMA}.collections IN EXCLUSIVE MODE")

    def end(self, sql: Any, *, stays: bool) -> None:
        """All is copied. Whoever writes here from now on is told where the ledger is, unless it `stays` in use."""
        target = sql.execute(f"SELECT target FROM {self.place.of(MOVE)}").fetchone()[0]  # noqa: S608 - our own names
        for name in keys():
            self._drop_notes(sql, name)
            if not stays:
                self._refuse(sql, name, target)
        sql.execute(f"UPDATE {self.place.of(MOVE)} SET moved = ?", (COPIED if stays else GONE,))  # noqa: S608

    def _notes(self, name: str) -> str:
        return self.place.of(f"move_changes_{name}")

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
        told = target.replace("'", "''")
        if not self.place.is_file:
            sql.connection.execute(_REFUSE)
            sql.connection.execute(
                f"CREATE TRIGGER moved BEFORE INSERT OR UPDATE OR DELETE ON {SCHEMA}.{name} "
                f"FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.refuse_moved('{told}')"
            )
            return
        for event, (when, _) in _EVENTS.items():
            sql.execute(
                f"CREATE TRIGGER moved_{event}_{name} BEFORE {when} ON {name} BEGIN "
                f"SELECT RAISE(ABORT, 'this ledger was moved to {told}'); END"
            )

    def _clear(self, sql: Any) -> None:
        for name in keys():
            self._drop_notes(sql, name)
        sql.execute(f"DROP TABLE IF EXISTS {self.place.of(MOVE)}")
