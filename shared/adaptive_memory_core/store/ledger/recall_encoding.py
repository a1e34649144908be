"""How is a recall encoded for the log? As packed columns of integers; older lines are JSON."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import orjson

from adaptive_memory_core.records import Dropped, Scored
from adaptive_memory_core.reports import LoggedCandidate
from adaptive_memory_core.score.ranking import LeftOut
from adaptive_memory_core.store.ledger.packed_candidates import Columns, pack, unpack
from adaptive_memory_core.store.ledger.unreadable import decoding

PART_UNIT = 10_000  # parts and scores to four digits
SIGNAL_UNIT = 1_000_000  # signals to six: a replay ranks by them
FORGOTTEN = "superseded by a forgotten record"
Names = Callable[[Sequence[int]], Sequence[str | None]]


class Line(NamedTuple):
    """A recall's candidates by id, and what is said of them; `packed_candidates.with_keys` puts both together."""

    ids: Sequence[str]
    packed: bytes


def encode(kept: Sequence[Scored], dropped: Sequence[Dropped]) -> Line:
    """What a recall found; the scored ones stand first.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> from adaptive_memory_core.store.ledger.packed_candidates import with_keys
    >>> tea = Scored(Hit(Record("a", "tea"), 0.25, "a"), 0.5, {"similarity": 0.5}, {"similarity": 0.25})
    >>> line = encode([tea], [])
    >>> decode(with_keys(line.packed, [7]), names=lambda keys: line.ids)
    (LoggedCandidate(id='a', score=0.5, parts={'similarity': 0.5}, signals={'similarity': 0.25}, reason=None),)
    """
    if isinstance(dropped, LeftOut) and dropped.follows(kept):
        return _of_ranking(dropped)
    weak = [drop for drop in dropped if drop.scored is not None]
    scored = [*kept, *(drop.scored for drop in weak if drop.scored is not None)]
    unscored = [drop for drop in dropped if drop.scored is None]
    ids = [*(one.hit.record.id for one in scored), *(drop.id for drop in unscored)]
    reasons = [*(None for _ in kept), *(drop.reason for drop in weak), *(drop.reason for drop in unscored)]
    scores, parts = [one.score for one in scored], [one.parts for one in scored]
    return Line(ids, _packed(reasons, scores, parts, [one.signals for one in scored]))


def _of_ranking(left_out: LeftOut) -> Line:
    """All that was scored, from its columns: those that were kept stand before those that were not."""
    ranking, kept = left_out.ranking, left_out.begin
    reasons = [None] * kept + [left_out.reason] * len(left_out)
    rows = [ranking.scores, *ranking.parts.values(), *ranking.signals.values()]
    titles = [["score"], list(ranking.parts), list(ranking.signals)]
    given = np.array(rows, dtype=float).reshape(len(rows), len(ranking))[:, ranking.order]
    return Line(ranking.in_order(ranking.candidates.columns.ids), _in_units(reasons, titles, given))


def decode(line: bytes | str, names: Names) -> tuple[LoggedCandidate, ...]:
    """What `encode` wrote, to the digits it kept, or what earlier versions wrote; without what was forgotten.

    >>> columns = '"score":[5000],"parts":{"similarity":[5000]},"signals":{"similarity":[250000]}'
    >>> decode('{"id":["a"],"reason":[null],' + columns + '}', names=lambda keys: ())
    (LoggedCandidate(id='a', score=0.5, parts={'similarity': 0.5}, signals={'similarity': 0.25}, reason=None),)
    """
    with decoding("a line of the log"):
        return _decoded(line, names)


def _decoded(line: bytes | str, names: Names) -> tuple[LoggedCandidate, ...]:
    if isinstance(line, str):
        ids, columns = _of_json(line)
    else:
        keys, columns = unpack(line)
        ids = names(keys)
    scores, parts, signals = _numbers(columns)
    return tuple(
        LoggedCandidate(name, scores[row], parts[row], signals[row], columns.reasons[row])
        if row < len(scores)
        else LoggedCandidate(name, None, {}, {}, columns.reasons[row])
        for row, name in enumerate(ids)
        if name is not None
    )


def without(found: Sequence[LoggedCandidate], record_id: str) -> Line | None:
    """The same candidates less one, and less its name where it is the reason that another one was dropped; None where
    it is named nowhere.

    >>> new, old = LoggedCandidate("new", 0.5, {}, {}, None), LoggedCandidate("old", 0.5, {}, {}, "superseded by new")
    >>> without([new, old], "new").ids, without([new, old], "other")
    (['old'], None)
    """
    named = f"superseded by {record_id}"
    if not any(one.id == record_id or one.reason == named for one in found):
        return None
    kept = [one for one in found if one.id != record_id]
    scored = [one for one in kept if one.score is not None]
    reasons = [FORGOTTEN if one.reason == named else one.reason for one in kept]
    scores, parts = [one.score for one in scored if one.score is not None], [one.parts for one in scored]
    return Line([one.id for one in kept], _packed(reasons, scores, parts, [one.signals for one in scored]))


def _packed(
    reasons: Sequence[str | None],
    scores: Sequence[float],
    parts: Sequence[Mapping[str, float]],
    signals: Sequence[Mapping[str, float]],
) -> bytes:
    titles = [["score"], list(parts[0]) if parts else [], list(signals[0]) if signals else []]
    flat: list[float] = []
    own, raw = _values_of(titles[1]), _values_of(titles[2])
    for score, part, signal in zip(scores, parts, signals, strict=True):
        flat.append(score)
        flat += own(part)
        flat += raw(signal)
    width = 1 + len(titles[1]) + len(titles[2])
    return _in_units(reasons, titles, np.frombuffer(array("d", flat)).reshape(len(scores), width).T)


def _in_units(reasons: Sequence[str | None], titles: Sequence[Sequence[str]], given: Any) -> bytes:
    """What is said of the candidates; the rows are the titles in their order."""
    units = np.array([PART_UNIT] * (1 + len(titles[1])) + [SIGNAL_UNIT] * len(titles[2]), dtype=float)
    numbers = np.rint(np.ascontiguousarray(given) * units[:, None]).astype(np.int64)
    return pack(Columns(reasons, titles, numbers))


def _values_of(names: Sequence[str]) -> Callable[[Mapping[str, float]], Iterable[float]]:
    """What takes the values of these names out of a mapping, in that order."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: [values[name] for name in names]


def _numbers(columns: Columns) -> tuple[list[float], list[dict[str, float]], list[dict[str, float]]]:
    """Of each scored candidate: its score, its parts and its signals."""
    titles, rows = columns.titles, columns.numbers.T.tolist()
    end = 1 + len(titles[1])
    parts = [dict(zip(titles[1], (one / PART_UNIT for one in row[1:end]), strict=True)) for row in rows]
    signals = [dict(zip(titles[2], (one / SIGNAL_UNIT for one in row[end:]), strict=True)) for row in rows]
    return [row[0] / PART_UNIT for row in rows], parts, signals


def _of_json(line: str) -> tuple[Sequence[str | None], Columns]:
    columns: dict[str, Any] = orjson.loads(line)
    rows = [columns["score"], *columns["parts"].values(), *columns["signals"].values()]
    titles = [["score"], list(columns["parts"]), list(columns["signals"])]
    return columns["id"], Columns(columns["reason"], titles, np.array(rows, dtype=np.int64))
