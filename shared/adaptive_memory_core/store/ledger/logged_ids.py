"""How do lines of the log name records? Each id is kept once for its user, under a number."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import cast

from adaptive_memory_core.store.ledger.state_rows import chunks

Keys = dict[tuple[int, str], int]  # of users' ids, as far as they were asked for


def keys_of(sql: sqlite3.Connection, known: Keys, user: int, ids: Sequence[str]) -> list[int]:
    """The numbers of a user's ids, given out where there is none yet; within a transaction that writes."""
    keys = [known.get((user, one)) for one in ids]
    if None in keys:
        missing = list(dict.fromkeys([one for one, key in zip(ids, keys, strict=True) if key is None]))
        given = _find(sql, user, missing)  # first: PostgreSQL uses up a number for each row that it is asked to add
        if len(given) < len(missing):
            given.update(_give(sql, user, [one for one in missing if one not in given]))
        known.update({(user, one): key for one, key in given.items()})
    return [known[user, one] for one in ids] if None in keys else cast("list[int]", keys)


def key_of(sql: sqlite3.Connection, user: int, record: str) -> int | None:
    """The number of one id of a user's, if lines may name it."""
    return _find(sql, user, [record]).get(record)


def names_of(sql: sqlite3.Connection, known: dict[int, str], keys: Sequence[int]) -> list[str | None]:
    """The ids that numbers stand for; None for one that was forgotten."""
    missing = [one for one in keys if one not in known]
    for chunk in chunks(missing):
        places = ", ".join("?" * len(chunk))
        known.update(sql.execute(f"SELECT id_key, id FROM logged_ids WHERE id_key IN ({places})", chunk))  # noqa: S608
    return [known.get(one) for one in keys]


def forget(sql: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Let go of ids: no line names them any more."""
    sql.executemany("DELETE FROM logged_ids WHERE id_key = ?", [(one,) for one in keys])


def _give(sql: sqlite3.Connection, user: int, ids: Sequence[str]) -> dict[str, int]:
    """The numbers of those that had none."""
    given: dict[str, int] = {}
    for chunk in chunks(ids):
        rows = ", ".join(["(?, ?)"] * len(chunk))
        query = f"INSERT INTO logged_ids (user_key, id) VALUES {rows} ON CONFLICT DO NOTHING RETURNING id, id_key"  # noqa: S608
        given.update(sql.execute(query, [value for one in chunk for value in (user, one)]).fetchall())
    return given


def _find(sql: sqlite3.Connection, user: int, ids: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for chunk in chunks(ids):
        places = ", ".join("?" * len(chunk))
        query = f"SELECT id, id_key FROM logged_ids WHERE user_key = ? AND id IN ({places})"  # noqa: S608
        found.update(sql.execute(query, (user, *chunk)).fetchall())
    return found
