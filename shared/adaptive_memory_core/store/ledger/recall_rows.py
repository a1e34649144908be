"""How does the log of recalls grow, answer and forget? Lines of a table, inside the ledger's transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Set

import orjson

from adaptive_memory_core.flow.ports import Entry
from adaptive_memory_core.reports import LoggedRecall
from adaptive_memory_core.store.ledger.recall_encoding import encode, logged_recall, without

_COLUMNS = "recall_id, step, at, cue, k, policy_hash, candidates, turn"


def add(
    sql: sqlite3.Connection, user: int, step: int, entry: Entry, forgotten: Set[str], known_policies: set[str]
) -> None:
    """Write a recall down, less what was forgotten while it was under way."""
    _keep_policy(sql, entry, known_policies)
    text = encode(entry.kept, entry.dropped)
    for record in forgotten:
        text = without(text, record)
    sql.execute(
        f"INSERT INTO recalls (user_key, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own names
        (user, entry.id, step, entry.at, entry.cue, entry.k, entry.policy_hash, text, entry.turn),
    )


def one(sql: sqlite3.Connection, user: int, recall_id: str) -> LoggedRecall | None:
    """A user's recall by its id."""
    query = f"SELECT {_COLUMNS} FROM recalls WHERE recall_id = ? AND user_key = ?"  # noqa: S608 - our own names
    row = sql.execute(query, (recall_id, user)).fetchone()
    return None if row is None else logged_recall(row)


def lines(
    sql: sqlite3.Connection, user: int, span: tuple[float, float], containing: str | None, turn: str | None
) -> Iterator[LoggedRecall]:
    """A user's recalls of a time, newest first; with `containing`, those that returned that record."""
    of_turn = "" if turn is None else "AND turn = ? "
    query = (
        f"SELECT {_COLUMNS} FROM recalls WHERE user_key = ? {of_turn}AND at >= ? AND at <= ? "  # noqa: S608 - our own names
        "AND instr(candidates, ?) > 0 ORDER BY step DESC, recall_key DESC"
    )
    part = "{" if containing is None else orjson.dumps(containing).decode()
    for row in sql.execute(query, (user, *(() if turn is None else (turn,)), *span, part)):
        recall = logged_recall(row)
        if containing is None or any(one.id == containing for one in recall.kept):
            yield recall


def strike_out(sql: sqlite3.Connection, user: int, record: str) -> int:
    """Take a record out of every line of a user's log; gives how many lines named it."""
    query = "SELECT recall_key, candidates FROM recalls WHERE user_key = ? AND instr(candidates, ?) > 0"
    maybe = sql.execute(query, (user, orjson.dumps(record).decode()[1:-1])).fetchall()
    struck = [(without(text, record), key) for key, text in maybe]
    changed = [new for new, (_, old) in zip(struck, maybe, strict=True) if new[0] != old]
    sql.executemany("UPDATE recalls SET candidates = ? WHERE recall_key = ?", changed)
    return len(changed)


def _keep_policy(sql: sqlite3.Connection, entry: Entry, known: set[str]) -> None:
    """The policy behind a hash, once. Only one that is seen in the table is known: what is added may be rolled back."""
    if entry.policy_hash in known:
        return
    if sql.execute("SELECT 1 FROM policies WHERE policy_hash = ?", (entry.policy_hash,)).fetchone():
        known.add(entry.policy_hash)
    else:
        sql.execute("INSERT INTO policies VALUES (?, ?)", (entry.policy_hash, entry.policy_json))
