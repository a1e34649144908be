"""Measurement of one call by a span and a duration, and a wrapper that measures every operation of a ledger."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import Any, NamedTuple, TypeVar, cast

from opentelemetry import context as contexts
from opentelemetry.metrics import Histogram
from opentelemetry.trace import Span, Status, StatusCode, Tracer, get_current_span, set_span_in_context

from adaptive_memory_core.store.ledger.sql_ledger import PARTS, Ledger

T = TypeVar("T")
Attributes = dict[str, str | int]


class CallOutcome(NamedTuple):
    """The outcome of a call: the class of its error, if any, and further attributes for its span."""

    error: str | None = None
    attributes: Mapping[str, str | int] = {}


@dataclass(frozen=True, slots=True)
class Instruments:
    """The tracer, and the attributes of all spans."""

    tracer: Tracer
    own: Attributes

    def of(self, durations: Histogram, kind: str, spans: str) -> CallMeasure:
        return CallMeasure(self, durations, kind, spans)


@dataclass(frozen=True, slots=True)
class CallMeasure:
    """Measures calls of one kind. The attribute `kind` contains the call's name, and span names begin with `spans`."""

    shared: Instruments
    durations: Histogram
    kind: str
    spans: str

    def begin(self, name: str) -> Measurement:
        labels: Attributes = {**self.shared.own, self.kind: name}
        span = self.shared.tracer.start_span(f"{self.spans}{name}", attributes=labels, record_exception=False)
        return Measurement(self, labels, span)

    def begin_within(self, name: str) -> Measurement:
        """Begin a measurement, without a span if it would have no parent, as in background work."""
        if get_current_span().is_recording():
            return self.begin(name)
        return Measurement(self, {**self.shared.own, self.kind: name}, None)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One running call."""

    measure: CallMeasure
    labels: Attributes
    span: Span | None
    began: float = field(default_factory=time.perf_counter)

    def end(self, outcome: CallOutcome) -> None:
        seconds = time.perf_counter() - self.began
        failed = {} if outcome.error is None else {"error.type": outcome.error}
        self.measure.durations.record(seconds, {**self.labels, **failed})
        if self.span is not None:
            self.span.set_attributes({**outcome.attributes, **failed})
            if failed:
                self.span.set_status(Status(StatusCode.ERROR))
            self.span.end()


def measured_call(begin: Callable[[], Measurement], call: Callable[[], T], tell: Callable[[T], CallOutcome]) -> T:
    """The result of the call, measured from `begin` to its end. Spans that it starts are children of its span."""
    one = begin()
    try:
        result = call_in_span(one.span, call)
    except BaseException as error:
        one.end(CallOutcome(type(error).__name__))
        raise
    one.end(tell(result))
    return result


def call_in_span(span: Span | None, call: Callable[[], T]) -> T:
    """The result of the call, made with this span as the current one."""
    if span is None:
        return call()
    token = contexts.attach(set_span_in_context(span))
    try:
        return call()
    finally:
        contexts.detach(token)


def watched_ledger(ledger: Ledger, measure: CallMeasure) -> Ledger:
    """The ledger with every operation measured."""
    return cast("Ledger", _Watched(ledger, measure, {name: _Part(ledger, name, measure) for name in PARTS}))


class _Watched:
    """A ledger with replaced parts. It reports the ledger's class as its own, because code distinguishes a ledger in a
    file from others by its class."""

    def __init__(self, ledger: Ledger, measure: CallMeasure, parts: dict[str, Any]) -> None:
        self.__dict__.update(parts, _ledger=ledger, _measure=measure)

    @property  # type: ignore[misc] # it may be read only
    def __class__(self) -> Any:
        return type(self.__dict__["_ledger"])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_ledger"], name)

    @contextmanager
    def transaction(self, *, unheard: bool = False) -> Iterator[None]:
        with timed(self.__dict__["_measure"], "transaction"), self.__dict__["_ledger"].transaction(unheard=unheard):
            yield


class _Part:
    """One part of a ledger with timed methods."""

    def __init__(self, ledger: Ledger, name: str, measure: CallMeasure) -> None:
        self._ledger, self._name, self._measure = ledger, name, measure
        self._timed = cache(self._make_timed)

    def __getattr__(self, name: str) -> Any:
        value = getattr(getattr(self._ledger, self._name), name)
        return self._timed(name, value) if callable(value) else value

    def _make_timed(self, name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(operation)
        def call(*args: Any, **named: Any) -> Any:
            with timed(self._measure, f"{self._name}.{name}"):
                return operation(*args, **named)

        return call


@contextmanager
def timed(measure: CallMeasure, name: str) -> Iterator[None]:
    """Measure the body as one operation of this name."""
    one = measure.begin_within(name)
    try:
        yield
    except BaseException as error:
        one.end(CallOutcome(type(error).__name__))
        raise
    one.end(CallOutcome())
