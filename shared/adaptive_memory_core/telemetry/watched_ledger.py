"""How is a ledger watched? Each part of it is handed out with every operation timed, whichever ledger it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, cast

from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.telemetry.measure import Measure, Outcome

FLAGS = {"read_only", "outlives_process"}
PARTS = {name for name, one in vars(Ledger).items() if isinstance(one, property)} - FLAGS


def watched_ledger(ledger: Ledger, measure: Measure) -> Ledger:
    """The ledger, watched."""
    return cast("Ledger", _Watched(ledger, measure, {name: _Part(ledger, name, measure) for name in PARTS}))


class _Watched:
    """What a ledger has, with its parts in the place of its own. It says that it is of the ledger's class, for that is
    how a ledger in a file is told from others."""

    def __init__(self, ledger: Ledger, measure: Measure, parts: dict[str, Any]) -> None:
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

    def __init__(self, ledger: Ledger, name: str, measure: Measure) -> None:
        self._ledger, self._name, self._measure = ledger, name, measure
        self._timed = cache(self._timed_anew)

    def __getattr__(self, name: str) -> Any:
        value = getattr(getattr(self._ledger, self._name), name)
        return self._timed(name, value) if callable(value) else value

    def _timed_anew(self, name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(operation)
        def call(*args: Any, **named: Any) -> Any:
            with timed(self._measure, f"{self._name}.{name}"):
                return operation(*args, **named)

        return call


@contextmanager
def timed(measure: Measure, name: str) -> Iterator[None]:
    """What is done within is one operation of that name."""
    one = measure.begin_within(name)
    try:
        yield
    except BaseException as error:
        one.end(Outcome(type(error).__name__))
        raise
    one.end(Outcome())
