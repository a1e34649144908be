"""Objects that the parts of a ledger share: the file, the collection, users' keys, and a cache of states and users."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple, cast

from adaptive_memory_core.flow.ports.ledger_values import MOST_HELPFUL, Learned, LedgerVersion
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import decay_steps, state_rows
from adaptive_memory_core.store.ledger.state_rows import (
    StateChange,
    StateRow,
    forgotten_name,
    in_batches,
    owner_name,
    rows_in,
)
from adaptive_memory_core.store.sqlite_file import LedgerFile

TIMED = 1_000  # recalls whose writing time is kept


class LedgerContext:
    """The collection's key and the users' keys in the file, the cache, and the version of the ledger."""

    def __init__(self, file: LedgerFile) -> None:
        self.file = file
        self.reading, self.apart, self.writing = file.reading, file.apart, file.writing
        self.cache = LedgerCache()
        self.collection_key = 0
        self.sees_one_user = False  # whether the rows of other users are hidden
        self.update_ms: deque[tuple[int, float]] = deque(maxlen=TIMED)  # user key and writing time per recall
        self.user_keys: dict[Scope, int] = {}
        self._named: set[Scope] = set()  # scopes that certainly have their name in the ledger
        self._changes, self._changing, self._undone = 0, False, 0
        file.on_failure, file.on_write, file.on_kept = self._failed, self.changing, self._kept

    def version(self, scope: Scope, known: LedgerVersion | None = None) -> LedgerVersion:
        """The ledger's present version, or `known` if this memory has not written since."""
        if known is not None and self.is_of_now(known):
            return known
        with self.file.reading() as sql:
            return self.look(sql, self.known_user(sql, scope))

    def look(self, sql: sqlite3.Connection, user: int) -> LedgerVersion:
        """The ledger's version within a reading or writing block. In a transaction, `of_rows` is None, because changes
        may still be rolled back."""
        found = self.file.look(sql, user)
        of_rows = None if sql.in_transaction else found.of_rows
        return LedgerVersion((self._changes, found.version), of_rows, found.of_user, self._undone)

    def notice(self, sql: sqlite3.Connection, user: int, version: LedgerVersion | None = None) -> None:
        """Bring the cache up to date for the user: to the given version, or to the file's."""
        if version is None:
            found = self.file.look(sql, user)
            self.cache.notice(user, found.version, found.of_user)
        else:
            self.cache.notice(user, version.change[1], version.of_user)

    def is_of_now(self, version: LedgerVersion) -> bool:
        """Whether this memory has not written since this version."""
        return version.change[0] == self._changes

    def changing(self) -> None:
        """Note that more than a recall's reads is being written, so that the commit changes the version."""
        self.file.news.wrote = True
        self.cache.drop_users()
        self._changes, self._changing = self._changes + 1, True

    def attach(self, uuid: str, name: str) -> None:
        """Use this ledger for the given collection; writes only if the collection is new to the ledger."""
        known = self._collection(uuid)
        if known is None and not self.file.read_only:
            with self.writing() as sql:
                sql.execute("INSERT INTO collections (uuid, name) VALUES (?, ?) ON CONFLICT DO NOTHING", (uuid, name))
            known = self._collection(uuid)
        self.collection_key = self.file.news.collection_key = known or 0

    def known_user(self, sql: sqlite3.Connection, scope: Scope) -> int:
        """The user's key, or 0 if the user is not in the ledger."""
        if scope not in self.user_keys:
            query = "SELECT user_key FROM users WHERE collection_key = ? AND name IN (?, ?)"
            row = sql.execute(query, (self.collection_key, owner_name(scope), forgotten_name(scope))).fetchone()
            if row is None:
                return 0
            self.user_keys[scope] = row[0]
        return self.user_keys[scope]

    def user_key(self, sql: sqlite3.Connection, scope: Scope) -> int:
        """The user's key, created if there is none yet. The name of a user who was forgotten is restored."""
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
        """Clear everything that is cached about users."""
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
        """Clear the cache after a rollback: values read within the transaction may not exist."""
        self._changes, self._undone = self._changes + 1, self._undone + 1
        self.cache.clear()
        self.user_keys.clear()
        self._named.clear()


Keys = dict[tuple[int, str], int]  # numbers of users' ids that were looked up so far


def logged_keys(sql: sqlite3.Connection, known: Keys, user: int, ids: Sequence[str]) -> list[int]:
    """The numbers of a user's ids, created if necessary, in the caller's writing transaction."""
    keys = list(map(known.get, zip(repeat(user), ids)))
    if None in keys:
        missing = list(dict.fromkeys([one for one, key in zip(ids, keys, strict=True) if key is None]))
        given = find_ids(sql, user, missing)  # first: PostgreSQL uses up a number for each row that it is asked to add
        if len(given) < len(missing):
            given.update(_add_ids(sql, user, [one for one in missing if one not in given]))
        known.update({(user, one): key for one, key in given.items()})
        keys = [known[user, one] for one in ids]
    return cast("list[int]", keys)


def _add_ids(sql: sqlite3.Connection, user: int, ids: Sequence[str]) -> dict[str, int]:
    """Add ids and return their numbers."""
    given: dict[str, int] = {}
    for chunk in in_batches(ids):
        rows = ", ".join(["(?, ?)"] * len(chunk))
        query = f"INSERT INTO logged_ids (user_key, id) VALUES {rows} ON CONFLICT DO NOTHING RETURNING id, id_key"  # noqa: S608
        given.update(sql.execute(query, [value for one in chunk for value in (user, one)]).fetchall())
    return given


def find_ids(sql: sqlite3.Connection, user: int, ids: Sequence[str]) -> dict[str, int]:
    """The numbers of those of a user's ids that have one."""
    query = "SELECT id, id_key FROM logged_ids WHERE user_key = ? AND id IN ({})"
    return dict(rows_in(sql, query, ids, (user,)))


KnownRow = StateRow | None
RowOwner = tuple[int, int]
_NOT_KNOWN: tuple[RowOwner | None, KnownRow] = (None, None)
MOST_STATES = 200_000  # cached states, and cached numbers of ids


QuestionsVersion = tuple[int, int, str | None]
_USER = (
    "SELECT steps, balance, questions_changed, questions_last, embedder FROM users JOIN collections "
    "USING (collection_key) WHERE user_key = ?"
)


class KnownUser(NamedTuple):
    """A user's timeline, how much usefulness has helped or misled, the version of the judged questions (their number of
    changes, last row and embedder), and digests of records that were forgotten recently."""

    timeline: Timeline
    balance: float
    questions: QuestionsVersion
    forgotten: frozenset[bytes]


class LedgerCache:
    """Rows of the ledger in RAM. It is only used under the ledger's lock and after `notice`, so it is never outdated.

    A recall updates the rows that it wrote. Any other write of this process drops the rows that it may have changed,
    and a failed transaction clears the cache. Writes of other processes clear it too, except recalls, which only change
    their user's version.
    """

    def __init__(self) -> None:
        # one entry per record, with the owner of the state (negative: a user over everyone's records) and the number of
        # times that other processes had counted recalls of this user
        self._rows: dict[str, tuple[RowOwner, KnownRow]] = {}
        self._versions: dict[int, int] = {}  # of users
        self._elsewhere: dict[int, int] = {}  # how often other processes may have counted recalls of a user
        self._users: dict[int, KnownUser] = {}
        self._helpful: dict[int, Sequence[tuple[str, int]]] = {}  # negative: of a user over everyone's records
        self._turn: tuple[int, str, decay_steps.RecallTurn | None] | None = None  # the last one that was looked up
        self._version = -1
        self.policies: set[str] = set()  # hashes in the table of policies
        self.logged_ids: Keys = {}

    def notice(self, user: int, version: int, of_user: int | None) -> None:
        """Clear the cache if another connection has written, or the user's part if another process has counted one of
        the user's recalls."""
        most = max(len(self._rows), len(self.logged_ids), len(self._helpful))
        if version != self._version or most > MOST_STATES:
            self.clear()
            self._version = version
        if of_user is not None and of_user != self._versions.get(user):
            self._versions[user] = of_user
            self._elsewhere[user] = self._elsewhere.get(user, 0) + 1
            self._users.pop(user, None)
            self._helpful.pop(user, None)
            self._helpful.pop(-user, None)
            self._turn = None

    def states(
        self, sql: sqlite3.Connection, collection_key: int, user: int, stored_ids: Iterable[str], *, reading: bool
    ) -> dict[str, StateRow]:
        """The user's rows of these records; with `reading`, also the user's rows of everyone's records."""
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
        """The user's row, timeline and recently forgotten records."""
        known = self._users.get(user)
        if known is None:
            step, balance, *questions = sql.execute(_USER, (user,)).fetchone() or (0, 0.0, 0, 0, None)
            timeline = Timeline(step, decay_steps.stored_spans(sql, user))
            forgotten = state_rows.forgotten_digests(sql, user)
            known = self._users[user] = KnownUser(timeline, balance, tuple(questions), forgotten)
        return known

    def learned(self, sql: sqlite3.Connection, user: int, *, reading: bool) -> Learned:
        """What the user's recalls and feedback have taught; with `reading`, also about everyone's records."""
        known, whose = self.user(sql, user), -user if reading else user
        if whose not in self._helpful:
            self._helpful[whose] = state_rows.last_helpful(sql, user, MOST_HELPFUL, reading=reading)
        return Learned(known.timeline.step, self._helpful[whose], known.questions[1] != 0)

    def turn(self, sql: sqlite3.Connection, user: int, name: str | None) -> decay_steps.RecallTurn | None:
        """The user's turn of this name, if it has begun. A recall needs it twice: to search, and to count."""
        if name is None:
            return None
        if self._turn is None or self._turn[:2] != (user, name):
            self._turn = (user, name, decay_steps.find_turn(sql, user, name))
        return self._turn[2]

    def recalled(self, user: int, known: KnownUser, timeline: Timeline) -> None:
        """Update the user after a counted recall."""
        self._users[user] = known._replace(timeline=timeline)
        self._turn = None
        if user in self._versions:
            self._versions[user] += 1

    def put(self, user: int, changed: Mapping[str, StateChange], *, reading: bool) -> None:
        """Store the states after these changes."""
        whose = -user if reading else user, self._elsewhere.get(user, 0)
        for stored_id, one in changed.items():
            self._rows[stored_id] = whose, StateRow(one.row, one.after, one.text_digest)

    def drop(self, stored_ids: Sequence[str]) -> None:
        """Remove these records from the cache."""
        for stored_id in stored_ids:
            self._rows.pop(stored_id, None)

    def drop_users(self) -> None:
        """Remove everything about users from the cache."""
        self._users.clear()
        self._helpful.clear()
        self._turn = None

    def clear(self) -> None:
        self._rows.clear()
        self._versions.clear()
        self.policies.clear()
        self.logged_ids.clear()
        self.drop_users()
