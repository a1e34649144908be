"""How is a verdict stored so that it counts once? By recall and record, with what it changed."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from typing import Any

import orjson

from adaptive_memory_core.flow.ports import Judge
from adaptive_memory_core.learn.lead_weights import NOTHING_LEARNED, LeadWeights, weights_of
from adaptive_memory_core.learn.verdicts import Earlier, Occasion
from adaptive_memory_core.records import ReadState, Verdict
from adaptive_memory_core.store.ledger import judged_rows
from adaptive_memory_core.store.ledger.state_rows import update_states

_EARLIER = (
    "SELECT verdict, boost_before, boost_after, read_at, sway, useful_before, step_before FROM verdicts "
    "WHERE record_key = ? AND recall_id = ?"
)
_OTHERS = (
    "SELECT read_at, read_step FROM verdicts WHERE record_key = ? AND recall_id != ? AND verdict = 'helpful' "
    "AND read_at IS NOT NULL ORDER BY at DESC LIMIT ?"
)
_KEEP = (
    "INSERT INTO verdicts (record_key, recall_id, verdict, at, boost_before, boost_after, read_at, "
    "read_step, useful_before, step_before, sway) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (record_key, recall_id) DO UPDATE SET verdict = excluded.verdict, at = excluded.at, "
    "boost_before = excluded.boost_before, boost_after = excluded.boost_after, read_at = excluded.read_at, "
    "read_step = excluded.read_step, useful_before = excluded.useful_before, step_before = excluded.step_before, "
    "sway = excluded.sway"
)


def judge_once(
    sql: sqlite3.Connection,
    user: int,
    key: tuple[int, str],
    stored_id: str,
    state: ReadState,
    verdict: Verdict,
    judge: Judge,
    *,
    now: float,
) -> bool:
    """Apply a verdict on one record of one recall; False where the same verdict was given before."""
    earlier = _earlier(sql, key, state)
    if earlier is not None and earlier.verdict is verdict:
        return False
    if earlier is not None and earlier.useful_at is None:
        earlier = None  # closed: what it did is gone already
    after = judge.state(state, verdict, earlier)
    sway = _balance(sql, user, stored_id, verdict, earlier, judge)
    learned = lead_weights_of(sql, user)
    after_verdict = judge.lead_weights(stored_id, verdict, learned, earlier)
    if after_verdict != learned:
        set_lead_weights(sql, user, after_verdict)
    read = (judge.read.at, judge.read.step, state.useful_at, state.useful_step)
    boosts = judge.boost(state, verdict, earlier)
    sql.execute(_KEEP, (*key, verdict.value, now, *boosts, *read, sway))
    update_states(sql, [(key[0], after)])
    return True


def close(sql: sqlite3.Connection, record_key: int) -> None:
    """Let a record's verdicts stand as they are, with nothing left to take back: a verdict without a time is closed.
    The questions that it was judged for are forgotten."""
    sql.execute("UPDATE verdicts SET read_at = NULL, sway = 0 WHERE record_key = ?", (record_key,))
    judged_rows.forget(sql, record_key)


def _earlier(sql: sqlite3.Connection, key: tuple[int, str], state: ReadState) -> Earlier | None:
    """The verdict that this recall's read of the record has had before."""
    row = sql.execute(_EARLIER, key).fetchone()
    if row is None:
        return None
    verdict, before, after, read_at, sway, *base = row
    return Earlier(Verdict(verdict), (before, after), read_at, sway, _left(sql, key, state, base))


def _left(sql: sqlite3.Connection, key: tuple[int, str], state: ReadState, base: list[Any]) -> Occasion | None:
    """The last useful read besides this one: of the verdicts that still count, else what there was before them."""
    count = max(0, state.helpful - 1)
    others = [Occasion(*row) for row in sql.execute(_OTHERS, (*key, count))]
    if len(others) < count and base[0] is not None:  # some came from elsewhere, with no verdict kept here
        others.append(Occasion(base[0], base[1]))
    return max(others, default=None)


def _balance(
    sql: sqlite3.Connection, user: int, stored_id: str, verdict: Verdict, earlier: Earlier | None, judge: Judge
) -> float:
    """Move the user's balance; gives by how much this verdict did."""
    balance = balance_of(sql, user)
    sway, after = judge.balance(stored_id, verdict, balance, earlier)
    if after != balance:
        set_balance(sql, user, after)
    return sway


def balance_of(sql: sqlite3.Connection, user: int) -> float:
    """How far usefulness has led or misled this user, in octaves; 0 for a user nobody knows."""
    row = sql.execute("SELECT balance FROM users WHERE user_key = ?", (user,)).fetchone()
    return 0.0 if row is None else float(row[0])


def set_balance(sql: sqlite3.Connection, user: int, balance: float) -> None:
    sql.execute("UPDATE users SET balance = ? WHERE user_key = ?", (balance, user))


def standing_of(sql: sqlite3.Connection, user: int) -> tuple[float, LeadWeights]:
    """The user's balance, and what verdicts have made of what each lead counts."""
    row = sql.execute("SELECT balance, lead_weights FROM users WHERE user_key = ?", (user,)).fetchone()
    return (0.0, NOTHING_LEARNED) if row is None else (float(row[0]), _decoded(row[1]))


def lead_weights_of(sql: sqlite3.Connection, user: int) -> LeadWeights:
    return standing_of(sql, user)[1]


def set_lead_weights(sql: sqlite3.Connection, user: int, learned: LeadWeights) -> None:
    text = None if not learned.verdicts else orjson.dumps(learned._asdict()).decode()
    sql.execute("UPDATE users SET lead_weights = ? WHERE user_key = ?", (text, user))


@lru_cache(maxsize=1_024)
def _decoded(text: str | None) -> LeadWeights:
    """What was kept; of a damaged row, nothing: it is learned anew."""
    if text is None:
        return NOTHING_LEARNED
    try:
        found = orjson.loads(text)
    except ValueError:
        return NOTHING_LEARNED
    return weights_of(found.get("octaves"), found.get("verdicts")) if isinstance(found, dict) else NOTHING_LEARNED
