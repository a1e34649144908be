"""How are the caller's own channels asked? As a source: functions that return ids with a number each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adaptive_memory_core.channels.callers_own import numbers_of
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.foreign_calls import ask_foreign
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Asked
from adaptive_memory_core.identity import places_of
from adaptive_memory_core.score.candidates import Candidates


@dataclass(frozen=True, slots=True)
class CallersOwn:
    """One channel of the caller's, under the name it was given."""

    name: str

    def wanted(self, request: Request) -> bool:
        return self.name in request.policy.ways and bool(request.cue.own_words.strip())

    def ask(self, ports: Ports, request: Request, asked: Asked) -> Flow[Answer]:
        """The ids it names. They stand in the collection under themselves, or under the scope's form of them."""
        limit, seconds = request.candidates, request.policy.channel_timeout_seconds
        function = ports.channels[self.name]
        question = function.asked(seconds, request.cue.own_words, request.scope.name, limit)
        (outcome,) = yield from ask_foreign([question])
        if outcome.error is not None:
            return Answer(self.name, error=outcome.error)
        try:
            numbers = numbers_of(outcome.value, limit)
        except InvalidInputError as error:
            return Answer(self.name, error=error)
        places = [place for one in numbers for place in places_of(request.scope, one)]
        named = places if asked.passing is None else [one for one in places if one in asked.passing]
        return Answer(self.name, named=named, asked_for=list(numbers), leads=_Numbers(self.name, numbers))


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Its number for each candidate; nothing speaks for one that it did not name."""

    name: str
    numbers: Mapping[str, float]

    def __call__(self, these: Candidates) -> dict[str, list[float]]:
        return {self.name: [self.numbers.get(hit.record.id, 0.0) for hit in these]}
