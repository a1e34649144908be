"""What may watch a memory? Something that is handed its verbs, sources and ledger once, and gives them back watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from adaptive_memory_core.flow.ports import Ledger, Ports
    from adaptive_memory_core.sources.ask import Stages

T = TypeVar("T")


class OpenMemory(Protocol):
    """A memory that can be asked how far it is; ClosedError once it was closed."""

    def checked_ports(self) -> Ports: ...


class Telemetry(Protocol):
    """Sources and ledger are handed over where a memory is put together, and each verb is called through it."""

    def verb(self, name: str, call: Callable[[], T]) -> T: ...
    def sources(self, stages: Stages) -> Stages: ...
    def ledger(self, ledger: Ledger) -> Ledger: ...
    def opened(self, memory: OpenMemory) -> None:
        """This memory is open; it is not to be kept from being collected."""


class Unwatched:
    """Gives everything back as it is."""

    def verb(self, name: str, call: Callable[[], T]) -> T:  # noqa: ARG002 - nobody wants to know
        return call()

    def sources(self, stages: Stages) -> Stages:
        return stages

    def ledger(self, ledger: Ledger) -> Ledger:
        return ledger

    def opened(self, memory: OpenMemory) -> None:
        """Nobody asks."""


UNWATCHED = Unwatched()
