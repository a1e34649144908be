"""A recall counted in one transaction: the user's step, the states of what it returned, and its line in the log."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Set

from adaptive_memory_core.flow.ports.ledger_values import Advance, Counted, RecallEntry
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.records import Scope, Seen
from adaptive_memory_core.store.ledger import decay_steps, recall_log, state_rows, verdict_rows
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.read_states import advance
from adaptive_memory_core.store.ledger.recall_encoding import EncodedRecall
from adaptive_memory_core.store.ledger.recall_log import LedgerLog, line_of
from adaptive_memory_core.store.ledger.state_rows import id_digest


class LedgerRecalls:
    """Recalls that count as readings."""

    def __init__(self, shared: LedgerContext, log: LedgerLog) -> None:
        self._shared, self._cache, self._log = shared, shared.cache, log

    def count(self, scope: Scope, entry: RecallEntry, seen: Mapping[str, Seen], rule: Advance) -> Counted:
        """Count the recall, advance the state of every record it returned and log it, all in one transaction.

        `seen` holds the states to start from where the ledger has no row.
        """
        began = time.perf_counter()
        line = line_of(entry) if entry.logged else None
        with self._shared.counting(scope) as sql:
            user = self._shared.user_key(sql, scope)
            self._shared.notice(sql, user)
            known = self._cache.user(sql, user)
            turn = self._cache.turn(sql, user, entry.turn)
            forgotten = _among(known.forgotten, entry, shared=False)
            forgotten |= _among(self._forgotten_by_all(sql, scope), entry, shared=True)
            forgotten |= self._rewritten(sql, scope, user, seen)
            packed = self._packed(sql, user, entry, line, forgotten)  # asks, and so comes before what needs no answer
            turn = turn or decay_steps.begin_turn(sql, user, known.timeline.step)
            timeline = self._paced(sql, user, entry, turn, known.timeline)
            self._met(sql, scope, user, forgotten, timeline, entry)
            present = {name: state for name, state in seen.items() if record_id(scope, name) not in forgotten}
            reading = scope.over is not None
            changed = advance(
                self._shared, sql, user, present, rule, timeline, now=entry.at, skip=turn.counted, reading=reading
            )
            decay_steps.note_turn(sql, user, entry.turn, turn, (one.row for one in changed.values()), at=entry.at)
            verdict_rows.add_remembered(sql, user, changed, step=turn.step, by=f"recall {entry.id}", at=entry.at)
            if packed is not None:
                recall_log.add_line(sql, (user, scope.over), turn.step, entry, packed)
            now = Timeline(turn.step, timeline.spans) if turn.began else known.timeline
            self._cache.recalled(user, known._replace(timeline=now))
            self._shared.file.news.counted[user] += 1
        self._shared.update_ms.append((user, 1000.0 * (time.perf_counter() - began)))
        return Counted(turn.step, len(changed))

    def _packed(
        self, sql: sqlite3.Connection, user: int, entry: RecallEntry, line: EncodedRecall | None, forgotten: set[str]
    ) -> bytes | None:
        """The line of the log, if there is to be one, less what was forgotten meanwhile."""
        if line is None:
            return None
        return self._log.prepare(sql, user, entry, line_of(entry, forgotten) if forgotten else line)

    def _rewritten(self, sql: sqlite3.Connection, scope: Scope, user: int, seen: Mapping[str, Seen]) -> set[str]:
        """What was written over with other words while the recall was under way: it is read no more than what was
        forgotten is."""
        reading, key = scope.over is not None, self._shared.collection_key
        rows = self._cache.states(sql, key, user, list(seen), reading=reading)
        return {record_id(scope, one) for one, row in rows.items() if row.is_not_of(seen[one])}

    def _paced(
        self, sql: sqlite3.Connection, user: int, entry: RecallEntry, turn: decay_steps.RecallTurn, known: Timeline
    ) -> Timeline:
        """The timeline up to the step before this recall's, with the paces it was made under."""
        if not turn.began:
            return Timeline(known.step - 1, known.under(entry.regime).spans)
        before = Timeline(turn.step - 1, known.spans)
        timeline = Timeline(before.step, decay_steps.note_pace(sql, user, before, entry.at, entry.pace, entry.regime))
        if len(timeline.spans) > decay_steps.MOST_SPANS:
            timeline = decay_steps.compact_spans(sql, user, timeline, now=entry.at)
            self._cache.clear()
        return timeline

    def _forgotten_by_all(self, sql: sqlite3.Connection, scope: Scope) -> Set[bytes]:
        """What was forgotten of everyone's records, where the scope reads those."""
        if scope.over is None:
            return frozenset()
        return self._cache.user(sql, self._shared.known_user(sql, Scope(None))).forgotten

    def _met(
        self,
        sql: sqlite3.Connection,
        scope: Scope,
        user: int,
        forgotten: Set[str],
        timeline: Timeline,
        entry: RecallEntry,
    ) -> None:
        """The recall may have found records that are new to the ledger."""
        if entry.strangers or entry.extent is not None:
            owner = (self._shared.collection_key, user)
            new = {one: seen for one, seen in entry.strangers.items() if record_id(scope, one) not in forgotten}
            if new:
                self._shared.changing()
            state_rows.insert_unknown(sql, owner, new, timeline, now=entry.at)
            state_rows.note_all_known(sql, owner, entry.extent)
            self._cache.drop(list(new))


def _among(forgotten: Set[bytes], entry: RecallEntry, *, shared: bool) -> set[str]:
    """The candidates that were forgotten while the recall was under way: of the reader's own, or of everyone's. An own
    record and one of everyone's may have the same id."""
    if not forgotten:
        return set()
    kept = [one.id for one in entry.kept if (one.shared is not None) == shared]
    dropped = [one.id for one in entry.dropped if one.scored is None or (one.scored.shared is not None) == shared]
    return {one for one in (*kept, *dropped) if id_digest(one) in forgotten}
