"""Copies of a user's rows outside the ledger's tables: mirror rows in RAM, and files of vectors or words next to the
ledger.

A file is made once, under a unique name, and never changed. A row of the ledger names it and goes with the first
removal, so a file without a row is useless.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import orjson

from adaptive_memory_core.flow.ports.ledger_values import FileKind, LedgerVersion, UserFile
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.schema import decoding

MOST_CHARACTERS = 8_000_000  # of the texts that are kept; guess
OF_A_ROW = 1_000  # characters that a row counts for besides its text
CopiedRow = tuple[str, str | None, Metadata | None]  # a record's id, text and metadata
Stamp = tuple[int, int | None, int | None]  # the collection, and how often its rows were changed and removed so far


def read_metadata(metadata: str | None) -> Metadata | None:
    """A record's metadata as its row has them."""
    if metadata is None:
        return None
    with decoding("a record's metadata"):
        found: Metadata = orjson.loads(metadata)
        return found


class RowsInRam:
    """Rows by id, as of a version of the file.

    >>> kept, at_first, later = RowsInRam(), LedgerVersion((0, 1), 7, 0), LedgerVersion((0, 2), 7, 0)
    >>> kept.begin(at_first, (1, 7, 0)); kept.keep([("a", "tea", {"topic": "drinks"})])
    >>> kept.is_as_of(later), kept.begin(later, (1, 7, 0)), kept.known(["a", "b"])      # somebody wrote something else
    (False, None, [('a', 'tea', {'topic': 'drinks'})])
    >>> kept.is_as_of(LedgerVersion((0, 2), 8, 0)), kept.begin(later, (1, 8, 0)), kept.known(["a"])
    (False, None, [])
    """

    def __init__(self) -> None:
        self._rows: dict[str, CopiedRow] = {}
        self._change: tuple[int, int] | None = None
        self._stamp: Stamp = (0, None, None)
        self._characters = 0

    def is_as_of(self, version: LedgerVersion) -> bool:
        """Whether nobody has written since, nor changed a row."""
        return version.change == self._change and version.of_rows in (None, self._stamp[1])

    def begin(self, version: LedgerVersion, stamp: Stamp) -> None:
        """Go on from this version of the file, with nothing where rows were changed since."""
        if stamp != self._stamp:
            self._rows, self._characters = {}, 0
        self._change, self._stamp = version.change, stamp

    def known(self, stored_ids: Sequence[str]) -> list[CopiedRow]:
        """Those of the rows that are here, not to be changed: records have copies of their metadata."""
        if self._characters > MOST_CHARACTERS:
            self._rows, self._characters = {}, 0
        get = self._rows.get
        return [row for one in stored_ids if (row := get(one)) is not None]

    def keep(self, rows: Iterable[CopiedRow]) -> None:
        """Remember rows that were just read, but for metadata with lists, which a copy would share."""
        for one, text, data in rows:
            if data is None or list not in map(type, data.values()):
                self._rows[one] = (one, text, None if data is None else {**data})
                self._characters += OF_A_ROW + len(text or "")

    def drop(self, stored_ids: Iterable[str]) -> None:
        """These are being written."""
        for one in stored_ids:
            self._rows.pop(one, None)

    def annotated(self, changes: int, rows: Iterable[CopiedRow]) -> None:
        """What was dropped was the change of that number, and is kept in the file like this."""
        collection, before, removed = self._stamp
        if before == changes - 1:
            self._stamp = (collection, changes, removed)
            self.keep(rows)


FOLDER, UNFINISHED = ".copies", ".unfinished"
UNFINISHED_SECONDS = 600.0  # after which nobody goes on writing a file
_OF_USER = "SELECT name, written, removed FROM user_files WHERE user_key = ? AND kind = ?"
_KEEP = (
    "INSERT INTO user_files (user_key, kind, name, written, removed) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (user_key, kind) "
    "DO UPDATE SET name = excluded.name, written = excluded.written, removed = excluded.removed"
)
_LAST_REMOVED = {
    "vectors": "SELECT max(gone) FROM mirror_gone WHERE user_key = ?",
    "words": "SELECT max(gone) FROM words_gone WHERE user_key = ?",
}


class LedgerUserFiles:
    """Copies that may be deleted at any time. None is found in which something stands that was removed since."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared
        place = shared.file.place
        self._folder = None if place is None else place.with_name(place.name + FOLDER)

    def find(self, scope: Scope, kind: FileKind) -> UserFile | None:
        """The file that has the user's rows, if there is one."""
        if self._folder is None:
            return None
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            row = sql.execute(_OF_USER, (user, kind)).fetchone()
        return None if row is None else UserFile(self._folder / row[0], user, row[1], row[2])

    def new(self, owner: int, kind: FileKind) -> Path | None:
        """The place for another file; None where none can be kept."""
        if self._folder is None or self._shared.file.read_only:
            return None
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError:
            return None
        return self._folder / f"{owner}-{kind}-{uuid.uuid4().hex}{UNFINISHED}"

    def keep(self, kind: FileKind, made: UserFile) -> UserFile | None:
        """Use it from now on, instead of an earlier one; None if something was removed since."""
        place = made.place.with_suffix("")
        with self._shared.writing(told=True) as sql:
            last: int | None = sql.execute(_LAST_REMOVED[kind], (made.owner,)).fetchone()[0]
            kept = (last or 0) <= made.removed
            if kept:
                values = (made.owner, kind, place.name, made.written, made.removed)
                sql.execute(_KEEP, values)
        made.place.replace(place)
        self.sweep()
        return made._replace(place=place) if kept else None

    def drop(self, useless: UserFile) -> None:
        """Forget the file."""
        if not self._shared.file.read_only:
            with self._shared.writing(told=True) as sql:
                sql.execute("DELETE FROM user_files WHERE name = ?", (useless.place.name,))
            self.sweep()

    def sweep(self) -> None:
        """Delete the files that no row names: what was removed must not be read there."""
        there = [] if self._folder is None or not self._folder.exists() else list(self._folder.iterdir())
        if not there or self._shared.file.read_only:
            return
        with self._shared.reading() as sql:
            named = {row[0] for row in sql.execute("SELECT name FROM user_files")}
            now = self._shared.file.now(sql)
        for file in there:
            if file.name not in named and not _is_being_written(file, now):
                with suppress(OSError):  # another was quicker; or the system keeps what is in use
                    file.unlink()


def _is_being_written(file: Path, now: float) -> bool:
    """Whether somebody is at it, who deletes it in the end where a row of it was removed meanwhile."""
    try:
        return file.suffix == UNFINISHED and now - file.stat().st_mtime < UNFINISHED_SECONDS
    except OSError:
        return True
