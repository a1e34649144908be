"""How is a source of candidates watched? It is asked as before, and how long that took is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Asked, Source
from adaptive_memory_core.telemetry.measure import Measure, Outcome, measured


@dataclass(frozen=True)
class WatchedSource:
    """A source, by the name it has."""

    source: Source
    measure: Measure
    tell: Callable[[Answer], Outcome]

    @property
    def name(self) -> str:
        return self.source.name

    def wanted(self, request: Request) -> bool:
        return self.source.wanted(request)

    def ask(self, ports: Ports, request: Request, asked: Asked) -> Flow[Answer]:
        return measured(lambda: self.measure.begin(self.name), self.source.ask(ports, request, asked), self.tell)
