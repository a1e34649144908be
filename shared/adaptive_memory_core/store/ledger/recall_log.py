"""The log of recalls: lines are read, and cleared of records. `counted_recalls.py` adds them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import LoggedRecall
from adaptive_memory_core.store.ledger.ledger_context import Keys, LedgerContext, find_ids, logged_keys
from adaptive_memory_core.store.ledger.recall_encoding import (
    EncodedRecall,
    IdLookup,
    decode,
    key_bytes,
    with_keys,
    without_record,
)
from adaptive_memory_core.store.ledger.state_rows import FORGOTTEN_USER, rows_in


def logged_key(sql: sqlite3.Connection, user: int, record: str) -> int | None:
    """The number of a user's id, or None if no line can contain it."""
    return find_ids(sql, user, [record]).get(record)


def logged_names(sql: sqlite3.Connection, known: dict[int, str], keys: Sequence[int]) -> list[str | None]:
    """The ids by their numbers; None for a forgotten id."""
    missing = [one for one in keys if one not in known]
    known.update(rows_in(sql, "SELECT id_key, id FROM logged_ids WHERE id_key IN ({})", missing))
    return [known.get(one) for one in keys]


def forget_ids(sql: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Delete ids that no line contains any more."""
    sql.executemany("DELETE FROM logged_ids WHERE id_key = ?", [(one,) for one in keys])


COLUMNS = "recall_id, step, at, cue, k, policy_hash, candidates, turn, over"
_NAMES = "CASE WHEN instr(candidates, ?) > 0 THEN 1 ELSE instr(candidates, ?) END > 0"  # a line may name a record
_NAMING = f"SELECT recall_key, candidates FROM recalls WHERE {{}} AND {_NAMES}"  # noqa: S608 - our own words


class PreparedLines(NamedTuple):
    """The lines that contain a record, prepared before it is removed: by key, the old line and the one without it."""

    lines: Mapping[int, tuple[bytes, EncodedRecall | None]]
    last: tuple[int, str] | None  # key and id of the last line then; None if later lines may get lower keys


NOTHING_PREPARED = PreparedLines({}, None)


def line_by_id(sql: sqlite3.Connection, user: int, recall_id: str) -> LoggedRecall | None:
    """A user's recall by its id."""
    query = f"SELECT {COLUMNS} FROM recalls WHERE recall_id = ? AND user_key = ?"  # noqa: S608 - our own names
    row = sql.execute(query, (recall_id, user)).fetchone()
    return None if row is None else _logged(row, partial(logged_names, sql, {}))


def logged_rows(
    sql: sqlite3.Connection, user: int, span: tuple[float, float], containing: str | None, turn: str | None
) -> Iterator[LoggedRecall]:
    """A user's recalls of a period, newest first; with `containing`, only those that returned this record."""
    of_turn = "" if turn is None else "AND turn = ? "
    named = "" if containing is None else f"AND {_NAMES} "
    query = (
        f"SELECT {COLUMNS} FROM recalls WHERE user_key = ? {of_turn}AND at >= ? AND at <= ? "  # noqa: S608 - our own names
        f"{named}ORDER BY step DESC, recall_key DESC"
    )
    asked = (user, *(() if turn is None else (turn,)), *span)
    names = partial(logged_names, sql, {})
    for row in sql.execute(query, asked if containing is None else (*asked, *_traces(sql, user, containing))):
        recall = _logged(row, names)
        if containing is None or any(line_by_id.id == containing for line_by_id in recall.kept):
            yield recall


def last_of_all(sql: sqlite3.Connection) -> tuple[int, str] | None:
    """Key and id of the line with the highest key."""
    row = sql.execute("SELECT recall_key, recall_id FROM recalls ORDER BY recall_key DESC LIMIT 1").fetchone()
    return None if row is None else (row[0], row[1])


def strike_out(sql: sqlite3.Connection, user: int, record: str, reckoned: PreparedLines = NOTHING_PREPARED) -> int:
    """Remove a record from every line of a user's log; return how many lines contained it. Prepared lines (`reckoned`)
    are used if the line has not changed since."""
    names, known = partial(logged_names, sql, {}), Keys()
    changed = []
    for key, candidates in lines_naming(sql, user, record, reckoned):
        before, line = reckoned.lines.get(key, (None, None))
        if before != candidates:
            line = without_record(decode(candidates, names), record)
        if line is not None:
            changed.append((with_keys(line.packed, logged_keys(sql, known, user, line.ids)), key))
    sql.executemany("UPDATE recalls SET candidates = ? WHERE recall_key = ?", changed)
    own = logged_key(sql, user, record)
    forget_ids(sql, [] if own is None else [own])
    return len(changed)


def lines_naming(
    sql: sqlite3.Connection, user: int, record: str, reckoned: PreparedLines = NOTHING_PREPARED
) -> list[tuple[int, bytes]]:
    """A user's lines that may contain a record. If the last line at the time of preparation still exists, only prepared
    lines and lines with higher keys need to be searched."""
    traces, last = _traces(sql, user, record), reckoned.last
    is_there = "SELECT 1 FROM recalls WHERE recall_key = ? AND recall_id = ?"
    if last is None or sql.execute(is_there, last).fetchone() is None:
        return sql.execute(_NAMING.format("user_key = ?"), (user, *traces)).fetchall()
    found = sql.execute(_NAMING.format("recall_key > ? AND +user_key = ?"), (last[0], user, *traces)).fetchall()
    those = _NAMING.format("recall_key IN ({}) AND +user_key = ?")  # + keeps to the keys' index
    earlier = [key for key in reckoned.lines if key <= last[0]]
    return found + rows_in(sql, those, earlier, last=(user, *traces))


def _traces(sql: sqlite3.Connection, user: int, record: str) -> tuple[bytes, bytes]:
    """The bytes that a line with this record contains: its number, or its id in a reason."""
    key, text = logged_key(sql, user, record), record.encode(errors="surrogatepass")
    return text if key is None else key.to_bytes(key_bytes(key), "little"), text


def _logged(row: tuple[Any, ...], names: IdLookup) -> LoggedRecall:
    recall_id, step, at, cue, k, policy_hash, candidates, turn, over = row
    return LoggedRecall(recall_id, step, at, cue, k, policy_hash, decode(candidates, names), turn, over)


class LedgerLog:
    """The lines of the log."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def recall(self, scope: Scope, recall_id: str) -> LoggedRecall | None:
        """A recall of this scope by id, or None."""
        with self._shared.reading() as sql:
            return line_by_id(sql, self._shared.known_user(sql, scope), recall_id)

    def recalls(
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
        with self._shared.apart() as sql:
            user = self._shared.known_user(sql, scope)
            return list(islice(logged_rows(sql, user, span, containing, turn), limit))

    def policy(self, policy_hash: str) -> str | None:
        """The policy with this hash as JSON, or None."""
        with self._shared.reading() as sql:
            row = sql.execute("SELECT policy FROM policies WHERE policy_hash = ?", (policy_hash,)).fetchone()
        return None if row is None else row[0]

    def scopes(self) -> list[Scope]:
        """The scopes with recalls in the log, in the order of their registration."""
        query = (
            "SELECT name FROM users WHERE collection_key = ? "
            "AND EXISTS (SELECT 1 FROM recalls WHERE recalls.user_key = users.user_key) ORDER BY user_key"
        )
        with self._shared.reading() as sql:
            rows = sql.execute(query, (self._shared.collection_key,)).fetchall()
        return [Scope(name or None) for (name,) in rows if not name.startswith(FORGOTTEN_USER)]
