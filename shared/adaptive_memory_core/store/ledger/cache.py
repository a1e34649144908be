"""Which rows of the ledger need not be read again? States and users seen since another connection last wrote."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adaptive_memory_core.learn.decay.strength import Timeline
from adaptive_memory_core.learn.lead_weights import LeadWeights
from adaptive_memory_core.store.ledger import pace_spans, state_rows, turns, verdict_rows
from adaptive_memory_core.store.ledger.logged_ids import Keys
from adaptive_memory_core.store.ledger.state_rows import StateRow

Known = StateRow | None
Whose = tuple[int, int]
MOST_STATES = 200_000  # states kept, and numbers of ids


class User(NamedTuple):
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
        self._rows: dict[str, tuple[Whose, Known]] = {}
        self._versions: dict[int, int] = {}  # of users
        self._elsewhere: dict[int, int] = {}  # how often others have counted recalls of a user, or may have
        self._users: dict[int, User] = {}
        self._standings: dict[int, tuple[float, LeadWeights]] = {}
        self._helpful: dict[int, dict[tuple[str, int], Sequence[tuple[str, int]]]] = {}
        self._turn: tuple[int, str, turns.Turn | None] | None = None  # the last one asked for
        self._version = -1
        self.policies: set[str] = set()  # hashes that stand in the table
        self.logged_ids: Keys = {}

    def notice(self, version: int) -> None:
        """Forget everything where another connection has written since, which its `version` tells."""
        if version != self._version or max(len(self._rows), len(self.logged_ids), len(self._helpful)) > MOST_STATES:
            self.clear()
            self._version = version

    def notice_user(self, user: int, version: int | None) -> None:
        """Forget what is known of a user where others have counted a recall of theirs since."""
        if version is not None and version != self._versions.get(user):
            self._versions[user] = version
            self._elsewhere[user] = self._elsewhere.get(user, 0) + 1
            for known in (self._users, self._standings, self._helpful):
                known.pop(user, None)
            self._turn = None

    def states(
        self, sql: sqlite3.Connection, collection_key: int, user: int, stored_ids: Sequence[str], *, reading: bool
    ) -> dict[str, StateRow]:
        """The rows of those records that have one of this user; with `reading`, also where they are everyone's."""
        rows, whose = self._rows, self._whose(user, reading=reading)
        missing = [one for one in stored_ids if one not in rows or rows[one][0] != whose]
        if missing:
            found = state_rows.known_states(sql, collection_key, user, missing, reading=reading)
            rows.update({one: (whose, found.get(one)) for one in missing})
        return {one: row for one in stored_ids if (row := rows[one][1]) is not None}

    def user(self, sql: sqlite3.Connection, user: int) -> User:
        """What there is to know of a user."""
        known = self._users.get(user)
        if known is None:
            known = User(pace_spans.timeline(sql, user), state_rows.erased(sql, user))
            self._users[user] = known
        return known

    def standing(self, sql: sqlite3.Connection, user: int) -> tuple[float, LeadWeights]:
        """What the user's verdicts have made of the balance and of what leads count."""
        known = self._standings.get(user)
        if known is None:
            known = self._standings[user] = verdict_rows.standing_of(sql, user)
        return known

    def helpful(self, sql: sqlite3.Connection, user: int, whose: str, limit: int) -> Sequence[tuple[str, int]]:
        """The records that were last of use, the latest first, each with the step of that."""
        known = self._helpful.setdefault(user, {})
        if (whose, limit) not in known:
            known[whose, limit] = state_rows.last_helpful(sql, user, whose, limit)
        return known[whose, limit]

    def turn(self, sql: sqlite3.Connection, user: int, name: str | None) -> turns.Turn | None:
        """The user's turn of that name, if it has begun. A recall asks twice: to look, and then to count."""
        if name is None:
            return None
        if self._turn is None or self._turn[:2] != (user, name):
            self._turn = (user, name, turns.find(sql, user, name))
        return self._turn[2]

    def recalled(self, user: int, now: User) -> None:
        """The user has recalled once more."""
        self._users[user] = now
        self._turn = None
        if user in self._versions:
            self._versions[user] += 1

    def put(self, user: int, states: Mapping[str, StateRow], *, reading: bool) -> None:
        """These are the states now."""
        whose = self._whose(user, reading=reading)
        self._rows.update({stored_id: (whose, row) for stored_id, row in states.items()})

    def drop(self, stored_ids: Sequence[str]) -> None:
        """These are no longer known."""
        for stored_id in stored_ids:
            self._rows.pop(stored_id, None)

    def _whose(self, user: int, *, reading: bool) -> Whose:
        return -user if reading else user, self._elsewhere.get(user, 0)

    def drop_users(self) -> None:
        """Users are no longer known, nor what their verdicts have made of them."""
        self._users.clear()
        self._standings.clear()
        self._helpful.clear()
        self._turn = None

    def clear(self) -> None:
        self._rows.clear()
        self._versions.clear()
        self.policies.clear()
        self.logged_ids.clear()
        self.drop_users()
