"""What does OpenTelemetry hear of a memory? How long verbs, sources and the ledger took, and what came of them.

Of a user's there is nothing in it: no text, no cue, no id, no name of a user, and no message of an error, which may
quote them. Names are those of verbs, sources, operations of the ledger and classes of errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

from opentelemetry import metrics, trace

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.candidates.sources import Stages
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.flow.ports.source import Answer
from adaptive_memory_core.flow.ports.telemetry import OpenMemory
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.telemetry.gauges import Gauges
from adaptive_memory_core.telemetry.measure import Attributes, Measures, Outcome, measured
from adaptive_memory_core.telemetry.watched_ledger import watched_ledger
from adaptive_memory_core.telemetry.watched_sources import WatchedSource

T = TypeVar("T")
NAME = "adaptive_memory"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
HITS = (0, 1, 2, 3, 5, 10, 20, 50)


class OpenTelemetry:
    """Spans and metrics of the memories that are opened with it; one of these serves any number of memories.

    Without providers those that the program has set for the process are used; without any of those, nothing is kept.
    `attributes` are put on all spans and metrics: constants that tell memories apart, never anything of a user's.
    Needs the extra `otel`.
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
        measures = Measures(trace.get_tracer(NAME, tracer_provider=tracer_provider), own)
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

    def verb(self, name: str, flow: Flow[T]) -> Flow[T]:
        return measured(lambda: self._verbs.begin(name), flow, self._answered)

    def sources(self, stages: Stages) -> Stages:
        return [[WatchedSource(one, self._sources, _answer) for one in stage] for stage in stages]

    def ledger(self, ledger: Ledger) -> Ledger:
        return watched_ledger(ledger, self._operations)

    def opened(self, memory: OpenMemory) -> None:
        self._gauges.add(memory)

    def _answered(self, result: object) -> Outcome:
        """What a span says of a verb's answer."""
        if not isinstance(result, Recall):
            return Outcome()
        self._hits.record(len(result), self._own)
        said: Attributes = {"k": result.k, "hits": len(result), "candidates": result.candidates}
        return Outcome(attributes={**said, "policy": _hash(result.policy), "notes": len(result.trace)})


@lru_cache(maxsize=64)
def _hash(policy: Policy) -> str:
    return policy.hash


def _answer(answer: Answer) -> Outcome:
    """What a span says of a source's answer."""
    named = len(answer.named) + len(answer.found)
    return Outcome(None if answer.error is None else type(answer.error).__name__, {"named": named})


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
