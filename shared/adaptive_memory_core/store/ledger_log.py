"""How is a recall written down? As columns of whole numbers in JSON: small, quick, and readable by anyone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from adaptive_memory_core.reports import LoggedCandidate, LoggedRecall

PART_UNIT = 10_000  # parts and scores to four digits
SIGNAL_UNIT = 1_000_000  # signals to six: a replay ranks by them


def encode(candidates: Sequence[LoggedCandidate]) -> str:
    """The candidates as one JSON text; the columns of numbers hold the scored ones, which stand first.

    >>> encode([LoggedCandidate("a", 0.5, {"similarity": 0.5}, {"similarity": 0.25}, None)])
    '{"id":["a"],"reason":[null],"score":[5000],"parts":{"similarity":[5000]},"signals":{"similarity":[250000]}}'
    """
    scored = [one for one in candidates if one.score is not None]
    ordered = [*scored, *(one for one in candidates if one.score is None)]
    columns = {
        "id": [one.id for one in ordered],
        "reason": [one.reason for one in ordered],
        "score": [round(PART_UNIT * (one.score or 0.0)) for one in scored],
        "parts": _columns([one.parts for one in scored], PART_UNIT),
        "signals": _columns([one.signals for one in scored], SIGNAL_UNIT),
    }
    return orjson.dumps(columns).decode()


def decode(text: str) -> tuple[LoggedCandidate, ...]:
    """What `encode` wrote, to the digits it kept.

    >>> one = LoggedCandidate("a", 0.5, {"similarity": 0.5}, {"similarity": 0.25}, None)
    >>> decode(encode([one])) == (one,)
    True
    """
    columns: dict[str, Any] = orjson.loads(text)
    scores = columns["score"]
    return tuple(
        LoggedCandidate(
            name,
            scores[row] / PART_UNIT if row < len(scores) else None,
            _row(columns["parts"], row, PART_UNIT),
            _row(columns["signals"], row, SIGNAL_UNIT),
            columns["reason"][row],
        )
        for row, name in enumerate(columns["id"])
    )


def without(text: str, record_id: str) -> str:
    """The same candidates less one, and less its name where it is the reason that another one was dropped.

    >>> old = LoggedCandidate("old", None, {}, {}, "superseded by new")
    >>> new = LoggedCandidate("new", 0.5, {"similarity": 0.5}, {"similarity": 0.5}, None)
    >>> [(one.id, one.reason) for one in decode(without(encode([new, old]), "new"))]
    [('old', 'superseded by a forgotten record')]
    """
    named = f"superseded by {record_id}"
    kept = [one for one in decode(text) if one.id != record_id]
    return encode(
        [replace(one, reason="superseded by a forgotten record") if one.reason == named else one for one in kept]
    )


def logged_recall(row: tuple[Any, ...]) -> LoggedRecall:
    """A row of the table `recalls` (id, step, at, cue, k, policy hash, candidates) as a value."""
    recall_id, step, at, cue, k, policy_hash, candidates = row
    return LoggedRecall(recall_id, step, at, cue, k, policy_hash, decode(candidates))


def _columns(rows: Sequence[Mapping[str, float]], unit: int) -> dict[str, list[int]]:
    return {name: [round(unit * row[name]) for row in rows] for name in rows[0]} if rows else {}


def _row(columns: Mapping[str, Sequence[int]], row: int, unit: int) -> dict[str, float]:
    return {name: column[row] / unit for name, column in columns.items() if row < len(column)}
