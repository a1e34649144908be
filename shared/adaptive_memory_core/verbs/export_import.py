"""How does a user take along what was learned? Out as plain values, and in again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adaptive_memory_core.flow import export_import as moving
from adaptive_memory_core.reports import Restored
from adaptive_memory_core.verbs.blocking_and_async import User


def export_state(user: User) -> dict[str, Any]:
    """What was learned about this user's records, as plain values for `json.dumps`; no texts, only digests of them."""
    memory = user.memory
    return moving.export_state(memory.ports(), user.scope, regime=memory.regime, now=memory.now())


def restore_state(user: User, state: Mapping[str, Any]) -> Restored:
    """Import what `export_state` returned, here or in another collection: by id, else by document and text.

    A record that was read later here keeps its own state. A value outside its range is refused and named.
    """
    memory = user.memory
    return moving.restore_state(memory.ports(), user.scope, state, now=memory.now())
