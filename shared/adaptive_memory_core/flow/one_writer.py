"""How do writers of one record take turns? Whoever changes records of a user locks their ids first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import Scope

T = TypeVar("T")


def one_writer(ports: Ports, scope: Scope, record_ids: Sequence[str], writing: Flow[T]) -> Flow[T]:
    """What comes of `writing`, while nobody else writes these ids of the scope. Texts are embedded before it begins."""
    if not record_ids:
        return (yield from writing)
    lock = ports.ledger.id_locks.of(scope, record_ids)
    try:
        yield from ask(lock.acquire)
        return (yield from writing)
    finally:
        try:
            writing.close()
            lock.release()
        finally:
            lock.release()  # again, where an interrupt broke that off
