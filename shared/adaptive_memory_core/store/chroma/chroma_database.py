"""Chroma's own SQLite file, read without Chroma, so that it can be read even if Chroma fails.

Chroma's `add` keeps the GIL while it waits for this file. A thread must not hold a lock on the file if it needs the GIL
to release it: a writing process would wait for that thread, and Chroma in this process for the writer. `_rows` reads
each answer in one call that runs without the GIL and has released the lock when it returns.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import DamagedStoreError, StoreError
from adaptive_memory_core.store.sqlite_files import header_fault

DATABASE = "chroma.sqlite3"
USUAL_DATABASE = ("default_database", "default_tenant")  # Chroma's defaults
IN_FILES, IN_SQLITE = "urn:chroma:segment/vector/hnsw-local-persisted", "urn:chroma:segment/metadata/sqlite"
DatabaseRow = np.ndarray[tuple[int], np.dtype[np.float32]]
_DAMAGE = re.compile("malformed|not a database|decode to UTF-8|corrupt|disk image|codec can't decode")
ADD, UPDATE, UPSERT, DELETE = range(4)


@dataclass(frozen=True, slots=True)
class Logged:
    """A write that may not be in the index files yet."""

    stored_id: str
    operation: int
    with_vector: bool


@dataclass(frozen=True, slots=True)
class DatabaseContents:
    """A collection according to SQLite, which the index files under `folder` must match once Chroma has loaded them.

    `ids` are in the order of writing. `persisted` is the number of the last write in the index files; `log` contains
    the writes in Chroma's queue.
    """

    collection_id: str
    folder: Path
    dimension: int | None
    ids: tuple[str, ...]
    persisted: int
    log: tuple[tuple[int, Logged], ...]

    def logged_after(self, number: int) -> Iterator[Logged]:
        return (entry for written, entry in self.log if written > number)


def contents(directory: Path, collection_id: str) -> DatabaseContents | None:
    """The collection's contents according to SQLite; None if the file is missing or has an unknown layout."""
    if not (directory / DATABASE).exists():
        return None
    try:
        with reading(directory) as sql:
            segments = _segments(sql, collection_id)
            return None if segments is None else _contents(sql, directory, collection_id, *segments)
    except UnknownLayoutError:
        return None


def _segments(sql: sqlite3.Connection, collection_id: str) -> tuple[str, str] | None:
    """The ids of the collection's two segments: vectors in files, and metadata."""
    query = "SELECT scope, type, id FROM segments WHERE collection = ?"
    found = {(scope, kind): segment for scope, kind, segment in _rows(sql, query, collection_id)}
    vectors, rows = found.get(("VECTOR", IN_FILES)), found.get(("METADATA", IN_SQLITE))
    return None if vectors is None or rows is None else (vectors, rows)


def _contents(
    sql: sqlite3.Connection, directory: Path, collection_id: str, vectors: str, rows: str
) -> DatabaseContents:
    row = _first(sql, "SELECT dimension FROM collections WHERE id = ?", collection_id)
    ids = _rows(sql, "SELECT embedding_id FROM embeddings WHERE segment_id = ? ORDER BY id", rows)
    persisted, applied = (_last(sql, segment) for segment in (vectors, rows))
    log = _rows(
        sql,
        "SELECT seq_id, id, operation, vector IS NOT NULL FROM embeddings_queue WHERE topic LIKE ? ORDER BY seq_id",
        f"%/{collection_id}",
    )
    logged = tuple((number, Logged(one, operation, bool(full))) for number, one, operation, full in log)
    doomed = {entry.stored_id for number, entry in logged if number > applied and entry.operation == DELETE}
    there = tuple(one for (one,) in ids if one not in doomed)
    return DatabaseContents(
        collection_id, directory / vectors, None if row is None else row[0], there, persisted, logged
    )


def _last(sql: sqlite3.Connection, segment: str) -> int:
    """The number of the last write that a segment shows. A killed process may have logged another write, which Chroma
    applies when it loads the collection."""
    row = _first(sql, "SELECT seq_id FROM max_seq_id WHERE segment_id = ?", segment)
    return 0 if row is None else _number(row[0])


def last_write(directory: Path, collection_id: str) -> int | None:
    """The number of the last write that the collection shows; None if unknown."""
    with suppress(UnknownLayoutError), reading(directory) as sql:
        segments = _segments(sql, collection_id)
        return None if segments is None else _last(sql, segments[1])
    return None


def size_as_of(directory: Path, collection_id: str, number: int, *, apart: str) -> int | None:
    """The number of records, if none was written after the write of that number. None if one was written or is still
    queued, or if this is unknown. Writes under the id `apart` do not count. Deletions show only in the number of
    records."""
    with reading(directory) as sql:
        segments = _segments(sql, collection_id)
        if segments is None or (last := _last(sql, rows := segments[1])) < number:
            return None
        queued = "SELECT 1 FROM embeddings_queue WHERE topic LIKE ? AND seq_id > ? AND id != ? LIMIT 1"
        written = "SELECT 1 FROM embeddings WHERE segment_id = ? AND seq_id > ? LIMIT 1"
        if _rows(sql, queued, f"%/{collection_id}", last, apart) or _rows(sql, written, rows, number):
            return None
        return int(_rows(sql, "SELECT count(*) FROM embeddings WHERE segment_id = ?", rows)[0][0])


def logged_vectors(directory: Path, collection_id: str) -> dict[str, DatabaseRow]:
    """The last vector of each record in the log."""
    query = "SELECT id, vector FROM embeddings_queue WHERE topic LIKE ? AND vector IS NOT NULL ORDER BY seq_id"
    with reading(directory) as sql:
        return {one: np.frombuffer(row, dtype="<f4") for one, row in _rows(sql, query, f"%/{collection_id}")}


def collection_id(directory: Path, name: str) -> str | None:
    """The id of the collection of that name."""
    with reading(directory) as sql:
        row = _first(
            sql,
            "SELECT collections.id FROM collections JOIN databases ON databases.id = database_id "
            "WHERE collections.name = ? AND databases.name = ? AND tenant_id = ?",
            name,
            *USUAL_DATABASE,
        )
    return None if row is None else str(row[0])


def has_records(directory: Path, collection_id: str) -> bool:
    """Whether the collection contains any record that Chroma has applied; Chroma's own count would load the index."""
    found = "SELECT 1 FROM embeddings JOIN segments ON segments.id = segment_id WHERE collection = ? LIMIT 1"
    with reading(directory) as sql:
        return bool(_rows(sql, found, collection_id))


def above(directory: Path, collection_id: str, key: str, bound: float) -> list[str]:
    """The ids of records whose metadata have a number above the bound under this key; Chroma itself would load the
    index for this query."""
    query = (
        "SELECT embedding_id FROM embedding_metadata JOIN embeddings USING (id) "
        "JOIN segments ON segments.id = segment_id "
        "WHERE key = ? AND float_value > ? AND collection = ?"
    )
    with reading(directory) as sql:
        return [row[0] for row in _rows(sql, query, key, bound, collection_id)]


def collection_ids(directory: Path) -> set[str]:
    """The ids of all collections in the directory, of every tenant and database."""
    with reading(directory) as sql:
        return {row[0] for row in _rows(sql, "SELECT id FROM collections")}


def database_faults(directory: Path) -> list[str]:
    """The faults that SQLite finds in the whole file, after reading all of it."""
    try:
        with reading(directory) as sql:
            found = [str(row[0]) for row in _rows(sql, "SELECT * FROM pragma_quick_check(10, 'main')")]
    except DamagedStoreError as error:
        return [str(error.__cause__)]  # the caller adds what to do
    except StoreError as error:
        return [str(error)]
    return [] if found == ["ok"] else found


@contextmanager
def reading(directory: Path) -> Iterator[sqlite3.Connection]:
    """A connection to Chroma's file, with SQLite's errors converted."""
    place = directory / DATABASE
    try:
        connection = sqlite3.connect(f"{place.resolve().as_uri()}?mode=rw", uri=True, timeout=10.0)
        try:
            connection.execute("PRAGMA temp_store = MEMORY")
            yield connection
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if _DAMAGE.search(str(error)):
            raise _damaged(place, error) from error
        raise UnknownLayoutError(
            f"Chroma's database {str(place)!r} cannot be read while Chroma has it open: {reason(error)}."
        ) from error


def _rows(sql: sqlite3.Connection, query: str, *asked: object) -> list[tuple[Any, ...]]:
    """The whole answer, copied by SQLite into memory first: an unfinished query would keep the file locked."""
    sql.execute(f"CREATE TEMP TABLE answer AS {query}", asked)
    try:
        return sql.execute("SELECT * FROM temp.answer").fetchall()
    finally:
        sql.execute("DROP TABLE temp.answer")


def _first(sql: sqlite3.Connection, query: str, *asked: object) -> tuple[Any, ...] | None:
    return next(iter(_rows(sql, query, *asked)), None)


class UnknownLayoutError(StoreError):
    """Chroma's file is in use, or has the layout of another version, so it cannot be read here."""


def refuse_torn(directory: Path) -> None:
    """Raise if Chroma's file is torn or not an SQLite file, before Chroma fails with an obscure error."""
    fault = header_fault(directory / DATABASE)
    if fault is not None:
        raise _damaged(directory / DATABASE, fault)
    if (directory / DATABASE).exists():
        with suppress(UnknownLayoutError), reading(directory) as sql:
            _rows(sql, "SELECT name, sql FROM sqlite_master")
            _rows(sql, "SELECT * FROM migrations")  # Chroma panics if it cannot read these


def _damaged(place: Path, what: object) -> DamagedStoreError:
    return DamagedStoreError(
        f"Chroma's own database {str(place)!r} cannot be read: {what}. If the ledger has a copy of the "
        "collection, AdaptiveMemory.repair(path) rebuilds it. If not, restore a backup, or save what can be read: "
        f"sqlite3 {place} .recover | sqlite3 recovered.sqlite3"
    )


def _number(value: int | bytes) -> int:
    """The number, which older versions of Chroma stored as bytes."""
    return int.from_bytes(value, "big") if isinstance(value, bytes) else int(value)
