"""How does a verdict count once? It is kept by recall and record, with what it did, so that it can be taken back."""

from __future__ import annotations

import sqlite3

from adaptive_memory_core.flow.ports import Rejudge
from adaptive_memory_core.records import ReadState, Verdict
from adaptive_memory_core.store.ledger_rows import announce


def judge_once(
    sql: sqlite3.Connection, key: tuple[int, str], state: ReadState, verdict: Verdict, rule: Rejudge, *, now: float
) -> bool:
    """Apply a verdict on one record of one recall; False where the same verdict was given before."""
    earlier = sql.execute(
        "SELECT verdict, boost_before, boost_after FROM verdicts WHERE record_key = ? AND recall_id = ?", key
    ).fetchone()
    if earlier is not None and earlier[0] == verdict.value:
        return False
    before, boost = rule(state.boost, verdict, None if earlier is None else (earlier[1], earlier[2]))
    sql.execute(
        "INSERT OR REPLACE INTO verdicts (record_key, recall_id, verdict, at, boost_before, boost_after) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (*key, verdict.value, now, before, boost),
    )
    sql.execute("UPDATE records SET boost = ?, version = version + 1 WHERE record_key = ?", (boost, key[0]))
    announce(sql, key[:1])
    return True
