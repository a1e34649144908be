"""How are read states looked up and changed? One row a record."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.ports.ledger_values import DEMOTED, Advance, Extent, KnownStates, Rewritten, Since
from adaptive_memory_core.learn.decay.strength import Timeline
from adaptive_memory_core.records import ReadState, Scope, Seen
from adaptive_memory_core.store.ledger import audit, pace_spans, readers, strong_records
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.apply_rules import advance
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.inherited_state import LedgerInheritance
from adaptive_memory_core.store.ledger.parted_rows import Owner, begin_anew, set_aside
from adaptive_memory_core.store.ledger.verdict_rows import close

_FLAGS = {
    "remembered": "remembered = 1 AND (remembered = 1 OR pinned = 1)",
    "pinned": "pinned = 1 AND (remembered = 1 OR pinned = 1)",
}


class LedgerStates:
    """The states of the collection's records."""

    def __init__(self, shared: LedgerContext, inheritance: LedgerInheritance) -> None:
        self._shared, self._cache, self._inheritance = shared, shared.cache, inheritance

    def enrol(self, scope: Scope, new: Mapping[str, Seen], *, now: float) -> list[bool]:
        """Start a fresh row for each new record; False where another user holds the id. A record that was gone and says
        what it said goes on as it was."""
        stored_ids, collection = list(new), self._shared.collection_key
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            steps = sql.execute("SELECT steps FROM users WHERE user_key = ?", (user,)).fetchone()[0]
            returned = rows.known_states(sql, collection, user, stored_ids)
            others = {one: Rewritten(row.said, new[one]) for one, row in returned.items() if row.said != new[one].said}
            owner = Owner(collection, user)
            begin_anew(sql, owner, {one: others[one] for one in set_aside(sql, owner, others)}, by="remember", now=now)
            rows.announce(sql, (row.key for one, row in returned.items() if one not in others))
            rows.enrol(sql, collection, user, new, (steps, steps, now, now))
            if scope.user is None:
                readers.drop(sql, collection, stored_ids)
            rows.unerase(sql, user, scope, stored_ids)
            self._cache.drop(stored_ids)
            taken = rows.held_by_others(sql, collection, user, stored_ids)
        return [stored_id not in taken for stored_id in stored_ids]

    def withdraw(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """Take back what `enrol` began, for records that could not be written."""
        with self._shared.writing() as sql:
            user = self._shared.known_user(sql, scope)
            known = rows.known_states(sql, self._shared.collection_key, user, stored_ids)
            rows.remove(sql, [row.key for row in known.values()])
            self._cache.drop(stored_ids)

    def known(self, scope: Scope, stored_ids: Sequence[str], turn: str | None = None) -> KnownStates:
        """The states of those records that the ledger has met, and the timeline that says what they are worth now (in a
        turn: what they were worth when it began)."""
        with self._shared.reading() as sql:
            user = self._shared.looking(sql, scope)
            reading = scope.over is not None
            found = self._cache.states(sql, self._shared.collection_key, user, stored_ids, reading=reading)
            timeline, (balance, learned) = self._timeline(sql, user, turn), self._cache.standing(sql, user)
        new = self._inheritance.new(scope, stored_ids, found)
        states, said = {one: row.state for one, row in found.items()}, {one: row.said for one, row in found.items()}
        if len(found) < len(stored_ids):
            said |= self._inheritance.settled(scope, stored_ids, found)
        return KnownStates(states, timeline, new, balance, learned, said)

    def all(self, scope: Scope) -> KnownStates:
        """The states of all records of the scope that the ledger has met."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            reading = scope.over is not None
            query = f"SELECT stored_id FROM records WHERE user_key = ? AND {readers.read_by(scope)}"  # noqa: S608
            ids = [row[0] for row in sql.execute(query, (user,))]
            found = rows.known_states(sql, self._shared.collection_key, user, ids, reading=reading)
            return KnownStates({one: row.state for one, row in found.items()}, pace_spans.timeline(sql, user))

    def strong(
        self, scope: Scope, least: float, since: Since, *, extent: Extent, limit: int, turn: str | None
    ) -> list[str] | None:
        """All records of the scope with at least this strength, and maybe some more; None where that cannot be told:
        they are more than `limit`, or the collection holds some that the ledger has not met, as it may hold of
        everyone's that this reader has not."""
        if scope.over is not None:
            return None
        with self._shared.reading() as sql:
            user = self._shared.looking(sql, scope)
            bounds = since(self._timeline(sql, user, turn))
            if bounds is None or not strong_records.all_met(sql, (self._shared.collection_key, user), extent):
                return None
            return strong_records.strong(sql, user, least, bounds, limit)

    def meet(self, scope: Scope, strangers: Mapping[str, Seen], *, now: float) -> None:
        """Give rows to records that somebody else wrote."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            owner, timeline = (self._shared.collection_key, user), pace_spans.timeline(sql, user)
            strong_records.meet(sql, owner, strangers, timeline, now=now)
            self._cache.drop(list(strangers))

    def change(
        self, scope: Scope, stored_id: str, seen: Seen, change: Advance, *, what: str, by: str, now: float
    ) -> ReadState:
        """Change the state of one record by a rule, atomically, and write down who did what."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            self._shared.noticing(sql, user)
            timeline = pace_spans.timeline(sql, user)
            given = {stored_id: seen}
            reading = scope.over is not None
            row = rows.known_states(sql, self._shared.collection_key, user, [stored_id], reading=reading).get(stored_id)
            if row is not None and row.is_not_of(seen):
                raise LedgerError(f"Record {stored_id!r} was written over just now. Nothing was changed; call again.")
            changed = advance(self._shared, sql, user, given, change, timeline, now=now, reading=reading).get(stored_id)
            if changed is not None:
                audit.note(sql, user, stored_id, timeline.step, what, by, at=now)
                if what == DEMOTED:
                    close(sql, changed.row)
                return changed.after
            known = rows.known_states(sql, self._shared.collection_key, user, [stored_id], reading=reading)
            return known[stored_id].state if stored_id in known else seen.state

    def recently_helpful(self, scope: Scope, *, recalls: int, limit: int) -> list[str]:
        """The records that were of use within the user's last recalls, the latest first."""
        with self._shared.reading() as sql:
            user = self._shared.looking(sql, scope)
            since = self._cache.user(sql, user).timeline.step - recalls
            found = self._cache.helpful(sql, user, readers.read_by(scope), limit)
            return [stored_id for stored_id, step in found if step > since]

    def flagged(self, scope: Scope, flag: str) -> list[str]:
        """The records of the scope that are "remembered" or "pinned"."""
        shown = f"{_FLAGS[flag]} AND {readers.read_by(scope)}"
        query = f"SELECT stored_id FROM records INDEXED BY records_kept WHERE user_key = ? AND {shown}"  # noqa: S608
        with self._shared.reading() as sql:
            return [row[0] for row in sql.execute(query, (self._shared.known_user(sql, scope),))]

    def _timeline(self, sql: sqlite3.Connection, user: int, turn: str | None) -> Timeline:
        """The user's timeline, within a turn as it was when that began."""
        timeline = self._cache.user(sql, user).timeline
        known = self._cache.turn(sql, user, turn)
        return timeline if known is None or known.step < timeline.step else Timeline(timeline.step - 1, timeline.spans)
