"""How are lines of the log added, read and struck out? Inside the ledger's transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import orjson

from adaptive_memory_core.flow.ports.ledger_values import Entry
from adaptive_memory_core.let_others_run import let_others_run
from adaptive_memory_core.reports import LoggedRecall
from adaptive_memory_core.store.ledger import logged_ids
from adaptive_memory_core.store.ledger.logged_ids import Keys
from adaptive_memory_core.store.ledger.no_answer import tell
from adaptive_memory_core.store.ledger.packed_candidates import key_bytes, with_keys
from adaptive_memory_core.store.ledger.recall_encoding import FORGOTTEN, Line, Names, decode, encode, without
from adaptive_memory_core.store.ledger.state_rows import chunks

_COLUMNS = "recall_id, step, at, cue, k, policy_hash, candidates, turn, over"
_NAMES = (  # whether a line may name a record; those of earlier versions are JSON
    "CASE typeof(candidates) WHEN 'text' THEN instr(candidates, ?) "
    "ELSE CASE WHEN instr(candidates, ?) > 0 THEN 1 ELSE instr(candidates, ?) END END > 0"
)
_NAMING = f"SELECT recall_key, candidates FROM recalls WHERE {{}} AND {_NAMES}"  # noqa: S608 - our own words


class Reckoned(NamedTuple):
    """What was found out about a record's lines before it is struck out: by their key as they stood, and without it."""

    lines: Mapping[int, tuple[bytes | str, Line | None]]
    last: tuple[int, str] | None  # key and id of the last line then; None where others may get lower keys afterwards


NOTHING_RECKONED = Reckoned({}, None)


def line_of(entry: Entry, forgotten: Set[str] = frozenset()) -> Line:
    """A recall as it is written down, less what was forgotten while it was under way."""
    if not forgotten:
        return encode(entry.kept, entry.dropped, entry.basis, at=entry.at)
    named = {f"superseded by {one}" for one in forgotten}
    dropped = [replace(one, reason=FORGOTTEN) if one.reason in named else one for one in entry.dropped]
    kept = [one for one in entry.kept if one.hit.record.id not in forgotten]
    return encode(kept, [one for one in dropped if one.id not in forgotten], entry.basis, at=entry.at)


def packed_line(sql: sqlite3.Connection, user: int, line: Line, known: Keys) -> bytes:
    """The line with the numbers that stand for its ids; `known` are those that were asked for before."""
    return with_keys(line.packed, logged_ids.keys_of(sql, known, user, line.ids))


def add(sql: sqlite3.Connection, whose: tuple[int, str | None], step: int, entry: Entry, packed: bytes) -> None:
    """Write a recall down."""
    user, over = whose
    tell(
        sql,
        f"INSERT INTO recalls (user_key, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own names
        (user, entry.id, step, entry.at, entry.cue, entry.k, entry.policy_hash, packed, entry.turn, over),
    )


def keep_policy(sql: sqlite3.Connection, entry: Entry, known: set[str]) -> None:
    """The policy behind a hash, once, though another collection adds it just now. Only one that is seen in the table is
    known: what is added may be rolled back."""
    if entry.policy_hash in known:
        return
    if sql.execute("SELECT 1 FROM policies WHERE policy_hash = ?", (entry.policy_hash,)).fetchone():
        known.add(entry.policy_hash)
    else:
        tell(sql, "INSERT INTO policies VALUES (?, ?) ON CONFLICT DO NOTHING", (entry.policy_hash, entry.policy_json))


def one(sql: sqlite3.Connection, user: int, recall_id: str) -> LoggedRecall | None:
    """A user's recall by its id."""
    query = f"SELECT {_COLUMNS} FROM recalls WHERE recall_id = ? AND user_key = ?"  # noqa: S608 - our own names
    row = sql.execute(query, (recall_id, user)).fetchone()
    return None if row is None else _logged(row, partial(logged_ids.names_of, sql, {}))


def lines(
    sql: sqlite3.Connection, user: int, span: tuple[float, float], containing: str | None, turn: str | None
) -> Iterator[LoggedRecall]:
    """A user's recalls of a time, newest first; with `containing`, those that returned that record."""
    of_turn = "" if turn is None else "AND turn = ? "
    named = "" if containing is None else f"AND {_NAMES} "
    query = (
        f"SELECT {_COLUMNS} FROM recalls WHERE user_key = ? {of_turn}AND at >= ? AND at <= ? "  # noqa: S608 - our own names
        f"{named}ORDER BY step DESC, recall_key DESC"
    )
    asked = (user, *(() if turn is None else (turn,)), *span)
    names = partial(logged_ids.names_of, sql, {})
    for row in sql.execute(query, asked if containing is None else (*asked, *_traces(sql, user, containing))):
        recall = _logged(row, names)
        if containing is None or any(one.id == containing for one in recall.kept):
            yield recall
        let_others_run()


def last_of_all(sql: sqlite3.Connection) -> tuple[int, str] | None:
    """Key and id of the line with the highest key."""
    row = sql.execute("SELECT recall_key, recall_id FROM recalls ORDER BY recall_key DESC LIMIT 1").fetchone()
    return None if row is None else (row[0], row[1])


def strike_out(sql: sqlite3.Connection, user: int, record: str, reckoned: Reckoned = NOTHING_RECKONED) -> int:
    """Take a record out of every line of a user's log; gives how many lines named it. What was `reckoned` before of
    lines that still stand as they did is not reckoned again."""
    names, known = partial(logged_ids.names_of, sql, {}), Keys()
    changed = []
    for key, candidates in naming(sql, user, record, reckoned):
        before, line = reckoned.lines.get(key, (None, None))
        if before != candidates:
            line = without(decode(candidates, names), record)
        if line is not None:
            changed.append((with_keys(line.packed, logged_ids.keys_of(sql, known, user, line.ids)), key))
    sql.executemany("UPDATE recalls SET candidates = ? WHERE recall_key = ?", changed)
    own = logged_ids.key_of(sql, user, record)
    logged_ids.forget(sql, [] if own is None else [own])
    return len(changed)


def naming(
    sql: sqlite3.Connection, user: int, record: str, reckoned: Reckoned = NOTHING_RECKONED
) -> list[tuple[int, bytes | str]]:
    """A user's lines that may name a record. As long as the line that was last when they were `reckoned` is there,
    those that came since have higher keys, and none of the others has come to name it."""
    traces, last = _traces(sql, user, record), reckoned.last
    is_there = "SELECT 1 FROM recalls WHERE recall_key = ? AND recall_id = ?"
    if last is None or sql.execute(is_there, last).fetchone() is None:
        return sql.execute(_NAMING.format("user_key = ?"), (user, *traces)).fetchall()
    found = sql.execute(_NAMING.format("recall_key > ? AND +user_key = ?"), (last[0], user, *traces)).fetchall()
    for chunk in chunks([key for key in reckoned.lines if key <= last[0]]):
        those = f"recall_key IN ({', '.join('?' * len(chunk))}) AND +user_key = ?"  # + keeps to the keys' index
        found += sql.execute(_NAMING.format(those), (*chunk, user, *traces)).fetchall()
    return found


def _traces(sql: sqlite3.Connection, user: int, record: str) -> tuple[str, bytes, bytes]:
    """What stands in a line that names this record: as JSON, and in a packed one its number, or it as a reason."""
    key, text = logged_ids.key_of(sql, user, record), record.encode(errors="surrogatepass")
    return orjson.dumps(record).decode()[1:-1], text if key is None else key.to_bytes(key_bytes(key), "little"), text


def _logged(row: tuple[Any, ...], names: Names) -> LoggedRecall:
    recall_id, step, at, cue, k, policy_hash, candidates, turn, over = row
    return LoggedRecall(recall_id, step, at, cue, k, policy_hash, decode(candidates, names), turn, over)
