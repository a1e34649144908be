"""How do rules change states in the ledger? On the states in the transaction; only differences are written."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Set

from adaptive_memory_core.flow.ports.ledger_values import Advance
from adaptive_memory_core.learn.decay.strength import Timeline, met
from adaptive_memory_core.records import Seen
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.state_rows import Changed, StateRow


def advance(
    shared: LedgerContext,
    sql: sqlite3.Connection,
    user: int,
    seen: Mapping[str, Seen],
    rule: Advance,
    timeline: Timeline,
    *,
    now: float,
    skip: Set[int] = frozenset(),
    reading: bool,
) -> dict[str, Changed]:
    """Apply the rule to all but the rows to `skip`, and those of records that say something else by now; `seen` holds
    the states to start from where there is no row."""
    known = shared.cache.states(sql, shared.collection_key, user, list(seen), reading=reading)
    changed: dict[str, Changed] = {}
    for stored_id, start in seen.items():
        row = known.get(stored_id) or StateRow(0, met(timeline, start.state, now=now), start.said)
        key, before = row.key, row.state
        after = before if key in skip or row.is_not_of(start) else rule(Seen(before, start.kind), timeline=timeline)
        if after is not before and after != before:
            changed[stored_id] = Changed(key, before, after, row.said)
    if changed:
        changed = _written(shared, sql, user, seen, changed)
        after_all = {stored_id: StateRow(one.row, one.after, one.said) for stored_id, one in changed.items()}
        shared.cache.put(user, after_all, reading=reading)
    return changed


def _written(
    shared: LedgerContext, sql: sqlite3.Connection, user: int, seen: Mapping[str, Seen], changed: dict[str, Changed]
) -> dict[str, Changed]:
    new = {one: seen[one]._replace(state=change.after) for one, change in changed.items() if not change.row}
    if any(one.state.useful_at is not None for one in new.values()):
        shared.changing()  # one more that was of use, elsewhere
    keys = rows.insert_states(sql, shared.collection_key, user, new, took_over=shared.changing)
    done = {one: change._replace(row=change.row or keys[one]) for one, change in changed.items()}
    rows.update_states(sql, [(one.row, one.after) for name, one in done.items() if name not in keys])
    rows.announce(sql, keys.values())
    return done
