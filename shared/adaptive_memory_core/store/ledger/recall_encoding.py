"""How is a recall written down? As columns of whole numbers in JSON: small, quick, and readable by anyone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from adaptive_memory_core.records import Dropped, Scored
from adaptive_memory_core.reports import LoggedCandidate, LoggedRecall

PART_UNIT = 10_000  # parts and scores to four digits
SIGNAL_UNIT = 1_000_000  # signals to six: a replay ranks by them


def encode(kept: Sequence[Scored], dropped: Sequence[Dropped]) -> str:
    """What a recall found as one JSON text; the columns of numbers hold the scored ones, which stand first.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> tea = Scored(Hit(Record("a", "tea"), 0.25, "a"), 0.5, {"similarity": 0.5}, {"similarity": 0.25})
    >>> encode([tea], [])
    '{"id":["a"],"reason":[null],"score":[5000],"parts":{"similarity":[5000]},"signals":{"similarity":[250000]}}'
    """
    weak = [drop for drop in dropped if drop.scored is not None]
    scored = [*kept, *(drop.scored for drop in weak if drop.scored is not None)]
    unscored = [drop for drop in dropped if drop.scored is None]
    return _text(
        [*(one.hit.record.id for one in scored), *(drop.id for drop in unscored)],
        [*(None for _ in kept), *(drop.reason for drop in weak), *(drop.reason for drop in unscored)],
        [one.score for one in scored],
        [one.parts for one in scored],
        [one.signals for one in scored],
    )


def decode(text: str) -> tuple[LoggedCandidate, ...]:
    """What `encode` wrote, to the digits it kept.

    >>> decode(_text(["a"], [None], [0.5], [{"similarity": 0.5}], [{"similarity": 0.25}]))
    (LoggedCandidate(id='a', score=0.5, parts={'similarity': 0.5}, signals={'similarity': 0.25}, reason=None),)
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

    >>> text = _text(["new", "old"], [None, "superseded by new"], [0.5], [{"similarity": 0.5}], [{"similarity": 0.5}])
    >>> [(one.id, one.reason) for one in decode(without(text, "new"))]
    [('old', 'superseded by a forgotten record')]
    """
    named = f"superseded by {record_id}"
    kept = [one for one in decode(text) if one.id != record_id]
    scored = [one for one in kept if one.score is not None]
    return _text(
        [one.id for one in kept],
        ["superseded by a forgotten record" if one.reason == named else one.reason for one in kept],
        [one.score for one in scored if one.score is not None],
        [one.parts for one in scored],
        [one.signals for one in scored],
    )


def logged_recall(row: tuple[Any, ...]) -> LoggedRecall:
    """A row of the table `recalls` (id, step, at, cue, k, policy hash, candidates, turn) as a value."""
    recall_id, step, at, cue, k, policy_hash, candidates, turn = row
    return LoggedRecall(recall_id, step, at, cue, k, policy_hash, decode(candidates), turn)


def _text(
    ids: Sequence[str],
    reasons: Sequence[str | None],
    scores: Sequence[float],
    parts: Sequence[Mapping[str, float]],
    signals: Sequence[Mapping[str, float]],
) -> str:
    columns = {
        "id": ids,
        "reason": reasons,
        "score": [round(PART_UNIT * score) for score in scores],
        "parts": _columns(parts, PART_UNIT),
        "signals": _columns(signals, SIGNAL_UNIT),
    }
    return orjson.dumps(columns).decode()


def _columns(rows: Sequence[Mapping[str, float]], unit: int) -> dict[str, list[int]]:
    return {name: [round(unit * row[name]) for row in rows] for name in rows[0]} if rows else {}


def _row(columns: Mapping[str, Sequence[int]], row: int, unit: int) -> dict[str, float]:
    return {name: column[row] / unit for name, column in columns.items() if row < len(column)}
