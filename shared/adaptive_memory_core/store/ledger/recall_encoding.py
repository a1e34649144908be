"""How is a recall encoded for the log? As packed columns of integers; older lines are JSON."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import orjson

from adaptive_memory_core.learn.logged_reads import SHARE_UNIT
from adaptive_memory_core.learn.logged_state import (
    DERIVED,
    NO_BASIS,
    NO_COLUMNS,
    STRUCK_OUT,
    UNSCORED,
    Basis,
    StatesThen,
    columns_of,
)
from adaptive_memory_core.learn.logged_state import Columns as Then
from adaptive_memory_core.records import Dropped, Hit, Scored
from adaptive_memory_core.reports import LoggedCandidate
from adaptive_memory_core.score.candidates import columns_of as candidates_of
from adaptive_memory_core.score.ranking import LeftOut, Table
from adaptive_memory_core.store.ledger.packed_candidates import Columns, pack, unpack
from adaptive_memory_core.store.ledger.unreadable import decoding

PART_UNIT = 10_000  # parts and scores to four digits
SIGNAL_UNIT = SHARE_UNIT  # signals to six: a replay ranks by them
FORGOTTEN = "superseded by a forgotten record"
Names = Callable[[Sequence[int]], Sequence[str | None]]


class Line(NamedTuple):
    """A recall's candidates by id, and what is said of them; `packed_candidates.with_keys` puts both together."""

    ids: Sequence[str]
    packed: bytes


def encode(kept: Sequence[Scored], dropped: Sequence[Dropped], basis: Basis = NO_BASIS, *, at: float = 0.0) -> Line:
    """What a recall found: the scored ones first, then what another policy would have scored, then the others. `at` is
    the recall's time.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> from adaptive_memory_core.store.ledger.packed_candidates import with_keys
    >>> tea = Scored(Hit(Record("a", "tea"), 0.25, "a"), 0.5, {"similarity": 0.5}, {"similarity": 0.25})
    >>> line = encode([tea], [])
    >>> decode(with_keys(line.packed, [7]), names=lambda keys: line.ids)
    (LoggedCandidate(id='a', score=0.5, parts={'similarity': 0.5}, signals={'similarity': 0.25}, reason=None),)
    """
    if isinstance(dropped, LeftOut) and dropped.follows(kept):
        return _of_ranking(dropped, basis, at)
    weak = [drop for drop in dropped if drop.scored is not None]
    scored = [*kept, *(drop.scored for drop in weak if drop.scored is not None)]
    unscored = [drop for drop in dropped if drop.scored is None]
    if any(drop.hit is not None for drop in unscored):
        unscored.sort(key=_is_bare)
        scored += [_unblended(drop.hit, scored) for drop in unscored if drop.hit is not None]
    ids = [*(one.hit.record.id for one in scored), *(drop.id for drop in unscored if drop.hit is None)]
    reasons = [*(None for _ in kept), *(drop.reason for drop in weak), *(drop.reason for drop in unscored)]
    parts, signals = _columns([one.parts for one in scored]), _columns([one.signals for one in scored])
    seen = candidates_of([one.hit for one in scored]).columns
    states = StatesThen(seen.stored_ids, seen.shared, seen.reads, seen.importances)
    then = columns_of(states, signals, basis, scored=len(kept) + len(weak), at=at)
    return Line(ids, _packed(reasons, [one.score for one in scored], parts, signals, then))


def _of_ranking(left_out: LeftOut, basis: Basis, at: float) -> Line:
    """All that was scored, from its columns: what was kept stands before what was left out. The columns are put in
    order as one table."""
    ranking = left_out._ranking
    columns, reasons = ranking.candidates.columns, [None] * left_out.begin + [left_out.reason] * len(left_out)
    states = StatesThen(columns.stored_ids, columns.shared, columns.reads, columns.importances)
    then = columns_of(states, ranking.signals, basis, scored=len(ranking), at=at)
    packed = _packed(reasons, ranking.scores, ranking.parts, ranking.signals, then, ranking.order)
    return Line(ranking.in_order(columns.ids), packed)


def _columns(rows: Sequence[Mapping[str, float]]) -> Table:
    """What the rows say, a column for each name of the first."""
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _is_bare(drop: Dropped) -> bool:
    return drop.hit is None


def _unblended(hit: Hit, scored: Sequence[Scored]) -> Scored:
    """A hit that was not scored, with the same names as those that were."""
    known = {"similarity": hit.similarity, **hit.leads}
    if not scored:
        return Scored(hit, 0.0, {}, known)
    first = scored[0]
    return Scored(hit, 0.0, dict.fromkeys(first.parts, 0.0), {**dict.fromkeys(first.signals, 0.0), **known})


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
    rows, reasons = _rows(columns), columns.reasons
    return tuple(
        _candidate(name, reasons[row], rows[row])
        if row < len(rows)
        else LoggedCandidate(name, None, {}, {}, reasons[row])
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
    rows = [one for one in kept if one.score is not None or one.signals]
    reasons = [FORGOTTEN if one.reason == named else one.reason for one in kept]
    first = rows[0] if rows else None
    nothing = ({}, {}) if first is None else (dict.fromkeys(first.parts, 0.0), dict.fromkeys(first.signals, 0.0))
    parts, signals = [{**nothing[0], **one.parts} for one in rows], [{**nothing[1], **one.signals} for one in rows]
    states = [{**one.then, STRUCK_OUT: one.then.get(STRUCK_OUT, 0) + 1} for one in rows]
    told = list(zip(*(one.values() for one in states), strict=True))
    then = Then(list(states[0]), told) if states else NO_COLUMNS
    scores = [one.score or 0.0 for one in rows]
    return Line([one.id for one in kept], _packed(reasons, scores, _columns(parts), _columns(signals), then))


def _packed(
    reasons: Sequence[str | None],
    scores: Sequence[float],
    parts: Table,
    signals: Table,
    then: Then,
    order: Sequence[int] | None = None,
) -> bytes:
    """The candidates' numbers, packed; `order` says where each place's stand, unless they stand there already."""
    titles = [["rest"], list(parts), list(signals), *([list(then.titles)] if then.titles else [])]
    rows = (scores, *parts.values(), *signals.values(), *then.numbers)
    given = np.frombuffer(b"".join([array("d", row) for row in rows]))
    scaled = given.reshape(len(rows), len(scores)) * _units(1 + len(parts), len(signals), len(then.titles))
    numbers = np.rint(scaled if order is None else scaled.take(order, axis=1)).astype(np.int64)
    numbers[0] -= numbers[1 : 1 + len(parts)].sum(axis=0)
    return pack(Columns(reasons, titles, numbers))


@lru_cache(maxsize=64)
def _units(parts: int, signals: int, others: int) -> Any:
    """What one is in each column."""
    return np.array([PART_UNIT] * parts + [SIGNAL_UNIT] * signals + [1] * others, dtype=float)[:, None]


class _Row(NamedTuple):
    """The numbers of one candidate."""

    score: float
    parts: dict[str, float]
    signals: dict[str, float]
    then: dict[str, int]


def _rows(columns: Columns) -> list[_Row]:
    """Of each candidate with numbers: its score, its parts, its signals, and what a replay needs besides."""
    titles, rows = columns.titles, columns.numbers.T.tolist()
    end = 1 + len(titles[1])
    last = end + len(titles[2])
    if titles[0] == ["rest"]:  # of the score, beyond its parts; earlier versions have the score
        rows = [[sum(row[:end]), *row[1:]] for row in rows]
    more = titles[3] if len(titles) > len(("score", "parts", "signals")) else ()  # earlier versions have none
    return [
        _Row(
            row[0] / PART_UNIT,
            dict(zip(titles[1], (one / PART_UNIT for one in row[1:end]), strict=True)),
            dict(zip(titles[2], (one / SIGNAL_UNIT for one in row[end:last]), strict=True)),
            dict(zip(more, row[last:], strict=True)),
        )
        for row in rows
    ]


def _candidate(name: str, reason: str | None, row: _Row) -> LoggedCandidate:
    if not row.then.get("via", 0) & UNSCORED:
        return LoggedCandidate(name, row.score, row.parts, row.signals, reason, row.then)
    known = {title: value for title, value in row.signals.items() if title not in DERIVED}
    return LoggedCandidate(name, None, {}, known, reason, row.then)


def _of_json(line: str) -> tuple[Sequence[str | None], Columns]:
    columns: dict[str, Any] = orjson.loads(line)
    rows = [columns["score"], *columns["parts"].values(), *columns["signals"].values()]
    titles = [["score"], list(columns["parts"]), list(columns["signals"])]
    return columns["id"], Columns(columns["reason"], titles, np.array(rows, dtype=np.int64))
