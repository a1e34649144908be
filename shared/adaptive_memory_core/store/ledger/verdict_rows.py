"""Verdicts in the ledger, which count once and are reversible, and the audit trail of changes to records' states."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.identity import record_id
from adaptive_memory_core.learn.verdicts import EarlierVerdict, Occasion
from adaptive_memory_core.records import ReadState, Scope, Seen, Verdict
from adaptive_memory_core.reports import Change
from adaptive_memory_core.store.ledger import decay_steps, judged_question_rows
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.schema import LedgerConnection, LedgerPart
from adaptive_memory_core.store.ledger.state_rows import StateRow, update_states

if TYPE_CHECKING:
    from adaptive_memory_core.learn.verdicts import Judging

_ADD_CHANGE = "INSERT INTO changes (user_key, stored_id, at, step, what, by) VALUES (?, ?, ?, ?, ?, ?)"


class LedgerAudit(LedgerPart):
    """The audit trail of changes to records' states."""

    def changes(self, scope: Scope, stored_ids: Sequence[str], *, limit: int) -> list[Change]:
        """The audit trail of the scope, newest first, or that of these records."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            return list(islice(_changes(sql, scope, user, tuple(stored_ids)), limit))


def add_change(sql: LedgerConnection, user: int, stored_id: str, step: int, what: str, by: str, *, at: float) -> None:
    """Add a change to the audit trail."""
    sql.later(_ADD_CHANGE, (user, stored_id, at, step, what, by))


def _changes(sql: sqlite3.Connection, scope: Scope, user: int, stored_ids: tuple[str, ...]) -> Iterator[Change]:
    """The changes of a user's records, newest first; only of these records if ids are given."""
    among = f"AND stored_id IN ({', '.join('?' * len(stored_ids))}) " if stored_ids else ""
    query = (
        "SELECT stored_id, at, step, what, by FROM changes WHERE user_key = ? "  # noqa: S608 - our own words
        f"{among}ORDER BY change_key DESC"
    )
    for stored_id, at, step, what, by in sql.execute(query, (user, *stored_ids)):
        yield Change(record_id(scope, stored_id), at, step, what, by)


_EARLIER = (
    "SELECT verdict, boost_before, boost_after, read_at, sway, useful_before, step_before FROM verdicts "
    "WHERE record_key = ? AND recall_id = ?"
)
_OTHERS = (
    "SELECT read_at, read_step FROM verdicts WHERE record_key = ? AND recall_id != ? AND verdict = 'helpful' "
    "AND read_at IS NOT NULL ORDER BY at DESC LIMIT ?"
)
_KEEP_VERDICT = (
    "INSERT INTO verdicts (record_key, recall_id, verdict, at, boost_before, boost_after, read_at, "
    "read_step, useful_before, step_before, sway) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (record_key, recall_id) DO UPDATE SET verdict = excluded.verdict, at = excluded.at, "
    "boost_before = excluded.boost_before, boost_after = excluded.boost_after, read_at = excluded.read_at, "
    "read_step = excluded.read_step, useful_before = excluded.useful_before, step_before = excluded.step_before, "
    "sway = excluded.sway"
)


def judge_once(
    sql: LedgerConnection,
    user: int,
    key: tuple[int, str],
    stored_id: str,
    state: ReadState,
    verdict: Verdict,
    judge: Judging,
    *,
    now: float,
) -> bool:
    """Apply a verdict on one record of one recall; return False if the same verdict was given before."""
    earlier = _earlier(sql, key, state)
    if earlier is not None and earlier.verdict is verdict:
        return False
    if earlier is not None and earlier.useful_at is None:
        earlier = None  # closed: its effect was removed already
    after = judge.state(state, verdict, earlier)
    sway = _balance(sql, user, stored_id, verdict, earlier, judge)
    read = (judge.read.at, judge.read.step, state.useful_at, state.useful_step)
    boosts = judge.boost(state, verdict, earlier)
    sql.execute(_KEEP_VERDICT, (*key, verdict.value, now, *boosts, *read, sway))
    update_states(sql, {key[0]: after})
    return True


def close_verdicts(sql: sqlite3.Connection, record_key: int) -> None:
    """Close a record's verdicts, so that they cannot be reversed any more, and delete its judged questions. A verdict
    without a time is closed."""
    sql.execute("UPDATE verdicts SET read_at = NULL, sway = 0 WHERE record_key = ?", (record_key,))
    judged_question_rows.forget_questions(sql, record_key)


def _earlier(sql: sqlite3.Connection, key: tuple[int, str], state: ReadState) -> EarlierVerdict | None:
    """The earlier verdict on the record in this recall, or None."""
    row = sql.execute(_EARLIER, key).fetchone()
    if row is None:
        return None
    verdict, before, after, read_at, sway, *base = row
    return EarlierVerdict(Verdict(verdict), (before, after), read_at, sway, _last_useful_besides(sql, key, state, base))


def _last_useful_besides(
    sql: sqlite3.Connection, key: tuple[int, str], state: ReadState, base: list[Any]
) -> Occasion | None:
    """The last useful read apart from this one: from the verdicts that still count, else from before them."""
    count = max(0, state.helpful - 1)
    others = [Occasion(*row) for row in sql.execute(_OTHERS, (*key, count))]
    if len(others) < count and base[0] is not None:  # some came from elsewhere, with no verdict kept here
        others.append(Occasion(base[0], base[1]))
    return max(others, default=None)


def _balance(
    sql: sqlite3.Connection,
    user: int,
    stored_id: str,
    verdict: Verdict,
    earlier: EarlierVerdict | None,
    judge: Judging,
) -> float:
    """Move the user's balance; gives by how much this verdict did."""
    balance = balance_of(sql, user)
    sway, after = judge.balance(stored_id, verdict, balance, earlier)
    if after != balance:
        set_balance(sql, user, after)
    return sway


def balance_of(sql: sqlite3.Connection, user: int) -> float:
    """What usefulness has earned with this user; 0 for a user nobody knows."""
    row = sql.execute("SELECT balance FROM users WHERE user_key = ?", (user,)).fetchone()
    return 0.0 if row is None else float(row[0])


def set_balance(sql: sqlite3.Connection, user: int, balance: float) -> None:
    sql.execute("UPDATE users SET balance = ? WHERE user_key = ?", (balance, user))


class LedgerVerdicts(LedgerPart):
    """Verdicts, and the earned weight of usefulness per user."""

    def judge(
        self,
        scope: Scope,
        recall_id: str,
        verdicts: Mapping[str, tuple[Verdict, Seen]],
        judge: Judging,
        *,
        now: float,
    ) -> int:
        """Apply verdicts on records of one recall, each once; return how many changed something. A record that was
        overwritten with another text is skipped."""
        collection = self._shared.collection_key
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            changed = 0
            self._shared.cache.drop(list(verdicts))
            for stored_id, (verdict, seen) in verdicts.items():
                known = rows.state_rows_by_id(sql, collection, user, [stored_id], reading=seen.shared)
                row = known.get(stored_id)
                if row is not None and row.is_not_of(seen):
                    continue
                if row is None:
                    row = StateRow(rows.insert_states(sql, collection, user, {stored_id: seen})[stored_id], seen.state)
                key, state = row.key, row.state
                if judge_once(sql, user, (key, recall_id), stored_id, state, verdict, judge, now=now):
                    changed += 1
                    step = decay_steps.stored_timeline(sql, user).step
                    add_change(sql, user, stored_id, step, verdict.value, f"recall {recall_id}", at=now)
        return changed

    def set_balance(self, scope: Scope, balance: float) -> None:
        """Set the earned weight of usefulness of a user; earlier verdicts' effects on it can no longer be reversed."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            set_balance(sql, user, balance)
            sql.execute(
                "UPDATE verdicts SET sway = 0 WHERE record_key IN (SELECT record_key FROM records WHERE user_key = ?)",
                (user,),
            )
