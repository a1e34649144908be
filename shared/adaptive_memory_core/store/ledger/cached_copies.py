"""Copies of a user's rows outside the ledger's tables: files of vectors or words next to the ledger.

A file is created once, under a unique name, and never changed. A row of the ledger contains its name. The row is
deleted with the first removal of a record, and a file without a row is deleted.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import orjson

from adaptive_memory_core.flow.ports.ledger_values import FileKind, News, UserFile
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.schema import LedgerPart, decoding
from adaptive_memory_core.store.ledger.state_rows import in_batches

CopiedRow = tuple[str, str | None, Metadata | None]  # a record's id, text and metadata


def read_metadata(metadata: str | None) -> Metadata | None:
    """A record's metadata, decoded from its row."""
    if metadata is None:
        return None
    with decoding("a record's metadata"):
        found: Metadata = orjson.loads(metadata)
        return found


NOBODY = 0  # the user key of records without a scope, and of users who are not in the ledger


def news_of(shared: LedgerContext, scope: Scope, queries: tuple[str, str], written: int, removed: int) -> News:
    """The user's rows after the one numbered `written`, and the removals after the one numbered `removed`, by these two
    queries: what is copied in RAM catches up by it."""
    with shared.reading() as sql:
        user = shared.known_user(sql, scope)
        if user == NOBODY:
            return News(NOBODY, (), ())
        gone = sql.execute(queries[1], (user, removed)).fetchall()
        return News(user, gone, sql.execute(queries[0], (user, written)).fetchall())


def delete_copies(
    sql: sqlite3.Connection, table: Literal["mirror", "words"], collection_key: int, stored_ids: Sequence[str]
) -> None:
    """Delete these records' rows, in the caller's transaction. Words are also deleted with a record's row of the
    mirror."""
    for chunk in in_batches(stored_ids):
        places = ", ".join("?" * len(chunk))
        query = f"DELETE FROM {table} WHERE collection_key = ? AND stored_id IN ({places})"  # noqa: S608 - our own names
        sql.execute(query, (collection_key, *chunk))


FOLDER, UNFINISHED = ".copies", ".unfinished"
UNFINISHED_SECONDS = 600.0  # age after which an unfinished file counts as abandoned
_OF_USER = "SELECT name, user_key, written, removed FROM user_files WHERE user_key = ? AND kind = ?"
_KEEP = (
    "INSERT INTO user_files (user_key, kind, name, written, removed) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (user_key, kind) "
    "DO UPDATE SET name = excluded.name, written = excluded.written, removed = excluded.removed"
)
_LAST_REMOVED = {
    "vectors": "SELECT max(gone) FROM mirror_gone WHERE user_key = ?",
    "words": "SELECT max(gone) FROM words_gone WHERE user_key = ?",
}


class LedgerUserFiles(LedgerPart):
    """Copies that may be deleted at any time. A copy with a record that was removed since is never returned."""

    def __init__(self, shared: LedgerContext) -> None:
        super().__init__(shared)
        place = shared.file.place
        self._folder = None if place is None else place.with_name(place.name + FOLDER)

    def find(self, scope: Scope, kind: FileKind) -> UserFile | None:
        """The file with the user's rows, or None."""
        if self._folder is None:
            return None
        row = self._first(_OF_USER, scope, kind)
        return None if row is None else UserFile(self._folder / row[0], *row[1:])

    def new(self, owner: int, kind: FileKind) -> Path | None:
        """The path for a new file; None if files cannot be stored."""
        if self._folder is None or self._shared.file.read_only:
            return None
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError:
            return None
        return self._folder / f"{owner}-{kind}-{uuid.uuid4().hex}{UNFINISHED}"

    def keep(self, kind: FileKind, made: UserFile) -> UserFile | None:
        """Use this file from now on, instead of an earlier one; return None if a record was removed since."""
        place = made.place.with_suffix("")
        with self._shared.writing(announced=True) as sql:
            last: int | None = sql.execute(_LAST_REMOVED[kind], (made.owner,)).fetchone()[0]
            kept = (last or 0) <= made.removed
            if kept:
                values = (made.owner, kind, place.name, made.written, made.removed)
                sql.execute(_KEEP, values)
        made.place.replace(place)
        self.sweep()
        return made._replace(place=place) if kept else None

    def drop(self, useless: UserFile) -> None:
        """Remove a file that is no longer useful."""
        if not self._shared.file.read_only:
            with self._shared.writing(announced=True) as sql:
                sql.execute("DELETE FROM user_files WHERE name = ?", (useless.place.name,))
            self.sweep()

    def sweep(self) -> None:
        """Delete the files without a row, because removed records must not remain readable in them."""
        there = [] if self._folder is None or not self._folder.exists() else list(self._folder.iterdir())
        if not there or self._shared.file.read_only:
            return
        with self._shared.reading() as sql:
            named = {row[0] for row in sql.execute("SELECT name FROM user_files")}
            now = self._shared.file.now(sql)
        for file in there:
            if file.name not in named and not _is_being_written(file, now):
                with suppress(OSError):  # another process deleted it first, or the system locks files in use
                    file.unlink()


def _is_being_written(file: Path, now: float) -> bool:
    """Whether a process is still writing the file; it deletes the file itself if it is useless by then."""
    try:
        return file.suffix == UNFINISHED and now - file.stat().st_mtime < UNFINISHED_SECONDS
    except OSError:
        return True
