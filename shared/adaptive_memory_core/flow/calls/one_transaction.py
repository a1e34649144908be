"""Changes of the ledger that are kept whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

from adaptive_memory_core.flow.calls.workers import still_awaited
from adaptive_memory_core.flow.ports import Ports

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

P = ParamSpec("P")
T = TypeVar("T")
Change = Callable[Concatenate[Ports, P], T]


def in_one_transaction(change: Change[P, T]) -> Change[P, T]:
    """All that it asks of the ledger is kept, or nothing.

    Texts are embedded before it begins, and it does not begin for a task that was cancelled. A ledger on a server may
    lose its connection in the middle. Nothing is kept then, and such a ledger makes the change `again`, which so must
    change nothing but the ledger and what follows from it (`Ledger.afterwards`).
    """

    @wraps(change)
    def whole(ports: Ports, *args: P.args, **named: P.kwargs) -> T:
        still_awaited()
        return made_whole(ports.ledger, lambda: change(ports, *args, **named))

    return cast("Change[P, T]", whole)


def export_soon(ports: Ports) -> None:
    """What was written is put into the collection in a while, or now where the memory writes through."""
    ports.write_back.wake()
    if ports.write_through:
        ports.write_back.flush()


def made_whole(ledger: Ledger, change: Callable[[], T]) -> T:
    """What the change gives, made in one transaction, again where that was lost."""

    def once() -> T:
        with ledger.transaction():
            return change()

    return as_often_as_lost(ledger, once)


def as_often_as_lost(ledger: object, step: Callable[[], T]) -> T:
    """What the step gives, taken once more where a ledger on a server lost the connection, or broke off a deadlock, and
    nothing of it was kept."""
    again: Callable[[Callable[[], T]], T] | None = getattr(ledger, "again", None)
    return step() if again is None else again(step)
