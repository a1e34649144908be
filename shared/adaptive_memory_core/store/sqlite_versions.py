"""Has another process written into the ledger's file, and whose? SQLite says whether, numbers in the file say whose."""

from __future__ import annotations

import sqlite3

from adaptive_memory_core.store.ledger.look import Look
from adaptive_memory_core.store.ledger.news_for_others import NewsForOthers
from adaptive_memory_core.store.ledger.schema import refuse_newer

_LOOK_AT = (
    "SELECT version, (SELECT changes FROM mirror_size WHERE collection_key = ?), "
    "(SELECT counted FROM users WHERE user_key = ?) FROM file_version"
)


class VersionsInFile:
    """The numbers of a file, read again after each commit. Used under the file's lock only."""

    def __init__(self, news: NewsForOthers) -> None:
        self._news = news
        self._as_of: int | None = None  # SQLite's own number, which each commit of another connection changes
        self._of_rows, self._of_users = 0, dict[int, int]()

    def look(self, sql: sqlite3.Connection, user: int, collection: int) -> Look:
        """What the numbers say of a user, and of the collection's rows."""
        as_of = sql.execute("PRAGMA data_version").fetchone()[0]
        if as_of != self._as_of:
            refuse_newer(sql)
            self._as_of, self._of_users = as_of, {}
        if user not in self._of_users:
            version, of_rows, of_user = sql.execute(_LOOK_AT, (collection, user)).fetchone()
            self._news.notice(version)
            self._of_rows, self._of_users[user] = of_rows or 0, of_user or 0
        return Look(self._news.from_others, self._of_rows, self._of_users[user])

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
