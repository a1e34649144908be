"""What the parts of a ledger share: the file, the collection, the keys of users, and the cache of states and users."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from adaptive_memory_core.flow.ports.ledger_values import LedgerVersion
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import decay_steps, state_rows, verdict_rows
from adaptive_memory_core.store.ledger.recall_log import Keys
from adaptive_memory_core.store.ledger.state_rows import StateChange, StateRow, forgotten_name, owner_name
from adaptive_memory_core.store.sqlite_file import LedgerFile

TIMED = 1_000  # recalls whose time of writing is kept


class LedgerContext:
    """Which rows of the file are this collection's, and what is known of them without asking."""

    def __init__(self, file: LedgerFile) -> None:
        self.file = file
        self.reading, self.apart, self.writing = file.reading, file.apart, file.writing
        self.cache = LedgerCache()
        self.collection_key = 0
        self.sees_one_user = False  # whether the rows of others are hidden from us
        self.update_ms: deque[tuple[int, float]] = deque(maxlen=TIMED)  # of which user's recalls
        self.user_keys: dict[Scope, int] = {}
        self._named: set[Scope] = set()  # those that are known to have their name in the ledger
        self._changes, self._changing, self._undone = 0, False, 0
        file.on_failure, file.on_write, file.on_kept = self._failed, self.changing, self._kept

    def version(self, scope: Scope, known: LedgerVersion | None = None) -> LedgerVersion:
        """The ledger as it is now; or as it is known, if this memory has not written since."""
        if known is not None and self.is_of_now(known):
            return known
        with self.file.reading() as sql:
            return self.look(sql, self.known_user(sql, scope))

    def look(self, sql: sqlite3.Connection, user: int) -> LedgerVersion:
        """The same within a block that reads or writes: what a transaction changed in rows may yet be undone."""
        found = self.file.look(sql, user)
        of_rows = None if sql.in_transaction else found.of_rows
        return LedgerVersion((self._changes, found.version), of_rows, found.of_user, self._undone)

    def notice(self, sql: sqlite3.Connection, user: int, version: LedgerVersion | None = None) -> None:
        """What the cache has of the user is not behind that version from here on, or not behind the file."""
        if version is None:
            found = self.file.look(sql, user)
            self.cache.notice(user, found.version, found.of_user)
        else:
            self.cache.notice(user, version.change[1], version.of_user)

    def is_of_now(self, version: LedgerVersion) -> bool:
        """Whether this memory has not written since."""
        return version.change[0] == self._changes

    def changing(self) -> None:
        """More than the reads of a recall is being written: a version of now is an earlier one after the commit."""
        self.file.news.wrote = True
        self.cache.drop_users()
        self._changes, self._changing = self._changes + 1, True

    def attach(self, uuid: str, name: str) -> None:
        """Speak for this collection from now on; writes only where the ledger has not met it before."""
        known = self._collection(uuid)
        if known is None and not self.file.read_only:
            with self.writing() as sql:
                sql.execute("INSERT INTO collections (uuid, name) VALUES (?, ?) ON CONFLICT DO NOTHING", (uuid, name))
            known = self._collection(uuid)
        self.collection_key = self.file.news.collection_key = known or 0

    def known_user(self, sql: sqlite3.Connection, scope: Scope) -> int:
        """The user's key, or 0, which nobody has."""
        if scope not in self.user_keys:
            query = "SELECT user_key FROM users WHERE collection_key = ? AND name IN (?, ?)"
            row = sql.execute(query, (self.collection_key, owner_name(scope), forgotten_name(scope))).fetchone()
            if row is None:
                return 0
            self.user_keys[scope] = row[0]
        return self.user_keys[scope]

    def user_key(self, sql: sqlite3.Connection, scope: Scope) -> int:
        """The user's key, made where there is none yet. A user who was forgotten gets the name back."""
        known = self.user_keys.get(scope) or self.known_user(sql, scope)
        if known:
            if scope not in self._named:
                named = "UPDATE users SET name = ? WHERE user_key = ? AND name = ?"
                sql.execute(named, (owner_name(scope), known, forgotten_name(scope)))
                self._named.add(scope)
            return known
        self.changing()
        insert = "INSERT INTO users (collection_key, name) VALUES (?, ?) RETURNING user_key"
        return int(sql.execute(insert, (self.collection_key, owner_name(scope))).fetchone()[0])

    def forget_users(self) -> None:
        """Nothing is known of any user by now."""
        self.user_keys.clear()
        self._named.clear()
        self.cache.clear()

    def _collection(self, uuid: str) -> int | None:
        with self.reading() as sql:
            row = sql.execute("SELECT collection_key FROM collections WHERE uuid = ?", (uuid,)).fetchone()
        return None if row is None else int(row[0])

    def _kept(self) -> None:
        if self._changing:
            self.cache.drop_users()
            self._changes, self._changing = self._changes + 1, False

    def _failed(self) -> None:
        """A transaction was undone: what was read within it may never have been."""
        self._changes, self._undone = self._changes + 1, self._undone + 1
        self.cache.clear()
        self.user_keys.clear()
        self._named.clear()


KnownRow = StateRow | None
RowOwner = tuple[int, int]
_NOT_KNOWN: tuple[RowOwner | None, KnownRow] = (None, None)
MOST_STATES = 200_000  # states kept, and numbers of ids


class KnownUser(NamedTuple):
    """A user's recalls so far with their paces, and digests of the records forgotten a short while ago."""

    timeline: Timeline
    forgotten: frozenset[bytes]


class LedgerCache:
    """Rows of the ledger in RAM. Used under the ledger's lock only, and after `notice`, so it is never behind the file.

    A recall puts in what it wrote; any other write of ours drops what it may have changed, and a failed transaction
    empties it. So does what anybody else writes, but for a recall, which changes the version of its user alone.
    """

    def __init__(self) -> None:
        # one entry a record, which names whose state it is: its owner, or less than 0 the user over everyone's, and how
        # often others had counted recalls of that user
        self._rows: dict[str, tuple[RowOwner, KnownRow]] = {}
        self._versions: dict[int, int] = {}  # of users
        self._elsewhere: dict[int, int] = {}  # how often others have counted recalls of a user, or may have
        self._users: dict[int, KnownUser] = {}
        self._balances: dict[int, float] = {}
        self._helpful: dict[int, dict[tuple[str, int], Sequence[tuple[str, int]]]] = {}
        self._turn: tuple[int, str, decay_steps.RecallTurn | None] | None = None  # the last one asked for
        self._version = -1
        self.policies: set[str] = set()  # hashes that stand in the table
        self.logged_ids: Keys = {}

    def notice(self, user: int, version: int, of_user: int | None) -> None:
        """Forget everything if another connection has written since, and what is known of the user if others have
        counted a recall of theirs."""
        most = max(len(self._rows), len(self.logged_ids), len(self._helpful))
        if version != self._version or most > MOST_STATES:
            self.clear()
            self._version = version
        if of_user is not None and of_user != self._versions.get(user):
            self._versions[user] = of_user
            self._elsewhere[user] = self._elsewhere.get(user, 0) + 1
            for known in (self._users, self._balances, self._helpful):
                known.pop(user, None)
            self._turn = None

    def states(
        self, sql: sqlite3.Connection, collection_key: int, user: int, stored_ids: Iterable[str], *, reading: bool
    ) -> dict[str, StateRow]:
        """The rows of those records that have one of this user; with `reading`, also where they are everyone's."""
        rows, whose = self._rows, (-user if reading else user, self._elsewhere.get(user, 0))
        found: dict[str, StateRow] = {}
        missing: list[str] = []
        for one in stored_ids:
            owner, row = rows.get(one, _NOT_KNOWN)
            if owner != whose:
                missing.append(one)
            elif row is not None:
                found[one] = row
        if missing:
            there = state_rows.state_rows_by_id(sql, collection_key, user, missing, reading=reading)
            rows.update({one: (whose, there.get(one)) for one in missing})
            found |= there
        return found

    def user(self, sql: sqlite3.Connection, user: int) -> KnownUser:
        """What there is to know of a user."""
        known = self._users.get(user)
        if known is None:
            known = KnownUser(decay_steps.stored_timeline(sql, user), state_rows.forgotten_digests(sql, user))
            self._users[user] = known
        return known

    def balance(self, sql: sqlite3.Connection, user: int) -> float:
        """How far usefulness has led or misled the user."""
        known = self._balances.get(user)
        if known is None:
            known = self._balances[user] = verdict_rows.balance_of(sql, user)
        return known

    def helpful(self, sql: sqlite3.Connection, user: int, whose: str, limit: int) -> Sequence[tuple[str, int]]:
        """The records that were last of use, the latest first, each with the step of that."""
        known = self._helpful.setdefault(user, {})
        if (whose, limit) not in known:
            known[whose, limit] = state_rows.last_helpful(sql, user, whose, limit)
        return known[whose, limit]

    def turn(self, sql: sqlite3.Connection, user: int, name: str | None) -> decay_steps.RecallTurn | None:
        """The user's turn of that name, if it has begun. A recall asks twice: to look, and then to count."""
        if name is None:
            return None
        if self._turn is None or self._turn[:2] != (user, name):
            self._turn = (user, name, decay_steps.find_turn(sql, user, name))
        return self._turn[2]

    def recalled(self, user: int, now: KnownUser) -> None:
        """The user has recalled once more."""
        self._users[user] = now
        self._turn = None
        if user in self._versions:
            self._versions[user] += 1

    def put(self, user: int, changed: Mapping[str, StateChange], *, reading: bool) -> None:
        """The states are as these changes left them."""
        whose = -user if reading else user, self._elsewhere.get(user, 0)
        for stored_id, one in changed.items():
            self._rows[stored_id] = whose, StateRow(one.row, one.after, one.said)

    def drop(self, stored_ids: Sequence[str]) -> None:
        """These are no longer known."""
        for stored_id in stored_ids:
            self._rows.pop(stored_id, None)

    def drop_users(self) -> None:
        """Users are no longer known, nor what their verdicts have made of them."""
        self._users.clear()
        self._balances.clear()
        self._helpful.clear()
        self._turn = None

    def clear(self) -> None:
        self._rows.clear()
        self._versions.clear()
        self.policies.clear()
        self.logged_ids.clear()
        self.drop_users()
