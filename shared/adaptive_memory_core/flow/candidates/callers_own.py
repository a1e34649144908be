"""How are the caller's own channels asked? As a source: functions that return ids with a number each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adaptive_memory_core.channels.callers_own import numbers_of
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.foreign_calls import Begun, Outcome
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

    def ask(self, ports: Ports, request: Request, asked: Asked) -> Answer:
        """The ids it names."""
        return self.begin(ports, request, asked)()

    def begin(self, ports: Ports, request: Request, asked: Asked) -> Callable[[], Answer]:
        """The same as a call that is under way: others can be asked meanwhile."""
        seconds, function = request.policy.advanced.timeout_seconds, ports.channels[self.name]
        call = Begun(function.asked(seconds, request.cue.own_words, request.scope.name, request.candidates))
        return lambda: self._answer(call.outcome(), request, asked)

    def _answer(self, outcome: Outcome[Any], request: Request, asked: Asked) -> Answer:
        """Ids stand in the collection under themselves, or under the scope's form of them."""
        if outcome.error is not None:
            return Answer(self.name, error=outcome.error)
        try:
            numbers = numbers_of(outcome.value, request.candidates)
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
