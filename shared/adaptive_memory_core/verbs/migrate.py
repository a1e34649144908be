"""How is a ledger brought to the tables of this version? That of an open memory, or the one at an address."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.store.postgres.ledger import migrate_ledger


class Migrate:
    """`AdaptiveMemory.migrate(ledger)` and, on an open one, `memory.migrate()`."""

    def __get__(self, memory: Any, _owner: type[Any] | None = None) -> Callable[..., int]:
        return partial(_migrate, memory)


def _migrate(memory: Any, ledger: str | None = None) -> int:
    """Bring a ledger in PostgreSQL to the tables of this version, by a role that may make tables; gives how many steps
    there were to do. Any number of processes may call it at once."""
    if ledger is not None:
        return migrate_ledger(ledger)
    if memory is None:
        raise InvalidInputError(
            "migrate was given no ledger. Give its address, e.g. AdaptiveMemory.migrate('postgresql://owner@host/db')."
        )
    migrate: Callable[[], int] | None = getattr(memory.ports().ledger, "migrate", None)
    return 0 if migrate is None else migrate()  # a file was brought there when it was opened
