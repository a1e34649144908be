"""OpenTelemetry for a memory: durations and outcomes of verbs, sources and the ledger, and gauges when exported.

Gauges cost a recall nothing: the exporter's own thread reads the counters that each memory has anyway.

Telemetry contains no user data: no text, query, ID or user name, and no error messages, which may quote them. It
contains the names of verbs, sources, operations of the ledger and classes of errors.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from opentelemetry import metrics, trace
from opentelemetry.metrics import Meter, Observation

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import AdaptiveMemoryError, InvalidInputError
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.models import OpenMemory
from adaptive_memory_core.flow.ports.source import Answer, Slow, Source, SourceQuery
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.sources.request import Request
from adaptive_memory_core.telemetry.measure import (
    Attributes,
    CallMeasure,
    CallOutcome,
    Instruments,
    call_in_span,
    measured_call,
    watched_ledger,
)

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

T = TypeVar("T")
NAME = "adaptive_memory"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
HITS = (0, 1, 2, 3, 5, 10, 20, 50)


class OpenTelemetry:
    """Spans and metrics of the memories that are opened with it. One object serves any number of memories.

    Without providers, the process's own are used; if there are none either, nothing is recorded. `attributes` are added
    to all spans and metrics. Use constants that distinguish memories, and no user data. Needs the extra `otel`.
    """

    def __init__(
        self,
        *,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
        attributes: Mapping[str, str] | None = None,
    ) -> None:
        _check_providers(tracer_provider, meter_provider)
        meter = metrics.get_meter(NAME, meter_provider=meter_provider)
        own: Attributes = dict(attributes or {})
        measures = Instruments(trace.get_tracer(NAME, tracer_provider=tracer_provider), own)
        self._verbs = measures.of(_seconds(meter, "verb", "a verb took, from call to answer"), "verb", f"{NAME}.")
        self._sources = measures.of(
            _seconds(meter, "source", "a source of candidates took"), "source", f"{NAME}.source "
        )
        self._operations = measures.of(
            _seconds(meter, "ledger", "an operation of the ledger took, waiting included"),
            "operation",
            f"{NAME}.ledger ",
        )
        self._hits = meter.create_histogram(
            f"{NAME}.recall.hits", "{hit}", "Hits of a recall.", explicit_bucket_boundaries_advisory=HITS
        )
        self._own, self._gauges = own, Gauges(meter, NAME, own)

    def verb(self, name: str, call: Callable[[], T]) -> T:
        return measured_call(lambda: self._verbs.begin(name), call, self._answered)

    def sources(self, sources: Sequence[Source]) -> Sequence[Source]:
        return [_watched(one, self._sources) for one in sources]

    def ledger(self, ledger: Ledger) -> Ledger:
        return watched_ledger(ledger, self._operations)

    def opened(self, memory: OpenMemory) -> None:
        self._gauges.add(memory)

    def _answered(self, result: object) -> CallOutcome:
        """The span attributes for a verb's answer."""
        if not isinstance(result, Recall):
            return CallOutcome()
        self._hits.record(len(result), self._own)
        attributes: Attributes = {"k": result.k, "hits": len(result), "candidates": result.candidates}
        return CallOutcome(attributes={**attributes, "policy": _hash(result.policy), "notes": len(result.trace)})


@lru_cache(maxsize=64)
def _hash(policy: Policy) -> str:
    return policy.hash


def _watched(source: Source, measure: CallMeasure) -> Source:
    return (WatchedSlow if isinstance(source, Slow) else WatchedSource)(source, measure, _answer)


def _answer(answer: Answer) -> CallOutcome:
    """The span attributes for a source's answer."""
    named = len(answer.named) + len(answer.found)
    return CallOutcome(None if answer.error is None else type(answer.error).__name__, {"named": named})


def _seconds(meter: metrics.Meter, what: str, meaning: str) -> metrics.Histogram:
    return meter.create_histogram(
        f"{NAME}.{what}.duration", "s", f"How long {meaning}.", explicit_bucket_boundaries_advisory=SECONDS
    )


def _check_providers(tracer_provider: object, meter_provider: object) -> None:
    for name, given, needed in (
        ("tracer_provider", tracer_provider, "get_tracer"),
        ("meter_provider", meter_provider, "get_meter"),
    ):
        if given is not None and not hasattr(given, needed):
            raise InvalidInputError(
                f"{name} is {shown(given)}. Give one of OpenTelemetry's SDK, or None for the process's own."
            )


@dataclass(frozen=True)
class WatchedSource:
    """A source with its name and measured calls."""

    source: Source
    measure: CallMeasure
    tell: Callable[[Answer], CallOutcome]

    @property
    def name(self) -> str:
        return self.source.name

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        ask = partial(self.source.ask, ports, request, asked)
        return measured_call(lambda: self.measure.begin(self.name), ask, self.tell)


@dataclass(frozen=True)
class WatchedSlow(WatchedSource):
    """A slow source, measured from the start of its work to its answer."""

    def begin(self, ports: Ports, request: Request, asked: SourceQuery) -> Callable[[], Answer]:
        one, slow = self.measure.begin(self.name), cast("Slow", self.source)
        finish = call_in_span(one.span, partial(slow.begin, ports, request, asked))
        return lambda: measured_call(lambda: one, finish, self.tell)


Numbers = Mapping[str, float]


class Gauges:
    """Instruments shared by all open memories: counts are added up, and of waiting times the longest is reported."""

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
        """A callback that reads all memories and joins the numbers of the same name."""

        def answer(_: Any) -> list[Observation]:
            found: dict[str, list[float]] = {}
            for one in list(self._memories):
                for name, number in _asked(one, look).items():
                    found.setdefault(name, []).append(number)
            return [self._observation(label, name, join(each)) for name, each in found.items()]

        return answer

    def _so_far(self, look: Callable[[Ports], Numbers], label: str) -> Callable[[Any], list[Observation]]:
        """A callback that adds up the counts of all memories, including closed ones: a counter that falls would look
        like a reset."""
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
    """The numbers of one memory; empty if it was closed or its ledger fails."""
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
