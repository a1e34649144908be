"""Counting of a recall in one transaction: the user's step, the states of the returned records, and the log line."""

from __future__ import annotations

import time
from collections.abc import Mapping, Set
from dataclasses import replace

from adaptive_memory_core.flow.ports.ledger_values import AfterReads, Counted, RecallEntry
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.learn.decay import Timeline, met
from adaptive_memory_core.records import Scope, Seen
from adaptive_memory_core.store.ledger import decay_steps, state_rows
from adaptive_memory_core.store.ledger.decay_steps import RecallTurn
from adaptive_memory_core.store.ledger.ledger_context import KnownUser, LedgerContext, logged_keys
from adaptive_memory_core.store.ledger.read_states import write_changes
from adaptive_memory_core.store.ledger.recall_encoding import FORGOTTEN, EncodedRecall, encode, with_keys
from adaptive_memory_core.store.ledger.schema import LedgerConnection
from adaptive_memory_core.store.ledger.state_rows import StateChange, StateRow, id_digest
from adaptive_memory_core.store.ledger.verdict_rows import add_change

_ADD_LINE = (
    "INSERT INTO recalls (user_key, recall_id, step, at, cue, k, policy_hash, candidates, turn, over) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_COUNT = "UPDATE users SET steps = steps + ?, counted = counted + 1 WHERE user_key = ?"


class LedgerRecalls:
    """Recalls that count as reads."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared, self._cache = shared, shared.cache

    def count(self, scope: Scope, entry: RecallEntry, seen: Mapping[str, Seen], rule: AfterReads) -> Counted:
        """Count the recall, advance the state of every returned record and log the recall, all in one transaction.

        `seen` contains the initial states of records without a row. Records that were forgotten, or overwritten with
        another text, during the recall are neither counted nor logged.
        """
        began, reading = time.perf_counter(), scope.over is not None
        line = line_of(entry) if entry.logged else None
        with self._shared.writing(announced=True, recall_of=self._shared.user_keys.get(scope, 0)) as sql:
            user = self._shared.user_key(sql, scope)
            self._shared.notice(sql, user)
            known = self._cache.user(sql, user)
            turn = None if entry.turn is None else self._cache.turn(sql, user, entry.turn)
            rows = self._cache.states(sql, self._shared.collection_key, user, seen, reading=reading)
            gone = self._gone(sql, scope, known, entry, seen, rows)
            packed = self._packed(sql, user, entry, line, gone)  # reads, so it comes before writes without an answer
            turn = turn or RecallTurn(known.timeline.step + 1)
            sql.later(_COUNT, (int(turn.began), user))
            timeline = self._timeline_before(sql, user, entry, turn, known.timeline)
            if entry.strangers or entry.extent is not None:
                rows = self._meet(sql, scope, user, seen, gone, timeline, entry)
            if gone:
                seen = {one: state for one, state in seen.items() if record_id(scope, one) not in gone}
            changed = _read(seen, rows, turn.counted, rule, timeline, now=entry.at)
            if changed:
                changed = write_changes(self._shared, sql, user, seen, changed, reading=reading)
                _note_remembered(sql, user, changed, turn, entry)
            if entry.turn is not None:
                decay_steps.note_turn(sql, user, entry.turn, turn, [one.row for one in changed.values()], at=entry.at)
            if packed is not None:
                add_line(sql, (user, scope.over), turn.step, entry, packed)
            now = Timeline(turn.step, timeline.spans) if turn.began else known.timeline
            self._cache.recalled(user, known, now)
            self._shared.file.news.counted[user] += 1
        self._shared.update_ms.append((user, 1000.0 * (time.perf_counter() - began)))
        return Counted(turn.step, len(changed))

    def _gone(
        self,
        sql: LedgerConnection,
        scope: Scope,
        known: KnownUser,
        entry: RecallEntry,
        seen: Mapping[str, Seen],
        rows: Mapping[str, StateRow],
    ) -> set[str]:
        """The candidates that were forgotten, or overwritten with another text, during the recall. The user's own
        records and everyone's are compared separately, because they may have the same id."""
        gone = _among(known.forgotten, entry, shared=False) if known.forgotten else set()
        if scope.over is not None:
            everyone = self._cache.user(sql, self._shared.known_user(sql, Scope(None)))
            gone |= _among(everyone.forgotten, entry, shared=True)
        for stored_id, row in rows.items():
            digest = seen[stored_id].text_digest
            if row.text_digest != digest and row.text_digest is not None and digest is not None:
                gone.add(record_id(scope, stored_id))
        return gone

    def _packed(
        self, sql: LedgerConnection, user: int, entry: RecallEntry, line: EncodedRecall | None, gone: Set[str]
    ) -> bytes | None:
        """The line for the log without the removed candidates; None if the recall is not logged."""
        if line is None:
            return None
        if entry.policy_hash not in self._cache.policies:
            insert_policy(sql, entry, self._cache.policies)
        line = line_of(entry, gone) if gone else line
        return with_keys(line.packed, logged_keys(sql, self._cache.logged_ids, user, line.ids))

    def _timeline_before(
        self, sql: LedgerConnection, user: int, entry: RecallEntry, turn: RecallTurn, known: Timeline
    ) -> Timeline:
        """The timeline up to the step before this recall, with its decay paces."""
        before = known.under(entry.regime)
        if not turn.began:
            return Timeline(known.step - 1, before.spans)
        if before is known and known.spans[-1].pace == entry.pace:  # nearly always
            return known
        timeline = Timeline(known.step, decay_steps.note_pace(sql, user, known, before, entry.at, entry.pace))
        if len(timeline.spans) > decay_steps.MOST_SPANS:
            timeline = decay_steps.compact_spans(sql, user, timeline, now=entry.at)
            self._cache.clear()
        return timeline

    def _meet(
        self,
        sql: LedgerConnection,
        scope: Scope,
        user: int,
        seen: Mapping[str, Seen],
        gone: Set[str],
        timeline: Timeline,
        entry: RecallEntry,
    ) -> dict[str, StateRow]:
        """The rows of the seen records, after rows were created for those that are new to the ledger."""
        collection = self._shared.collection_key
        new = {one: stranger for one, stranger in entry.strangers.items() if record_id(scope, one) not in gone}
        if new:
            self._shared.changing()
        state_rows.insert_unknown(sql, (collection, user), new, timeline, now=entry.at)
        state_rows.note_all_known(sql, (collection, user), entry.extent)
        self._cache.drop(list(new))
        return self._cache.states(sql, collection, user, seen, reading=scope.over is not None)


def _read(
    seen: Mapping[str, Seen],
    rows: Mapping[str, StateRow],
    skip: Set[int],
    rule: AfterReads,
    timeline: Timeline,
    *,
    now: float,
) -> dict[str, StateChange]:
    """The state changes from reading these records, except for the rows to `skip`."""
    starts: dict[str, Seen] = {}
    for stored_id, one in seen.items():
        row = rows.get(stored_id)
        starts[stored_id] = one._replace(state=met(timeline, one.state, now=now) if row is None else row.state)
    changed: dict[str, StateChange] = {}
    for (stored_id, one), after in zip(starts.items(), rule(list(starts.values()), timeline), strict=True):
        row = rows.get(stored_id)
        if after is not one.state and (row is None or row.key not in skip):
            changed[stored_id] = StateChange(
                0 if row is None else row.key, one.state, after, one.text_digest if row is None else row.text_digest
            )
    return changed


def _note_remembered(
    sql: LedgerConnection, user: int, changed: Mapping[str, StateChange], turn: RecallTurn, entry: RecallEntry
) -> None:
    """Note in the audit trail which records became remembered by this recall."""
    for stored_id, one in changed.items():
        if one.after.remembered and not one.before.remembered:
            add_change(sql, user, stored_id, turn.step, "remembered", f"recall {entry.id}", at=entry.at)


def _among(forgotten: Set[bytes], entry: RecallEntry, *, shared: bool) -> set[str]:
    """The ids of the candidates that have one of these digests."""
    if not forgotten:
        return set()
    kept = [one.id for one in entry.kept if (one.shared is not None) == shared]
    dropped = [one.id for one in entry.dropped if one.scored is None or (one.scored.shared is not None) == shared]
    return {one for one in (*kept, *dropped) if id_digest(one) in forgotten}


def line_of(entry: RecallEntry, forgotten: Set[str] = frozenset()) -> EncodedRecall:
    """The line of a recall, without records that were forgotten during the recall."""
    if not forgotten:
        return encode(entry.kept, entry.dropped, entry.basis, at=entry.at)
    named = {f"superseded by {one}" for one in forgotten}
    dropped = [replace(one, reason=FORGOTTEN) if one.reason in named else one for one in entry.dropped]
    kept = [one for one in entry.kept if one.hit.record.id not in forgotten]
    return encode(kept, [one for one in dropped if one.id not in forgotten], entry.basis, at=entry.at)


def add_line(
    sql: LedgerConnection, whose: tuple[int, str | None], step: int, entry: RecallEntry, packed: bytes
) -> None:
    """Write the line of a recall."""
    user, over = whose
    values = (user, entry.id, step, entry.at, entry.cue, entry.k, entry.policy_hash, packed, entry.turn, over)
    sql.later(_ADD_LINE, values)


def insert_policy(sql: LedgerConnection, entry: RecallEntry, known: set[str]) -> None:
    """Store a policy under its hash, once, even if another collection adds it at the same time. It only counts as known
    once it is seen in the table, because the insertion may be rolled back."""
    if sql.execute("SELECT 1 FROM policies WHERE policy_hash = ?", (entry.policy_hash,)).fetchone():
        known.add(entry.policy_hash)
    else:
        sql.later("INSERT INTO policies VALUES (?, ?) ON CONFLICT DO NOTHING", (entry.policy_hash, entry.policy_json))
