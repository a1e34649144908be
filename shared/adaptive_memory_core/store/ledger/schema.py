"""The ledger's schema, checks of its file, and the version numbers that show changes.

A recall only changes its user's version, so that other processes need not read other rows again. Any other write
changes the ledger's version, and then everything is read again.
"""

from __future__ import annotations

import re
import sqlite3
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from adaptive_memory_core.errors import DamagedLedgerError, LedgerError, LedgerVersionError
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.sqlite_files import header_fault

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
    from adaptive_memory_core.store.sqlite_file import LedgerFile

SCHEMA_VERSION = 1  # of the tables in schema.sql; PostgreSQL has the same ones


class LedgerConnection(sqlite3.Connection):
    """A connection to a ledger's file. Statements without a result are executed with `later`, so that PostgreSQL can
    send several in one message; SQLite executes them at once."""

    later = sqlite3.Connection.execute


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty file, all or none; a file with another schema version is refused."""
    if _version(connection) == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection) == 0 and _is_empty(connection):
            for statement in _statements():
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        else:
            check_version(connection)  # another process may have created them since
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def check_version(connection: sqlite3.Connection) -> None:
    """Raise LedgerVersionError if the file has another schema version, now or since it was opened."""
    version = _version(connection)
    if version > SCHEMA_VERSION:
        raise LedgerVersionError(newer(f"The ledger has schema version {version}"))
    if version < SCHEMA_VERSION:
        raise LedgerVersionError(unknown(f"The ledger has schema version {version}"))


def newer(found: str) -> str:
    """The message for a ledger that a newer version of this package wrote."""
    return (
        f"{found}; this version of adaptive-memory-retrieval reads version {SCHEMA_VERSION}. Install the version that "
        "wrote it and start this process again, or give another ledger=."
    )


def unknown(found: str) -> str:
    """The message for a ledger with a schema version that no release has written."""
    return (
        f"{found}, which no release of adaptive-memory-retrieval has written; this one reads version {SCHEMA_VERSION}. "
        "Restore the ledger from a backup, or give another ledger=: texts, vectors and the reads shown in the "
        "metadata are in the collection."
    )


@lru_cache(maxsize=1)
def _statements() -> tuple[str, ...]:
    text = (resources.files(__package__) / "schema.sql").read_text(encoding="utf-8")
    return tuple(_split(text))


def _split(text: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit the transaction that is open.

    >>> list(_split("CREATE TABLE tea (cups);\\nDROP TABLE tea;\\n"))
    ['CREATE TABLE tea (cups);\\n', 'DROP TABLE tea;\\n']
    """
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


MOVE = "ledger_move"  # table in the source of a move: the move, its target, and whether it is complete
ARRIVAL = "ledger_arrival"  # table in the target of a move, until everything is copied


def refuse_moved(file: LedgerFile, sql: sqlite3.Connection) -> None:
    """Raise an error if the ledger was moved away, or if a move to this place is not complete."""
    if file.has_table(sql, ARRIVAL):
        raise LedgerError(
            f"A ledger is being moved to {file.path}, and is not all here yet. Call move_ledger again, with the same "
            "source: it goes on where it was. Then open the memory."
        )
    if file.has_table(sql, MOVE):
        row = sql.execute(f"SELECT target FROM {MOVE} WHERE moved = 1").fetchone()  # noqa: S608 - our own names
        if row is not None:
            raise LedgerError(
                f"The ledger {file.path} was moved to {row[0]}. Open the memory with ledger= that one; this one "
                "is as it was then."
            )


class UnreadableRowError(ValueError):
    """A value in the ledger cannot be decoded; callers of the ledger get DamagedLedgerError instead."""


UNREADABLE = (
    UnicodeDecodeError,
    orjson.JSONDecodeError,
    UnreadableRowError,
)  # what flipped bytes raise besides errors of SQLite
_SIGNS = re.compile("malformed|not a database|decode to UTF-8|no such (table|column|index)|corrupt|disk image")
_ADVICE = (
    "Restore the file from a backup. If there is none, close what has it open, move the file (and those next to it "
    "that begin with its name) aside, and open the memory again: the reads that the collection's metadata show are "
    "kept; the log and the verdicts are lost."
)


def shows_damage(error: Exception) -> bool:
    """Whether an error means that the file is damaged."""
    return isinstance(error, UNREADABLE) or (isinstance(error, sqlite3.Error) and bool(_SIGNS.search(str(error))))


def damaged(path: str, what: object) -> DamagedLedgerError:
    """The error for a damaged file."""
    return DamagedLedgerError(f"The ledger {path!r} is damaged: {what}. {_ADVICE}")


def refuse_damaged(path: str, file: Path | None) -> None:
    """Raise an error if the file is not an SQLite file, or is shorter than its header says."""
    fault = None if file is None else header_fault(file)
    if fault is not None:
        raise damaged(path, fault)


def refuse_foreign(path: str, connection: sqlite3.Connection) -> None:
    """Raise an error if the file contains only another program's tables."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and "recalls" not in tables | _ours(connection):
        raise DamagedLedgerError(
            f"The ledger {path!r} is another program's database: it holds {', '.join(sorted(tables)[:5])}. Nothing was "
            "written into it. Give another path as ledger=."
        )


def _ours(connection: sqlite3.Connection) -> set[str]:
    """A table of the ledger if the file has a schema version: it then counts as a ledger, even with damaged tables."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    return {"recalls"} if version else set()


@contextmanager
def decoding(what: str) -> Iterator[None]:
    """A block in which decoding errors are raised as UnreadableRowError.

    >>> with decoding("a pace"): {}["unit"]
    Traceback (most recent call last):
    adaptive_memory_core.store.ledger.schema.UnreadableRowError: a pace cannot be decoded: KeyError('unit')
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, struct.error, zlib.error) as error:
        raise UnreadableRowError(f"{what} cannot be decoded: {error!r}") from error


class LedgerLook(NamedTuple):
    """Numbers that change with the ledger. `version` changes when another connection writes, except for changes that
    the other numbers show.

    `of_rows` changes with each change of a row of the mirror, and `of_user` with each counted recall of the user. If
    one is None, `version` changes instead.
    """

    version: int
    of_rows: int | None = None
    of_user: int | None = None


class TransactionKind(NamedTuple):
    """The kind of a transaction. `told`: its writer updates the caches of this process itself. `recall_of`: it counts a
    recall of this user. `unheard`: it writes nothing that other processes cache."""

    announced: bool = False
    recall_of: int = 0
    unheard: bool = False


class VersionNews:
    """The changes of the current transaction that others must see, and the number of changes by others.

    >>> news = VersionNews(); news.notice(4); news.begin(TransactionKind(recall_of=7)); news.counted[7] += 1
    >>> news.kept(); news.wrote, dict(news.counted), news.from_others
    (False, {7: 1}, 1)
    >>> news.begin(TransactionKind()); news.kept(); news.notice(5); news.from_others      # our own
    1
    >>> news.notice(6); news.from_others
    2
    """

    def __init__(self) -> None:
        self.collection_key = 0  # of the attached collection
        self.recall_of = 0  # the user whose recall the transaction counts
        self.counted: Counter[int] = Counter()  # number of counted recalls by user
        self.wrote = False  # whether it writes more than a recall does
        self.only_recall = False  # whether it has no other part at all
        self.from_others = 0  # how often others have changed the version
        self._version = -1

    def begin(self, kind: TransactionKind) -> None:
        """Begin a transaction."""
        self.counted.clear()
        self.recall_of, self.wrote = kind.recall_of, not (kind.recall_of or kind.unheard)
        self.only_recall = kind.recall_of != 0

    def part(self, kind: TransactionKind) -> None:
        """Begin a nested part of the transaction."""
        of_recall = kind.recall_of != 0 and kind.recall_of == self.recall_of
        self.wrote = self.wrote or not (kind.unheard or of_recall)
        self.only_recall = self.only_recall and of_recall

    def notice(self, version: int | None) -> None:
        """Compare with the version stored in the ledger (None if there is none yet)."""
        if version is not None and version != self._version:
            self._version, self.from_others = version, self.from_others + 1

    def kept(self) -> None:
        """Note that the transaction was committed, and increased the version if it `wrote`."""
        self._version += self.wrote


_LOOK_AT = (
    "SELECT version, (SELECT changes FROM mirror_size WHERE collection_key = ?), "
    "(SELECT counted FROM users WHERE user_key = ?) FROM file_version"
)


class VersionsInFile:
    """The version numbers of a file, read again after each commit. Only used under the file's lock."""

    def __init__(self, news: VersionNews) -> None:
        self._news = news
        self._as_of: int | None = None  # SQLite's own number, which each commit of another connection changes
        self._of_rows, self._of_users = 0, dict[int, int]()

    def look(self, sql: sqlite3.Connection, user: int) -> LedgerLook:
        """The present numbers for a user and the collection's rows."""
        as_of = sql.execute("PRAGMA data_version").fetchone()[0]
        if as_of != self._as_of:
            check_version(sql)
            self._as_of, self._of_users = as_of, {}
        if user not in self._of_users:
            version, of_rows, of_user = sql.execute(_LOOK_AT, (self._news.collection_key, user)).fetchone()
            self._news.notice(version)
            self._of_rows, self._of_users[user] = of_rows or 0, of_user or 0
        return LedgerLook(self._news.from_others, self._of_rows, self._of_users[user])

    def kept(self) -> None:
        if self._news.wrote or not self._news.only_recall:
            self._news.kept()
            self.forget()
            return
        for user, count in self._news.counted.items():
            if user in self._of_users:
                self._of_users[user] += count

    def forget(self) -> None:
        """Drop the cached numbers, which may have changed or were rolled back."""
        self._as_of = None


class LedgerPart:
    """A part of the ledger: the rows of one kind, over what all parts share. In the values of a query, a scope means
    the user's key."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def _first(self, query: str, *values: Any) -> Any:
        """The first row of the query; None if there is none."""
        with self._shared.reading() as sql:
            return sql.execute(query, self._keyed(sql, values)).fetchone()

    def _value(self, query: str, *values: Any) -> Any:
        """The first column of the first row; None if there is none."""
        row = self._first(query, *values)
        return None if row is None else row[0]

    def _all(self, query: str, *values: Any) -> list[Any]:
        """All rows of the query."""
        with self._shared.reading() as sql:
            found: list[Any] = sql.execute(query, self._keyed(sql, values)).fetchall()
        return found

    def _keyed(self, sql: sqlite3.Connection, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self._shared.known_user(sql, one) if isinstance(one, Scope) else one for one in values)
