"""Read states in the ledger, one row per record: lookups, and changes by rules."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.ports.ledger_values import (
    DEMOTED,
    Advance,
    Extent,
    KnownStates,
    LedgerVersion,
    Rewritten,
    Since,
)
from adaptive_memory_core.learn.decay import Timeline, met
from adaptive_memory_core.records import ReadState, Scope, Seen
from adaptive_memory_core.store.ledger import decay_steps, removal, state_rows, verdict_rows
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.schema import LedgerConnection
from adaptive_memory_core.store.ledger.state_rows import StateChange, StateRow
from adaptive_memory_core.store.ledger.text_changes import LedgerInheritance, Owner, set_aside, start_again
from adaptive_memory_core.store.ledger.verdict_rows import close_verdicts


def write_changes(
    shared: LedgerContext,
    sql: LedgerConnection,
    user: int,
    seen: Mapping[str, Seen],
    changed: dict[str, StateChange],
    *,
    reading: bool,
) -> dict[str, StateChange]:
    """Store changed states, also of records without a row; return the changes with the keys of their rows."""
    new = {one: seen[one]._replace(state=change.after) for one, change in changed.items() if not change.row}
    if new:
        if any(one.state.useful_at is not None for one in new.values()):
            shared.changing()  # the cached list of helpful records is outdated
        keys = rows.insert_states(sql, shared.collection_key, user, new, took_over=shared.changing)
        rows.add_to_outbox(sql, list(keys.values()))
        changed = {one: change._replace(row=keys.get(one, change.row)) for one, change in changed.items()}
    rows.update_states(sql, {change.row: change.after for one, change in changed.items() if one not in new})
    shared.cache.put(user, changed, reading=reading)
    return changed


_FLAGS = {
    "remembered": "remembered = 1 AND (remembered = 1 OR pinned = 1)",
    "pinned": "pinned = 1 AND (remembered = 1 OR pinned = 1)",
}


class LedgerStates:
    """The state of each record from reads and verdicts."""

    def __init__(self, shared: LedgerContext, inheritance: LedgerInheritance) -> None:
        self._shared, self._cache, self._inheritance = shared, shared.cache, inheritance

    def version(self, scope: Scope) -> LedgerVersion:
        """The ledger's present version, and what the user's recalls and feedback have taught."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            version = self._shared.look(sql, user)
            self._shared.notice(sql, user, version)
            return version._replace(learned=self._cache.learned(sql, user, reading=scope.over is not None))

    def enrol(self, scope: Scope, new: Mapping[str, Seen], *, now: float) -> list[bool]:
        """Create a row for each new record; False if another user has the id. A removed record that returns with the
        same text keeps its state."""
        stored_ids, collection = list(new), self._shared.collection_key
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            steps = sql.execute("SELECT steps FROM users WHERE user_key = ?", (user,)).fetchone()[0]
            returned = rows.state_rows_by_id(sql, collection, user, stored_ids)
            others = {
                one: Rewritten(row.text_digest, new[one])
                for one, row in returned.items()
                if row.text_digest != new[one].text_digest
            }
            owner = Owner(collection, user)
            start_again(sql, owner, {one: others[one] for one in set_aside(sql, owner, others)}, by="remember", now=now)
            rows.add_to_outbox(sql, [row.key for one, row in returned.items() if one not in others])
            rows.insert_fresh(sql, collection, user, new, (steps, steps, now, now))
            if scope.user is None:
                removal.drop_readers(sql, collection, stored_ids)
            rows.clear_forgotten(sql, user, scope, stored_ids)
            self._cache.drop(stored_ids)
            taken = rows.held_by_others(sql, collection, user, stored_ids)
        return [stored_id not in taken for stored_id in stored_ids]

    def known(
        self,
        scope: Scope,
        stored_ids: Sequence[str],
        turn: str | None = None,
        version: LedgerVersion | None = None,
    ) -> KnownStates:
        """The states of these records that have a row, and the timeline for their present strengths (in a turn: as of
        its beginning), at least as of the version (None: as of now)."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            self._shared.notice(sql, user, version)
            reading = scope.over is not None
            found = self._cache.states(sql, self._shared.collection_key, user, stored_ids, reading=reading)
            timeline, balance = self._timeline(sql, user, turn), self._cache.user(sql, user).balance
        states, digests, new = dict[str, ReadState](), dict[str, bytes | None](), frozenset[str]()
        for one, row in found.items():
            states[one], digests[one] = row.state, row.text_digest
        if len(found) < len(stored_ids):
            new = self._inheritance.new(scope, stored_ids, found)
            digests |= self._inheritance.settled(scope, stored_ids, found)
        return KnownStates(states, timeline, new, balance, digests)

    def all(self, scope: Scope) -> KnownStates:
        """The states of all records of the scope that have a row."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            reading = scope.over is not None
            query = f"SELECT stored_id FROM records WHERE user_key = ? AND {rows.read_by(scope)}"  # noqa: S608
            ids = [row[0] for row in sql.execute(query, (user,))]
            found = rows.state_rows_by_id(sql, self._shared.collection_key, user, ids, reading=reading)
            return KnownStates({one: row.state for one, row in found.items()}, decay_steps.stored_timeline(sql, user))

    def strong(
        self, scope: Scope, least: float, since: Since, *, extent: Extent, limit: int, turn: str | None
    ) -> list[str] | None:
        """All records of the scope with at least this strength, and possibly some weaker ones. None if they are more
        than `limit`, or if the collection may contain records without a row, which is always possible over everyone's
        records."""
        if scope.over is not None:
            return None
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            self._shared.notice(sql, user)
            bounds = since(self._timeline(sql, user, turn))
            if bounds is None or not state_rows.all_known(sql, (self._shared.collection_key, user), extent):
                return None
            return state_rows.strong_ids(sql, user, least, bounds, limit)

    def meet(self, scope: Scope, strangers: Mapping[str, Seen], *, now: float) -> None:
        """Create rows for records that other programs wrote."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            owner, timeline = (self._shared.collection_key, user), decay_steps.stored_timeline(sql, user)
            state_rows.insert_unknown(sql, owner, strangers, timeline, now=now)
            self._cache.drop(list(strangers))

    def change(
        self, scope: Scope, stored_id: str, seen: Seen, change: Advance, *, what: str, by: str, now: float
    ) -> ReadState:
        """Change the state of one record by a rule, atomically, with an entry in the audit trail."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            self._shared.notice(sql, user)
            timeline, reading = decay_steps.stored_timeline(sql, user), scope.over is not None
            found = rows.state_rows_by_id(sql, self._shared.collection_key, user, [stored_id], reading=reading)
            row = found.get(stored_id)
            if row is not None and row.is_not_of(seen):
                raise LedgerError(f"Record {stored_id!r} was written over just now. Nothing was changed; call again.")
            row = row or StateRow(0, met(timeline, seen.state, now=now), seen.text_digest)
            after = change(Seen(row.state, seen.kind), timeline=timeline)
            if after == row.state:
                return row.state if row.key else seen.state
            changed = {stored_id: StateChange(row.key, row.state, after, row.text_digest)}
            changed = write_changes(self._shared, sql, user, {stored_id: seen}, changed, reading=reading)
            verdict_rows.add_change(sql, user, stored_id, timeline.step, what, by, at=now)
            if what == DEMOTED:
                close_verdicts(sql, changed[stored_id].row)
            return after

    def flagged(self, scope: Scope, flag: str) -> list[str]:
        """The records of the scope that are "remembered" or "pinned"."""
        shown = f"{_FLAGS[flag]} AND {rows.read_by(scope)}"
        query = f"SELECT stored_id FROM records WHERE user_key = ? AND {shown}"  # noqa: S608
        with self._shared.reading() as sql:
            return [row[0] for row in sql.execute(query, (self._shared.known_user(sql, scope),))]

    def _timeline(self, sql: sqlite3.Connection, user: int, turn: str | None) -> Timeline:
        """The user's timeline; within a turn, as of its beginning."""
        timeline = self._cache.user(sql, user).timeline
        known = None if turn is None else self._cache.turn(sql, user, turn)
        return timeline if known is None or known.step < timeline.step else Timeline(timeline.step - 1, timeline.spans)
