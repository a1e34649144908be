"""How far are open memories? The write-back, the background's failures and unanswered calls, asked for when exported.

Nothing here is counted by a recall: the exporter's own thread asks what each memory counts anyway.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
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
        meter.create_observable_gauge(
            f"{name}.write_back.waiting",
            [self._now(_waiting, "", sum)],
            "{record}",
            "Records whose read state the collection lacks.",
        )
        meter.create_observable_gauge(
            f"{name}.write_back.lag",
            [self._now(_lag, "", max)],
            "s",
            "How long what waits to be written back has waited, at the longest.",
        )
        meter.create_observable_gauge(
            f"{name}.calls.unanswered",
            [self._now(_unanswered, "source", sum)],
            "{call}",
            "Calls that were given up and are still running.",
        )
        meter.create_observable_counter(
            f"{name}.write_back.records", [self._so_far(_written, "result")], "{record}", "Records written back."
        )
        meter.create_observable_counter(
            f"{name}.background.failures", [self._so_far(_failures, "chore")], "{failure}", "Chores that failed."
        )

    def add(self, memory: OpenMemory) -> None:
        self._memories.add(memory)

    def _now(
        self, look: Callable[[Ports], Numbers], label: str, join: Callable[[Iterable[float]], float]
    ) -> Callable[[Any], list[Observation]]:
        """A callback that asks all memories, and joins the numbers of one name."""

        def answer(_: Any) -> list[Observation]:
            found: dict[str, list[float]] = {}
            for one in list(self._memories):
                for name, number in _asked(one, look).items():
                    found.setdefault(name, []).append(number)
            return [self._observation(label, name, join(each)) for name, each in found.items()]

        return answer

    def _so_far(self, look: Callable[[Ports], Numbers], label: str) -> Callable[[Any], list[Observation]]:
        """A callback that adds up what memories have counted, those included that were closed since: a counter that
        falls would be taken for one that began anew."""
        last: weakref.WeakKeyDictionary[OpenMemory, Numbers] = weakref.WeakKeyDictionary()
        total: Counter[str] = Counter()

        def answer(_: Any) -> list[Observation]:
            for one in list(self._memories):
                counted, before = _asked(one, look), last.get(one, {})
                for name, number in counted.items():
                    total[name] += int(number - before.get(name, 0))
                if counted:
                    last[one] = counted
            return [self._observation(label, name, number) for name, number in total.items()]

        return answer

    def _observation(self, label: str, name: str, number: float) -> Observation:
        return Observation(number, {**self._own, **({label: name} if label else {})})


def _asked(memory: OpenMemory, look: Callable[[Ports], Numbers]) -> Numbers:
    """What a memory says; nothing once it was closed, or where its ledger is out of order."""
    try:
        return look(memory.checked_ports())
    except AdaptiveMemoryError:
        return {}


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
