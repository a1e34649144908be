"""How is a change of several parts kept whole? In one transaction of the ledger, made again where that was lost."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from adaptive_memory_core.flow.ports import Ports

P = ParamSpec("P")
T = TypeVar("T")
Change = Callable[Concatenate[Ports, P], T]


def kept_whole(change: Change[P, T]) -> Change[P, T]:
    """All that it asks of the ledger is kept, or nothing.

    A ledger on a server may lose its connection in the middle. Nothing is kept then, and such a ledger makes the change
    `again`, which so must change nothing but the ledger and what follows from it (`Ledger.afterwards`).
    """

    @wraps(change)
    def whole(ports: Ports, *args: P.args, **named: P.kwargs) -> T:
        def once() -> T:
            with ports.ledger.transaction():
                return change(ports, *args, **named)

        again: Callable[[Callable[[], Any]], Any] | None = getattr(ports.ledger, "again", None)
        made: T = once() if again is None else again(once)
        return made

    return cast("Change[P, T]", whole)
