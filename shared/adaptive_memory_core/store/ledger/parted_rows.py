"""What becomes of the row of a record that says something else? It is set aside, and the record begins anew.

The row that is set aside is no user's and has a name that no record has; it waits for a record of the same source that
says what it was of. One waits for each record at most, and it goes when the record is forgotten.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from adaptive_memory_core.flow.ports.ledger_values import REWRITTEN, Rewritten
from adaptive_memory_core.identity import ASIDE_MARK
from adaptive_memory_core.learn.decay.strength import met
from adaptive_memory_core.records import NEVER_READ, ReadState
from adaptive_memory_core.store.ledger import audit, pace_spans
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.text_identity import LOOK_AGAIN

_PART = "UPDATE records SET user_key = ?, stored_id = ?, version = version + 1 WHERE record_key = ?"
_FIND = "SELECT record_key, reader FROM records WHERE collection_key = ? AND stored_id = ? AND user_key = ?"

_TAKEN = "SELECT 1 FROM records WHERE collection_key = ? AND stored_id = ? AND user_key != ? AND reader = 0"


class Owner(NamedTuple):
    """Whose rows: of a user in a collection, and where they read everyone's, of what they made of those."""

    collection: int
    user: int
    reading: bool = False


def apart(user: int) -> int:
    """The key of whoever has what was set aside for this user: nobody asks for it but those that look for heirs."""
    return -user


def name_apart(stored_id: str) -> str:
    """The name of the row that was set aside for a record.

    >>> name_apart("file.md:0") == name_apart("file.md:0") != name_apart("file.md:1")
    True
    """
    return f"{stored_id}{ASIDE_MARK}{hashlib.blake2b(stored_id.encode(errors='replace'), digest_size=12).hexdigest()}"


def set_aside(sql: sqlite3.Connection, owner: Owner, anew: Mapping[str, Rewritten]) -> dict[str, str]:
    """Part those records from their rows that are still rows of what the records said before; gives their ids, each
    with the name of its row by now. A row that nothing was learned in pushes out none that waits."""
    collection, user, reading = owner
    known = rows.known_states(sql, collection, user, list(anew), reading=reading)
    names: dict[str, str] = {}
    for one, row in known.items():
        if row.said == anew[one].before != anew[one].now.said:
            names[one] = name_apart(one) if _learned(row.state) else _name_of_nothing(one)
            _remove(sql, owner, names[one])
            sql.execute("DELETE FROM outbox WHERE record_key = ?", (row.key,))
            if not reading and _is_a_records(sql, owner, names[one]):
                _drop(sql, owner, [row.key])
            else:
                sql.execute(_PART, (apart(user), names[one], row.key))
    return names


def begin_anew(sql: sqlite3.Connection, owner: Owner, anew: Mapping[str, Rewritten], *, by: str, now: float) -> None:
    """Fresh rows for those that were parted from theirs, unless they took over another one; the trail says so."""
    collection, user, reading = owner
    timeline = pace_spans.timeline(sql, user)
    taken = rows.known_states(sql, collection, user, list(anew), reading=reading)
    fresh = {
        one: changed.now._replace(state=met(timeline, NEVER_READ, now=now))
        for one, changed in anew.items()
        if one not in taken
    }
    rows.announce(sql, rows.insert_states(sql, collection, user, fresh).values())
    for one, changed in anew.items():
        if changed.before != LOOK_AGAIN:  # else that was noted when it was written
            audit.note(sql, user, one, timeline.step, REWRITTEN, by, at=now)
        _remove(sql, owner, _name_of_nothing(one))


def remove_apart(sql: sqlite3.Connection, owner: Owner, stored_id: str) -> tuple[bool, int]:
    """Let go of what was set aside for a record; whether there was something, and how many verdicts went."""
    return _remove(sql, owner, name_apart(stored_id))


def _remove(sql: sqlite3.Connection, owner: Owner, name: str) -> tuple[bool, int]:
    found = sql.execute(_FIND, (owner.collection, name, apart(owner.user))).fetchall()
    met = sum(1 for _, reader in found if not reader)
    return bool(found), _drop(sql, owner, [key for key, _ in found], met)


def _drop(sql: sqlite3.Connection, owner: Owner, keys: Sequence[int], met: int = 1) -> int:
    """Let go of rows, of which so many are no reader's; gives how many verdicts went."""
    if met:
        sql.execute("UPDATE collections SET met = met - ? WHERE collection_key = ?", (met, owner.collection))
    return rows.remove(sql, keys)


def _is_a_records(sql: sqlite3.Connection, owner: Owner, name: str) -> bool:
    """Whether another program has given a record this name, which no record of ours can have. What the record said
    before has no place then, and what was learned of it goes: nothing of the two is ever mixed."""
    return sql.execute(_TAKEN, (owner.collection, name, apart(owner.user))).fetchone() is not None


def _name_of_nothing(stored_id: str) -> str:
    """The name, within one transaction, of a row that nothing was learned in."""
    return name_apart(stored_id) + "#"


def _learned(state: ReadState) -> bool:
    """Whether there is anything to wait for."""
    untouched = ("settled_step", "fresh_step", "settled_at", "fresh_at", "useful_step")
    return replace(state, **{name: getattr(NEVER_READ, name) for name in untouched}) != NEVER_READ
