"""How is one call measured? A span from its begin to its end, and its duration in a histogram."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from opentelemetry import context as contexts
from opentelemetry.metrics import Histogram
from opentelemetry.trace import Span, Status, StatusCode, Tracer, get_current_span, set_span_in_context

from adaptive_memory_core.flow.calls.drive import Call, Flow
from adaptive_memory_core.flow.calls.foreign_calls import Question, Questions, Twins

T = TypeVar("T")
Attributes = dict[str, str | int]


class Outcome(NamedTuple):
    """What came of a call: the class of the error it met, if any, and what its span says besides."""

    error: str | None = None
    attributes: Mapping[str, str | int] = {}


@dataclass(frozen=True, slots=True)
class Measures:
    """Where spans are made, and what stands on everything."""

    tracer: Tracer
    own: Attributes

    def of(self, durations: Histogram, kind: str, spans: str) -> Measure:
        return Measure(self, durations, kind, spans)


@dataclass(frozen=True, slots=True)
class Measure:
    """Measures calls of one kind: `kind` is the attribute that says which, and names of spans begin with `spans`."""

    shared: Measures
    durations: Histogram
    kind: str
    spans: str

    def begin(self, name: str) -> Measurement:
        labels: Attributes = {**self.shared.own, self.kind: name}
        span = self.shared.tracer.start_span(f"{self.spans}{name}", attributes=labels, record_exception=False)
        return Measurement(self, labels, span)

    def begin_within(self, name: str) -> Measurement:
        """Without a span of its own where it would be nobody's child, as all that the background does."""
        if get_current_span().is_recording():
            return self.begin(name)
        return Measurement(self, {**self.shared.own, self.kind: name}, None)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One call that is under way."""

    measure: Measure
    labels: Attributes
    span: Span | None
    began: float = field(default_factory=time.perf_counter)

    def end(self, outcome: Outcome) -> None:
        seconds = time.perf_counter() - self.began
        failed = {} if outcome.error is None else {"error.type": outcome.error}
        self.measure.durations.record(seconds, {**self.labels, **failed})
        if self.span is not None:
            self.span.set_attributes({**outcome.attributes, **failed})
            if failed:
                self.span.set_status(Status(StatusCode.ERROR))
            self.span.end()


def measured(begin: Callable[[], Measurement], flow: Flow[T], tell: Callable[[T], Outcome]) -> Flow[T]:
    """The flow, measured from its first step to its end; what it does belongs to its span."""
    one = begin()
    try:
        result = yield from _under(one.span, flow)
    except BaseException as error:
        one.end(Outcome(type(error).__name__))
        raise
    one.end(tell(result))
    return result


def _under(span: Span | None, flow: Flow[T]) -> Flow[T]:
    """Drive a flow with its span as the current one, in whichever thread each of its steps runs."""
    if span is None:
        result = yield from flow
        return result
    here = set_span_in_context(span)
    step: Callable[[], Any] = lambda: flow.send(None)  # noqa: E731 - it is another one for every step
    while True:
        try:
            call = _within(here, step)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        try:
            answer = yield _call_within(here, call)
        except BaseException as error:  # noqa: BLE001 - it goes back into the flow, which decides
            step = _raising(flow, error)
        else:
            step = _sending(flow, answer)


def _sending(flow: Flow[T], answer: object) -> Callable[[], Call]:
    return lambda: flow.send(answer)


def _raising(flow: Flow[T], error: BaseException) -> Callable[[], Call]:
    return lambda: flow.throw(error)


def _within(here: Any, call: Callable[[], T]) -> T:
    token = contexts.attach(here)
    try:
        return call()
    finally:
        contexts.detach(token)


def _call_within(here: Any, call: Any) -> Any:
    """The call, made with the span as the current one. Those that drivers know stay what they are."""
    if isinstance(call, Questions):
        return Questions([_question(here, one) for one in call.questions])
    if isinstance(call, Twins):
        return Twins(_question(here, call.blocking), _question(here, call.later))
    return lambda: _within(here, call)


def _question(here: Any, one: Question) -> Question:
    return replace(one, call=lambda: _within(here, one.call))
