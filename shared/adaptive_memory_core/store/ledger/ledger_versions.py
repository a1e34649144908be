"""Version numbers that tell caches of ledger rows whether others have written: of the ledger, of its rows, of one
user.

A recall changes its user's version alone, so that nobody reads again what it did not touch; whatever else is written
changes the ledger's version, and then everything is read again.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import NamedTuple

from adaptive_memory_core.store.ledger.schema import check_version


class LedgerLook(NamedTuple):
    """Another `version` as soon as another connection has written, but for what the others tell of by themselves.

    `of_rows`: another one after each change of a row of the mirror. `of_user`: another one as soon as a recall of the
    user was counted. None: the version tells of that, too.
    """

    version: int
    of_rows: int | None = None
    of_user: int | None = None


class TransactionKind(NamedTuple):
    """Of a transaction: its writer has `told` those of this process who keep rows in RAM, or will; it is a recall of
    this user; it is `unheard`, and writes nothing that others keep in RAM."""

    told: bool = False
    recall_of: int = 0
    unheard: bool = False


class VersionNews:
    """What the transaction under way has to tell, and how often others have told something.

    >>> news = VersionNews(); news.notice(4); news.begin(TransactionKind(recall_of=7)); news.counted[7] += 1
    >>> news.kept(); news.wrote, dict(news.counted), news.from_others
    (False, {7: 1}, 1)
    >>> news.begin(TransactionKind()); news.kept(); news.notice(5); news.from_others      # our own
    1
    >>> news.notice(6); news.from_others
    2
    """

    def __init__(self) -> None:
        self.recall_of = 0  # whose recall the transaction is
        self.counted: Counter[int] = Counter()  # whose recalls it counts
        self.wrote = False  # more than a recall does
        self.only_recall = False  # whether it has no other part, heard or not
        self.from_others = 0  # how often the version was another than ours
        self._version = -1

    def begin(self, kind: TransactionKind) -> None:
        """A transaction begins."""
        self.counted.clear()
        self.recall_of, self.wrote = kind.recall_of, not (kind.recall_of or kind.unheard)
        self.only_recall = kind.recall_of != 0

    def part(self, kind: TransactionKind) -> None:
        """A part of it begins."""
        of_recall = kind.recall_of != 0 and kind.recall_of == self.recall_of
        self.wrote = self.wrote or not (kind.unheard or of_recall)
        self.only_recall = self.only_recall and of_recall

    def notice(self, version: int | None) -> None:
        """The version that stands in the ledger; None where there is none yet."""
        if version is not None and version != self._version:
            self._version, self.from_others = version, self.from_others + 1

    def kept(self) -> None:
        """The transaction was kept, and has counted the version up where it `wrote`."""
        self._version += self.wrote


_LOOK_AT = (
    "SELECT version, (SELECT changes FROM mirror_size WHERE collection_key = ?), "
    "(SELECT counted FROM users WHERE user_key = ?) FROM file_version"
)


class VersionsInFile:
    """The numbers of a file, read again after each commit. Used under the file's lock only."""

    def __init__(self, news: VersionNews) -> None:
        self._news = news
        self._as_of: int | None = None  # SQLite's own number, which each commit of another connection changes
        self._of_rows, self._of_users = 0, dict[int, int]()

    def look(self, sql: sqlite3.Connection, user: int, collection: int) -> LedgerLook:
        """What the numbers say of a user, and of the collection's rows."""
        as_of = sql.execute("PRAGMA data_version").fetchone()[0]
        if as_of != self._as_of:
            check_version(sql)
            self._as_of, self._of_users = as_of, {}
        if user not in self._of_users:
            version, of_rows, of_user = sql.execute(_LOOK_AT, (collection, user)).fetchone()
            self._news.notice(version)
            self._of_rows, self._of_users[user] = of_rows or 0, of_user or 0
        return LedgerLook(self._news.from_others, self._of_rows, self._of_users[user])

    def write(self, sql: sqlite3.Connection) -> None:
        """Tell others what the transaction changes, within it."""
        if self._news.wrote:
            sql.execute("UPDATE file_version SET version = version + 1")
        for user, count in self._news.counted.items():
            sql.execute("UPDATE users SET counted = counted + ? WHERE user_key = ?", (count, user))

    def kept(self) -> None:
        self._news.kept()
        if self._news.wrote or not self._news.only_recall:
            self.forget()
            return
        for user, count in self._news.counted.items():
            if user in self._of_users:
                self._of_users[user] += count

    def forget(self) -> None:
        """Numbers that were read may be others by now, or have never been."""
        self._as_of = None
