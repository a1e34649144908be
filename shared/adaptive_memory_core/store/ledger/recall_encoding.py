"""How is a recall encoded for the log? As packed columns of integers; older lines are JSON."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import orjson

from adaptive_memory_core.learn.logged_reads import SHARE_UNIT
from adaptive_memory_core.learn.logged_state import DERIVED, NO_BASIS, NO_COLUMNS, UNSCORED, Basis, columns_of
from adaptive_memory_core.learn.logged_state import Columns as Then
from adaptive_memory_core.records import Dropped, Hit, Scored
from adaptive_memory_core.reports import LoggedCandidate
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
    weak = [drop for drop in dropped if drop.scored is not None]
    scored = [*kept, *(drop.scored for drop in weak if drop.scored is not None)]
    unscored = [drop for drop in dropped if drop.scored is None]
    if any(drop.hit is not None for drop in unscored):
        unscored.sort(key=_is_bare)
        scored += [_unblended(drop.hit, scored) for drop in unscored if drop.hit is not None]
    ids = [*(one.hit.record.id for one in scored), *(drop.id for drop in unscored if drop.hit is None)]
    reasons = [*(None for _ in kept), *(drop.reason for drop in weak), *(drop.reason for drop in unscored)]
    scores, parts = [one.score for one in scored], [one.parts for one in scored]
    signals = [one.signals for one in scored]
    then = columns_of([one.hit for one in scored], signals, basis, scored=len(kept) + len(weak), at=at)
    return Line(ids, _packed(reasons, scores, parts, signals, then))


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
    then = NO_COLUMNS if first is None else Then(list(first.then), [list(one.then.values()) for one in rows])
    return Line([one.id for one in kept], _packed(reasons, [one.score or 0.0 for one in rows], parts, signals, then))


def _packed(
    reasons: Sequence[str | None],
    scores: Sequence[float],
    parts: Sequence[Mapping[str, float]],
    signals: Sequence[Mapping[str, float]],
    then: Then,
) -> bytes:
    titles = [["rest"], list(parts[0]) if parts else [], list(signals[0]) if signals else []]
    if then.titles:
        titles.append(list(then.titles))
    flat: list[float] = []
    own, raw = _values_of(titles[1]), _values_of(titles[2])
    for score, part, signal, more in zip(scores, parts, signals, then.rows or [()] * len(scores), strict=True):
        flat.append(score)
        flat += own(part)
        flat += raw(signal)
        flat += more
    units = np.array(
        [PART_UNIT] * (1 + len(titles[1])) + [SIGNAL_UNIT] * len(titles[2]) + [1.0] * len(then.titles), dtype=float
    )
    given = np.frombuffer(array("d", flat)).reshape(len(scores), len(units))
    numbers = np.rint(np.ascontiguousarray(given.T) * units[:, None]).astype(np.int64)
    numbers[0] -= numbers[1 : 1 + len(titles[1])].sum(axis=0)
    return pack(Columns(reasons, titles, numbers))


def _values_of(names: Sequence[str]) -> Callable[[Mapping[str, float]], Iterable[float]]:
    """What takes the values of these names out of a mapping, in that order."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: [values[name] for name in names]


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
