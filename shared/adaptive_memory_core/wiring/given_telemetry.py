"""Who watches a memory? Nobody, unless that was asked for."""

from __future__ import annotations

from functools import cache

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.ports.models import UNWATCHED, Telemetry
from adaptive_memory_core.shown_in_errors import shown

PARTS = ("verb", "sources", "ledger", "opened")


def as_telemetry(given: object) -> Telemetry:
    """What was given; for True, OpenTelemetry with what the program has set up for the process.

    >>> as_telemetry(None) is as_telemetry(False) is UNWATCHED
    True
    >>> as_telemetry("on")
    Traceback (most recent call last):
    adaptive_memory_core.errors.InvalidInputError: telemetry is 'on'. Give True, or \
adaptive_memory_core.telemetry.OpenTelemetry(...).
    """
    if given is None or given is False:
        return UNWATCHED
    if given is True:
        return _of_the_process()
    if isinstance(given, type) or not all(callable(getattr(given, name, None)) for name in PARTS):
        raise InvalidInputError(
            f"telemetry is {shown(given)}. Give True, or adaptive_memory_core.telemetry.OpenTelemetry(...)."
        )
    return given  # type: ignore[return-value] # it has all of it


@cache
def _of_the_process() -> Telemetry:
    from adaptive_memory_core.telemetry import OpenTelemetry

    return OpenTelemetry()
