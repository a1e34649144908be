"""What is true about reads? A row per record, a counter per user, a line per recall - whole or not at all."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence, Set
from itertools import islice

from adaptive_memory_core.flow.ports import (
    DEMOTED,
    Advance,
    Counted,
    Entry,
    Erased,
    Extent,
    Judge,
    Since,
    Standing,
)
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.learn.decay.strength import Timeline, met
from adaptive_memory_core.records import ReadState, Scope, Seen, Verdict
from adaptive_memory_core.reports import LoggedRecall
from adaptive_memory_core.store.ledger import audit, pace_spans, strong_records, turns
from adaptive_memory_core.store.ledger import recall_rows as log_table
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.inherited_state import LedgerMoves
from adaptive_memory_core.store.ledger.verdict_rows import balance_of, close, judge_once
from adaptive_memory_core.store.words import rows as word_rows

_ENROL = (
    "INSERT INTO records (collection_key, user_key, stored_id, kind, settled_step, fresh_step, settled_at, fresh_at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (collection_key, stored_id) DO UPDATE SET last_read = NULL, refreshed_at = NULL, streak = 0, "
    "retrieval_count = 0, credit = 0, warmth = 0, remembered = 0, strength = 1, boost = 0, pinned = 0, "
    "useful_at = NULL, useful_step = 0, helpful = 0, unhelpful = 0, "
    "kind = excluded.kind, settled_step = excluded.settled_step, fresh_step = excluded.fresh_step, "
    "settled_at = excluded.settled_at, fresh_at = excluded.fresh_at WHERE user_key = excluded.user_key"
)


class SQLiteLedger(LedgerMoves):
    """The ledger of one collection in a SQLite file; several collections and processes may share the file."""

    def enrol(self, scope: Scope, new: Mapping[str, str | None], *, now: float) -> list[bool]:
        """Start a fresh row for each new record, given with its kind; False where another user holds the id."""
        stored_ids = list(new)
        with self.file.writing() as sql:
            user = self._user_key(sql, scope)
            steps = sql.execute("SELECT steps FROM users WHERE user_key = ?", (user,)).fetchone()[0]
            begin = (steps, steps, now, now)
            sql.executemany(_ENROL, [(self.collection_key, user, *one, *begin) for one in new.items()])
            rows.unerase(sql, user, scope, stored_ids)
            self._cache.drop(stored_ids)
            taken = rows.held_by_others(sql, self.collection_key, user, stored_ids)
        return [stored_id not in taken for stored_id in stored_ids]

    def withdraw(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """Take back what `enrol` began, for records that could not be written."""
        with self.file.writing() as sql:
            rows.remove(sql, self.collection_key, self._known_user(sql, scope), stored_ids)
            self._cache.drop(stored_ids)

    def standing(self, scope: Scope, stored_ids: Sequence[str], turn: str | None = None) -> Standing:
        """The states of those records that the ledger has met, and the timeline that says what they are worth now (in a
        turn: what they were worth when it began)."""
        with self.file.reading() as sql:
            self._cache.notice(sql)
            user = self._known_user(sql, scope)
            known = self._cache.states(sql, self.collection_key, user, stored_ids)
            timeline, balance = self._timeline(sql, user, turn), balance_of(sql, user)
        new = self._new(stored_ids, known)
        return Standing({one: state for one, (_, state) in known.items()}, timeline, new, balance)

    def strong(
        self, scope: Scope, least: float, since: Since, *, extent: Extent, limit: int, turn: str | None
    ) -> list[str] | None:
        """All records of the scope with at least this strength, and maybe some more; None where that cannot be told:
        they are more than `limit`, or the collection holds some that the ledger has not met."""
        with self.file.reading() as sql:
            self._cache.notice(sql)
            user = self._known_user(sql, scope)
            bounds = since(self._timeline(sql, user, turn))
            if bounds is None or not strong_records.all_met(sql, (self.collection_key, user), extent):
                return None
            return strong_records.strong(sql, user, least, bounds, limit)

    def meet(self, scope: Scope, strangers: Mapping[str, Seen], *, now: float) -> None:
        """Give rows to records that somebody else wrote."""
        with self.file.writing() as sql:
            user = self._user_key(sql, scope)
            strong_records.meet(sql, (self.collection_key, user), strangers, pace_spans.timeline(sql, user), now=now)
            self._cache.drop(list(strangers))

    def record_recall(self, scope: Scope, entry: Entry, seen: Mapping[str, Seen], advance: Advance) -> Counted:
        """Count the recall, advance the state of every record it returned and log it, all in one transaction.

        `seen` holds the states to start from where the ledger has no row.
        """
        began = time.perf_counter()
        with self.file.writing(told=True) as sql:
            self._cache.notice(sql)
            user = self._user_key(sql, scope)
            known = self._cache.user(sql, user)
            turn = self._cache.turn(sql, user, entry.turn) or turns.begin(sql, user)
            timeline = self._paced(sql, user, entry, turn, known.timeline)
            forgotten = _among(known.forgotten, entry)
            present = {name: state for name, state in seen.items() if record_id(scope, name) not in forgotten}
            if entry.strangers or entry.extent is not None:
                new = {one: seen for one, seen in entry.strangers.items() if record_id(scope, one) not in forgotten}
                self._met(sql, user, new, timeline, entry)
            changed = self._advance(sql, user, present, advance, timeline, now=entry.at, skip=turn.counted)
            turns.note(sql, user, entry.turn, turn, (one.row for one in changed.values()), at=entry.at)
            audit.note_remembered(sql, user, changed, step=turn.step, by=f"recall {entry.id}", at=entry.at)
            if entry.logged:
                log_table.add(sql, user, turn.step, entry, forgotten, self._policies)
            now = Timeline(turn.step, timeline.spans) if turn.began else known.timeline
            self._cache.recalled(user, known._replace(timeline=now))
        self._update_ms.append(1000.0 * (time.perf_counter() - began))
        return Counted(turn.step, len(changed))

    def change(
        self, scope: Scope, stored_id: str, seen: Seen, change: Advance, *, what: str, by: str, now: float
    ) -> ReadState:
        """Change the state of one record by a rule, atomically, and write down who did what."""
        with self.file.writing() as sql:
            self._cache.notice(sql)
            user = self._user_key(sql, scope)
            timeline = pace_spans.timeline(sql, user)
            changed = self._advance(sql, user, {stored_id: seen}, change, timeline, now=now).get(stored_id)
            if changed is not None:
                audit.note(sql, user, stored_id, timeline.step, what, by, at=now)
                if what == DEMOTED:
                    close(sql, changed.row)
                return changed.after
            return rows.known_states(sql, self.collection_key, user, [stored_id]).get(stored_id, (0, seen.state))[1]

    def judge(
        self,
        scope: Scope,
        recall_id: str,
        verdicts: Mapping[str, tuple[Verdict, Seen]],
        judge: Judge,
        *,
        now: float,
    ) -> int:
        """Apply verdicts on what one recall returned, each once; gives how many changed something."""
        with self.file.writing() as sql:
            user = self._user_key(sql, scope)
            changed = 0
            self._cache.drop(list(verdicts))
            for stored_id, (verdict, seen) in verdicts.items():
                known = rows.known_states(sql, self.collection_key, user, [stored_id])
                key, state = known.get(stored_id, (None, seen.state))
                key = key or rows.insert_states(sql, self.collection_key, user, {stored_id: seen})[stored_id]
                if judge_once(sql, user, (key, recall_id), stored_id, state, verdict, judge, now=now):
                    changed += 1
                    step = pace_spans.timeline(sql, user).step
                    audit.note(sql, user, stored_id, step, verdict.value, f"recall {recall_id}", at=now)
        return changed

    def logged(self, scope: Scope, recall_id: str) -> LoggedRecall | None:
        """One recall of this scope from the log."""
        with self.file.reading() as sql:
            return log_table.one(sql, self._known_user(sql, scope), recall_id)

    def log(
        self,
        scope: Scope,
        *,
        since: float | None,
        until: float | None,
        limit: int,
        containing: str | None,
        turn: str | None = None,
    ) -> list[LoggedRecall]:
        """The recalls of this scope, newest first."""
        span = (float("-inf") if since is None else since, float("inf") if until is None else until)
        with self.file.reading() as sql:
            return list(islice(log_table.lines(sql, self._known_user(sql, scope), span, containing, turn), limit))

    def policy(self, policy_hash: str) -> str | None:
        """The policy of that hash as JSON."""
        with self.file.reading() as sql:
            row = sql.execute("SELECT policy FROM policies WHERE policy_hash = ?", (policy_hash,)).fetchone()
        return None if row is None else row[0]

    def erase(self, scope: Scope, record: str, stored_id: str, *, existed: bool, now: float) -> Erased:
        """Remove every trace of a record: its state, its verdicts, its lines in the log, its place in the outbox.

        Where there was none, and it did not exist in the collection either, nothing is written.
        """
        with self.file.writing() as sql:
            user = self._user_key(sql, scope) if existed else self._known_user(sql, scope)
            known = rows.known_states(sql, self.collection_key, user, [stored_id])
            verdicts = 0
            for record_key, _ in known.values():
                verdicts = sql.execute("DELETE FROM verdicts WHERE record_key = ?", (record_key,)).rowcount
                sql.execute("DELETE FROM outbox WHERE record_key = ?", (record_key,))
                sql.execute("DELETE FROM records WHERE record_key = ?", (record_key,))
            sql.execute("DELETE FROM changes WHERE user_key = ? AND stored_id = ?", (user, stored_id))
            if existed or known:
                word_rows.drop(sql, self.collection_key, [stored_id])
            self._cache.drop([stored_id])
            entries = log_table.strike_out(sql, user, record)
            if existed or known or entries:
                sql.execute("INSERT OR REPLACE INTO erased VALUES (?, ?, ?)", (user, rows.digest(record), now))
        return Erased(bool(known), entries, verdicts)

    def _timeline(self, sql: sqlite3.Connection, user: int, turn: str | None) -> Timeline:
        """The user's timeline, within a turn as it was when that began."""
        timeline = self._cache.user(sql, user).timeline
        known = self._cache.turn(sql, user, turn)
        return timeline if known is None or known.step < timeline.step else Timeline(timeline.step - 1, timeline.spans)

    def _paced(self, sql: sqlite3.Connection, user: int, entry: Entry, turn: turns.Turn, known: Timeline) -> Timeline:
        """The timeline up to the step before this recall's, with the paces it was made under."""
        if not turn.began:
            return Timeline(known.step - 1, known.under(entry.regime).spans)
        before = Timeline(turn.step - 1, known.spans)
        timeline = Timeline(before.step, pace_spans.note(sql, user, before, entry.at, entry.pace, entry.regime))
        if len(timeline.spans) > pace_spans.MOST:
            timeline = pace_spans.compact(sql, user, timeline, now=entry.at)
            self._cache.clear()
        return timeline

    def _met(
        self, sql: sqlite3.Connection, user: int, new: Mapping[str, Seen], timeline: Timeline, entry: Entry
    ) -> None:
        """The recall came upon records that the ledger had not met."""
        strong_records.meet(sql, (self.collection_key, user), new, timeline, now=entry.at)
        strong_records.note_all_met(sql, (self.collection_key, user), entry.extent)
        self._cache.drop(list(new))

    def _advance(
        self,
        sql: sqlite3.Connection,
        user: int,
        seen: Mapping[str, Seen],
        rule: Advance,
        timeline: Timeline,
        *,
        now: float,
        skip: Set[int] = frozenset(),
    ) -> dict[str, rows.Changed]:
        """Apply the rule to the states as they stand in this transaction; gives, and writes, only what changes."""
        known = self._cache.states(sql, self.collection_key, user, list(seen))
        changed: dict[str, rows.Changed] = {}
        for stored_id, start in seen.items():
            key, before = known.get(stored_id) or (0, met(timeline, start.state, now=now))
            after = before if key in skip else rule(Seen(before, start.kind), timeline=timeline)
            if after is not before and after != before:
                changed[stored_id] = rows.Changed(key, before, after)
        if changed:
            new = {one: seen[one]._replace(state=change.after) for one, change in changed.items() if not change.row}
            keys = rows.insert_states(sql, self.collection_key, user, new)
            changed = {one: change._replace(row=change.row or keys[one]) for one, change in changed.items()}
            rows.update_states(sql, [(one.row, one.after) for name, one in changed.items() if name not in keys])
            rows.announce(sql, keys.values())
            self._cache.put(user, {stored_id: (one.row, one.after) for stored_id, one in changed.items()})
        return changed


def _among(forgotten: Set[bytes], entry: Entry) -> set[str]:
    """The candidates that were forgotten while the recall was under way."""
    if not forgotten:
        return set()
    candidates = [*(one.id for one in entry.kept), *(one.id for one in entry.dropped)]
    return {one for one in candidates if rows.digest(one) in forgotten}
