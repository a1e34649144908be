"""The caller's channels as sources: functions that return ids with a number each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.foreign_calls import Begun, Outcome
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, SourceQuery
from adaptive_memory_core.identity import stored_ids_of
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.sources.request import Request

ROUNDING = 1e-6  # how far a number may be outside [0, 1]


def numbers_of(given: Any, limit: int) -> dict[str, float]:
    """The `limit` best ids of a channel with their numbers in [0, 1], best first; for repeated ids, the highest number.

    >>> numbers_of([("a", 0.25), ("b", 1), ("a", 0.5)], 2)
    {'b': 1.0, 'a': 0.5}
    >>> numbers_of({"a": 7}, 2)
    Traceback (most recent call last):
    adaptive_memory_core.errors.InvalidInputError: it gave 7 for 'a'. Give a number in [0, 1] for each id.
    """
    pairs = given.items() if isinstance(given, Mapping) else given
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise _refused(given)
    best: dict[str, float] = {}
    for pair in pairs:
        if (
            isinstance(pair, str)
            or not isinstance(pair, tuple | list)
            or len(pair) != 2
            or not isinstance(pair[0], str)
        ):
            raise _refused(pair)
        if not pair[0].isascii() and any("\ud800" <= one <= "\udfff" for one in pair[0]):
            raise InvalidInputError(f"it gave the id {shown(pair[0])}, which is not Unicode. Give ids of records.")
        best[pair[0]] = max(best.get(pair[0], 0.0), _share(*pair))
    return dict(nlargest(limit, best.items(), key=lambda one: one[1]))


def _share(name: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not -ROUNDING <= number <= 1.0 + ROUNDING:
        raise InvalidInputError(f"it gave {shown(value)} for {shown(name)}. Give a number in [0, 1] for each id.")
    return min(1.0, max(0.0, number))


def _refused(given: Any) -> InvalidInputError:
    return InvalidInputError(f"it gave {shown(given)}. Give a mapping from ids to numbers in [0, 1], or pairs of them.")


@dataclass(frozen=True, slots=True)
class CallersOwn:
    """One of the caller's channels, under its given name."""

    name: str

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """Call the channel and return its ids."""
        return self.begin(ports, request, asked)()

    def begin(self, ports: Ports, request: Request, asked: SourceQuery) -> Callable[[], Answer]:
        """Start the call, so that other sources can be asked in the meantime; the returned function waits for it."""
        seconds, function = request.policy.advanced.timeout_seconds, ports.channels[self.name]
        call = Begun(function.asked(seconds, request.cue.own_words, request.scope.name, request.candidates))
        return lambda: self._answer(call.outcome(), request, asked)

    def _answer(self, outcome: Outcome[Any], request: Request, asked: SourceQuery) -> Answer:
        """The answer with the ids as they may be stored in the collection: unchanged, or scoped to the user."""
        if outcome.error is not None:
            return Answer(self.name, error=outcome.error)
        try:
            numbers = numbers_of(outcome.value, request.candidates)
        except InvalidInputError as error:
            return Answer(self.name, error=error)
        places = [place for one in numbers for place in stored_ids_of(request.scope, one)]
        named = places if asked.passing is None else [one for one in places if one in asked.passing]
        return Answer(self.name, named=named, asked_for=list(numbers), leads=_Numbers(self.name, numbers))


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The channel's number for each candidate; 0 for candidates that it did not name."""

    name: str
    numbers: Mapping[str, float]

    def __call__(self, these: Candidates) -> dict[str, list[float]]:
        return {self.name: [self.numbers.get(one, 0.0) for one in these.columns.ids]}
