"""How far are open memories? The write-back, the background's failures and unanswered calls, asked for when exported.

Nothing here is counted by a recall: the exporter's own thread asks what each memory counts anyway.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from opentelemetry.metrics import Meter, Observation

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.telemetry import OpenMemory

Numbers = Mapping[str, float]


class Gauges:
    """One instrument for all memories that are open: what they count is added up, how long they wait is the longest."""

    def __init__(self, meter: Meter, name: str, own: Mapping[str, str | int]) -> None:
        self._memories: weakref.WeakSet[OpenMemory] = weakref.WeakSet()
        self._own = dict(own)
        waiting, lag = self._asked(_waiting, "", sum), self._asked(_lag, "", max)
        meter.create_observable_gauge(
            f"{name}.write_back.waiting", [waiting], "{record}", "Records whose read state the collection lacks."
        )
        meter.create_observable_gauge(
            f"{name}.write_back.lag", [lag], "s", "How long what waits to be written back has waited, at the longest."
        )
        meter.create_observable_counter(
            f"{name}.write_back.records", [self._asked(_written, "result", sum)], "{record}", "Records written back."
        )
        meter.create_observable_counter(
            f"{name}.background.failures", [self._asked(_failures, "chore", sum)], "{failure}", "Chores that failed."
        )
        meter.create_observable_gauge(
            f"{name}.calls.unanswered",
            [self._asked(_unanswered, "source", sum)],
            "{call}",
            "Calls that were given up and are still running.",
        )

    def add(self, memory: OpenMemory) -> None:
        self._memories.add(memory)

    def _asked(
        self, look: Callable[[Ports], Numbers], label: str, join: Callable[[Iterable[float]], float]
    ) -> Callable[[Any], list[Observation]]:
        """A callback that asks all memories, and joins the numbers of one name."""

        def answer(_: Any) -> list[Observation]:
            found: dict[str, list[float]] = {}
            for one in list(self._memories):
                with suppress(AdaptiveMemoryError):  # closed meanwhile, or the ledger is busy: asked again next time
                    for name, number in look(one.checked_ports()).items():
                        found.setdefault(name, []).append(number)
            return [Observation(join(each), self._labels(label, name)) for name, each in found.items()]

        return answer

    def _labels(self, label: str, name: str) -> dict[str, str | int]:
        return {**self._own, **({label: name} if label else {})}


def _waiting(ports: Ports) -> Numbers:
    return {"": ports.write_back.progress().waiting}


def _lag(ports: Ports) -> Numbers:
    return {"": ports.write_back.progress().waited_seconds}


def _written(ports: Ports) -> Numbers:
    progress = ports.write_back.progress()
    return {"written": progress.written, "vanished": progress.vanished, "conflict": progress.conflicts}


def _failures(ports: Ports) -> Numbers:
    background = ports.background
    return {**dict.fromkeys(background.chores, 0), **background.stats().failures}


def _unanswered(ports: Ports) -> Numbers:
    return {name: one.count for name, one in list(ports.unanswered.items())}
