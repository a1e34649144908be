"""Measurement of one call: a span and a duration; and a ledger whose every operation is measured."""

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
    """What came of a call: the class of the error it met, if any, and what its span says besides."""

    error: str | None = None
    attributes: Mapping[str, str | int] = {}


@dataclass(frozen=True, slots=True)
class Instruments:
    """The maker of spans, and the attributes that all of them have."""

    tracer: Tracer
    own: Attributes

    def of(self, durations: Histogram, kind: str, spans: str) -> CallMeasure:
        return CallMeasure(self, durations, kind, spans)


@dataclass(frozen=True, slots=True)
class CallMeasure:
    """Measures calls of one kind: `kind` is the attribute that says which, and names of spans begin with `spans`."""

    shared: Instruments
    durations: Histogram
    kind: str
    spans: str

    def begin(self, name: str) -> Measurement:
        labels: Attributes = {**self.shared.own, self.kind: name}
        span = self.shared.tracer.start_span(f"{self.spans}{name}", attributes=labels, record_exception=False)
        return Measurement(self, labels, span)

    def begin_within(self, name: str) -> Measurement:
        """Without a span if it would have no parent, as for all background work."""
        if get_current_span().is_recording():
            return self.begin(name)
        return Measurement(self, {**self.shared.own, self.kind: name}, None)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One call that is under way."""

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
    """What the call gives, measured from its begin to its end; what it does belongs to its span."""
    one = begin()
    try:
        result = call_in_span(one.span, call)
    except BaseException as error:
        one.end(CallOutcome(type(error).__name__))
        raise
    one.end(tell(result))
    return result


def call_in_span(span: Span | None, call: Callable[[], T]) -> T:
    """What the call gives, made with the span as the current one."""
    if span is None:
        return call()
    token = contexts.attach(set_span_in_context(span))
    try:
        return call()
    finally:
        contexts.detach(token)


def watched_ledger(ledger: Ledger, measure: CallMeasure) -> Ledger:
    """The ledger, watched."""
    return cast("Ledger", _Watched(ledger, measure, {name: _Part(ledger, name, measure) for name in PARTS}))


class _Watched:
    """A ledger whose parts are replaced by these. It reports the ledger's class as its own, because that is how a
    ledger in a file is distinguished from others."""

    def __init__(self, ledger: Ledger, measure: CallMeasure, parts: dict[str, Any]) -> None:
        self.__dict__.update(parts, _ledger=ledger, _measure=measure)

    @property  # type: ignore[misc] # it may be read only
    def __class__(self) -> Any:
        return type(self.__dict__["_ledger"])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_ledger"], name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with timed(self.__dict__["_measure"], "transaction"), self.__dict__["_ledger"].transaction():
            yield


class _Part:
    """One part of a ledger; what is called of it is timed."""

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
    """What is done within is one operation of that name."""
    one = measure.begin_within(name)
    try:
        yield
    except BaseException as error:
        one.end(CallOutcome(type(error).__name__))
        raise
    one.end(CallOutcome())
