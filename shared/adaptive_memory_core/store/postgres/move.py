"""How does a ledger move from SQLite to PostgreSQL, and back? Table by table, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.store.ledger.sql_ledger import SqlLedger
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.store.place_names import check_ledger, is_in_postgres
from adaptive_memory_core.store.postgres.dialect import SCHEMA, tables
from adaptive_memory_core.store.postgres.ledger import PostgresLedger

STAYS = {"leases", "writers", "user_files", "to_purge"}  # who is at work, and what is about files beside the ledger
VERSIONS = {("collections", "version"), ("users", "counted")}  # SQLite has one of the whole file
PAGE = 2_000  # rows that are in RAM at once
NUMBERED = (  # tables whose rows are numbered as they come
    *(("collections", "collection_key"), ("users", "user_key"), ("records", "record_key"), ("recalls", "recall_key")),
    *(("spans", "span_key"), ("changes", "change_key"), ("words", "row"), ("words_gone", "gone")),
    *(("logged_ids", "id_key"), ("mirror", "row"), ("mirror_gone", "gone"), ("due_records", "number")),
    *(("graph_passages", "passage"), ("graph_names", "name_key"), ("judged_questions", "question_key")),
    *(("judged_for", "judged_key"), ("hierarchy_messages", "message"), ("hierarchy_episodes", "episode")),
    *(("hierarchy_semantics", "semantic"), ("hierarchy_themes", "theme")),
)


def move_between(source: str | Path, target: str | Path, progress: Callable[[int, int], object] | None = None) -> int:
    """`move` from one place to the other: the path of a file, or the address of a database."""
    for place in (source, target):
        check_ledger(place)
    if not is_in_postgres(source) and not Path(source).exists():
        raise InvalidInputError(f"There is no ledger at {str(source)!r}. Give the file, or the address, of one.")
    with closing(_opened(source)) as old, closing(_opened(target)) as new:
        return move(old, new, progress)


def _opened(place: str | Path) -> SqlLedger:
    return PostgresLedger(str(place)) if is_in_postgres(place) else SQLiteLedger(str(place))


def move(source: SqlLedger, target: SqlLedger, progress: Callable[[int, int], object] | None = None) -> int:
    """Copy all rows of the one into the other, which must be empty; gives how many there were. The source stays as it
    is, and takes no writes until this is through."""
    names = sorted(set(tables()) - STAYS)
    with source.file.writing(told=True) as old, target.file.writing(told=True) as new:
        _keep_others_out(source, old)
        _refuse_used(new, names)
        total = sum(int(old.execute(f"SELECT count(*) FROM {name}").fetchone()[0]) for name in names)  # noqa: S608
        done = 0
        with _without_triggers(target, new):
            for name in names:
                for rows in _copied(old, new, name):
                    done += rows
                    if progress is not None:
                        progress(done, total)
        for name, column in NUMBERED:
            target.file.numbered(new, name, column)
    return done


def _copied(old: Any, new: Any, name: str) -> Iterator[int]:
    """The rows of a table, page by page; gives how many were copied."""
    cursor = old.execute(f"SELECT * FROM {name}")  # noqa: S608 - our own names
    columns = [column[0] for column in cursor.description if (name, column[0]) not in VERSIONS]
    places = [number for number, column in enumerate(cursor.description) if column[0] in columns]
    insert = f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608
    while page := cursor.fetchmany(PAGE):
        new.executemany(insert, [[row[place] for place in places] for row in page])
        yield len(page)


def _keep_others_out(source: SqlLedger, sql: Any) -> None:
    """SQLite does, with a transaction that may write."""
    if not isinstance(source, SQLiteLedger):
        sql.connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # a page may take long elsewhere
        sql.connection.execute(f"LOCK TABLE {SCHEMA}.collections IN EXCLUSIVE MODE")


def _refuse_used(sql: Any, names: list[str]) -> None:
    used = [name for name in names if sql.execute(f"SELECT EXISTS (SELECT 1 FROM {name})").fetchone()[0]]  # noqa: S608
    if used:
        raise InvalidInputError(
            f"The ledger to move to is in use: there are rows in {', '.join(used[:3])}. Give an empty one: a new file, "
            "or a database whose schema 'adaptive_memory' was just made."
        )


@contextmanager
def _without_triggers(target: SqlLedger, sql: Any) -> Iterator[None]:
    """What they would write is copied as well."""
    if isinstance(target, SQLiteLedger):
        found = sql.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in found:
            sql.execute(f"DROP TRIGGER {name}")
        yield
        for _, made in found:
            sql.execute(made)
        return
    for switch in ("DISABLE", "ENABLE"):
        for name in tables():
            sql.connection.execute(f"ALTER TABLE {SCHEMA}.{name} {switch} TRIGGER USER")
        if switch == "DISABLE":
            yield
