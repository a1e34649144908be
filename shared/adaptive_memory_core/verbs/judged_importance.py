"""How important is a record whose importance a judge is to say? The judge is asked once, before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adaptive_memory_core.arguments.values import share
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.calls.foreign_calls import is_coroutine
from adaptive_memory_core.flow.ports.judges import SaliencePort, Salient
from adaptive_memory_core.learn.salience import USUAL
from adaptive_memory_core.records import NewRecord


def judge_of(item: object) -> SaliencePort | None:
    """The judge that stands in the place of an importance, if there is one."""
    given: Any = item.get("importance") if isinstance(item, Mapping) else getattr(item, "importance", None)
    return given if callable(given) and not isinstance(given, type) else None


def unjudged(item: Any) -> Any:
    """What was given, with the usual importance as long as nobody has said another."""
    return {**item, "importance": USUAL} if isinstance(item, Mapping) else replace(item, importance=USUAL)


def judged(record: NewRecord, judge: SaliencePort) -> Flow[NewRecord]:
    """The record as important as the judge says; as usual where the judge does not know."""
    if is_coroutine(judge):
        raise InvalidInputError(
            "importance is an async function. Await it before, and give the number, or give one that is not async."
        )
    said = yield from ask(judge, record.text)
    value = said.importance if isinstance(said, Salient) else said
    return replace(record, importance=share(USUAL if value is None else value, "importance"))
