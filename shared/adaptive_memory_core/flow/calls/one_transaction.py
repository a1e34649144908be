"""Changes of the ledger that are committed entirely or not at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

from adaptive_memory_core.flow.calls.running_calls import still_awaited
from adaptive_memory_core.flow.ports import Ports

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

P = ParamSpec("P")
T = TypeVar("T")
Change = Callable[Concatenate[Ports, P], T]


def in_one_transaction(change: Change[P, T]) -> Change[P, T]:
    """Run a function in one transaction of the ledger, so that all of its changes are committed or none.

    Texts must be embedded before. The transaction is not started for a cancelled task. If a ledger on a server loses
    its connection, nothing is committed, and the ledger runs the function `again`. So the function must only change the
    ledger, and other things only by `Ledger.afterwards`.
    """

    @wraps(change)
    def whole(ports: Ports, *args: P.args, **named: P.kwargs) -> T:
        still_awaited()
        return made_whole(ports.ledger, lambda: change(ports, *args, **named))

    return cast("Change[P, T]", whole)


def export_soon(ports: Ports) -> None:
    """Schedule the write to the collection, or write at once if the memory writes through."""
    ports.write_back.wake()
    if ports.write_through:
        ports.write_back.flush()


def made_whole(ledger: Ledger, change: Callable[[], T]) -> T:
    """The result of the change, made in one transaction and repeated if the transaction was lost."""

    def once() -> T:
        with ledger.transaction():
            return change()

    return as_often_as_lost(ledger, once)


def as_often_as_lost(ledger: object, step: Callable[[], T]) -> T:
    """The result of the step, which is repeated if a ledger on a server lost the connection or ended a deadlock, so
    that nothing was committed."""
    again: Callable[[Callable[[], T]], T] | None = getattr(ledger, "again", None)
    return step() if again is None else again(step)
