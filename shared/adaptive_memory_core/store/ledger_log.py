"""How is a recall written down? As columns of whole numbers in JSON: small, quick, and readable by anyone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from adaptive_memory_core.reports import LoggedCandidate, LoggedRecall

PART_UNIT = 10_000  # parts and scores to four digits
SIGNAL_UNIT = 1_000_000  # signals to six: a replay ranks by them


def encode(candidates: Sequence[LoggedCandidate]) -> str:
    """The candidates as one JSON text.

    >>> encode([LoggedCandidate("a", 0.5, {"similarity": 0.5}, {"similarity": 0.25}, None)])
    '{"id":["a"],"score":[5000],"parts":{"similarity":[5000]},"signals":{"similarity":[250000]},"reason":[null]}'
    """
    parts = next((one.parts for one in candidates if one.parts), {})
    signals = next((one.signals for one in candidates if one.signals), {})
    columns = {
        "id": [one.id for one in candidates],
        "score": [_whole(one.score, PART_UNIT) for one in candidates],
        "parts": {name: [_whole(one.parts.get(name), PART_UNIT) for one in candidates] for name in parts},
        "signals": {name: [_whole(one.signals.get(name), SIGNAL_UNIT) for one in candidates] for name in signals},
        "reason": [one.reason for one in candidates],
    }
    return orjson.dumps(columns).decode()


def decode(text: str) -> tuple[LoggedCandidate, ...]:
    """What `encode` wrote, to the digits it kept.

    >>> one = LoggedCandidate("a", 0.5, {"similarity": 0.5}, {"similarity": 0.25}, None)
    >>> decode(encode([one])) == (one,)
    True
    """
    columns: dict[str, Any] = orjson.loads(text)
    return tuple(
        LoggedCandidate(
            name,
            _real(columns["score"][row], PART_UNIT),
            _row(columns["parts"], row, PART_UNIT),
            _row(columns["signals"], row, SIGNAL_UNIT),
            columns["reason"][row],
        )
        for row, name in enumerate(columns["id"])
    )


def without(text: str, record_id: str) -> str:
    """The same candidates less one, and less every mention of it in the reasons of the others."""
    kept = [one for one in decode(text) if one.id != record_id]
    return encode([_unmention(one, record_id) for one in kept])


def _unmention(one: LoggedCandidate, record_id: str) -> LoggedCandidate:
    if one.reason is None or record_id not in one.reason:
        return one
    return LoggedCandidate(one.id, one.score, one.parts, one.signals, one.reason.replace(record_id, "a forgotten record"))


def logged_recall(row: tuple[Any, ...]) -> LoggedRecall:
    """A row of the table `recalls` (id, step, at, cue, k, policy hash, candidates) as a value."""
    return LoggedRecall(*row[:6], candidates=decode(row[6]))


def _whole(value: float | None, unit: int) -> int | None:
    return None if value is None else round(value * unit)


def _real(value: int | None, unit: int) -> float | None:
    return None if value is None else value / unit


def _row(columns: dict[str, list[int | None]], row: int, unit: int) -> dict[str, float]:
    return {name: column[row] / unit for name, column in columns.items() if column[row] is not None}
