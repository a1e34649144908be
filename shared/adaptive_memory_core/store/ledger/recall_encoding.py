"""A recall encoded for the log: columns of whole numbers, numbers instead of ids, and names by length and text.

A line contains the number of its candidates, the numbers of their ids, and what `encode` has packed: the number of
candidates with values, the names (reasons and titles), and the columns. Ids and names are readable in the bytes,
because a record to be forgotten is looked for in them; the columns are compressed.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.learn.logged_state import (
    DERIVED,
    NO_BASIS,
    SHARE_UNIT,
    STRUCK_OUT,
    UNSCORED,
    Basis,
    state_columns,
)
from adaptive_memory_core.records import Dropped, Hit, Scored
from adaptive_memory_core.reports import LoggedCandidate
from adaptive_memory_core.score.ranking import LeftOut, Table
from adaptive_memory_core.score.ranking import as_candidates as candidates_of
from adaptive_memory_core.store.ledger.schema import decoding

PART_UNIT = 10_000  # parts and scores have four digits
SIGNAL_UNIT = SHARE_UNIT  # signals have six digits, because a replay ranks by them
FORGOTTEN = "superseded by a forgotten record"
IdLookup = Callable[[Sequence[int]], Sequence[str | None]]


class EncodedRecall(NamedTuple):
    """The ids of a recall's candidates, and their packed values; `with_keys` combines both."""

    ids: Sequence[str]
    packed: bytes


def encode(
    kept: Sequence[Scored], dropped: Sequence[Dropped], basis: Basis = NO_BASIS, *, at: float = 0.0
) -> EncodedRecall:
    """Encode a recall's candidates: the scored ones first, then those that another policy would have scored, then the
    others. `at` is the recall's time.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> from adaptive_memory_core.store.ledger.recall_encoding import with_keys
    >>> tea = Scored(Hit(Record("a", "tea"), 0.25, "a"), 0.5, {"similarity": 0.5}, {"similarity": 0.25})
    >>> line = encode([tea], [])
    >>> decode(with_keys(line.packed, [7]), names=lambda keys: line.ids)
    (LoggedCandidate(id='a', score=0.5, parts={'similarity': 0.5}, signals={'similarity': 0.25}, reason=None),)
    """
    if isinstance(dropped, LeftOut) and dropped.follows(kept):  # one ranking contains both
        ranking = dropped._ranking
        candidates, scores, parts, signals = ranking._candidates, ranking.scores, ranking.parts, ranking.signals
        order, count = ranking.order, len(ranking.order)
        ids = list(map(candidates.columns.ids.__getitem__, order))
        reasons: list[str | None] = [None] * dropped.begin + [dropped.reason] * (count - dropped.begin)
    else:
        weak = [drop for drop in dropped if drop.scored is not None]
        scored = [*kept, *(drop.scored for drop in weak if drop.scored is not None)]
        unscored = [drop for drop in dropped if drop.scored is None]
        unscored.sort(key=_is_bare)
        count, order = len(scored), None
        scored += [_unblended(drop.hit, scored) for drop in unscored if drop.hit is not None]
        ids = [*(one.hit.record.id for one in scored), *(drop.id for drop in unscored if drop.hit is None)]
        reasons = [*(None for _ in kept), *(drop.reason for drop in weak), *(drop.reason for drop in unscored)]
        parts, signals = _columns([one.parts for one in scored]), _columns([one.signals for one in scored])
        candidates, scores = candidates_of([one.hit for one in scored]), [one.score for one in scored]
    then = state_columns(candidates.columns, basis, scored=count, at=at)
    return EncodedRecall(ids, _packed(reasons, scores, parts, signals, then, order))


def _columns(rows: Sequence[Mapping[str, float]]) -> Table:
    """The rows as columns, one for each name in the first row."""
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _is_bare(drop: Dropped) -> bool:
    return drop.hit is None


def _unblended(hit: Hit, scored: Sequence[Scored]) -> Scored:
    """A hit that was not scored, with the same names of parts and signals as the scored ones."""
    known = {"similarity": hit.similarity, **hit.leads}
    if not scored:
        return Scored(hit, 0.0, {}, known)
    first = scored[0]
    return Scored(hit, 0.0, dict.fromkeys(first.parts, 0.0), {**dict.fromkeys(first.signals, 0.0), **known})


def decode(line: bytes, names: IdLookup) -> tuple[LoggedCandidate, ...]:
    """The candidates in a line of `encode`, to its number of digits, without records that were forgotten since."""
    with decoding("a line of the log"):
        keys, columns = unpack(line)
        ids, rows, reasons = names(keys), _rows(columns), columns.reasons
        return tuple(
            _candidate(name, reasons[row], rows[row])
            if row < len(rows)
            else LoggedCandidate(name, None, {}, {}, reasons[row])
            for row, name in enumerate(ids)
            if name is not None
        )


def without_record(found: Sequence[LoggedCandidate], record_id: str) -> EncodedRecall | None:
    """The candidates without one record, also as the reason why another one was dropped; None if the record does not
    occur.

    >>> new, old = LoggedCandidate("new", 0.5, {}, {}, None), LoggedCandidate("old", 0.5, {}, {}, "superseded by new")
    >>> without_record([new, old], "new").ids, without_record([new, old], "other")
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
    then = _columns([{**one.then, STRUCK_OUT: one.then.get(STRUCK_OUT, 0) + 1} for one in rows])
    scores = [one.score or 0.0 for one in rows]
    return EncodedRecall([one.id for one in kept], _packed(reasons, scores, _columns(parts), _columns(signals), then))


def _packed(
    reasons: Sequence[str | None],
    scores: Sequence[float],
    parts: Table,
    signals: Table,
    then: Table,
    order: Sequence[int] | None = None,
) -> bytes:
    """The candidates' numbers, packed; `order` has the number in the columns for each place (None: the same order)."""
    rows = (scores, *parts.values(), *signals.values(), *then.values())
    given = np.frombuffer(struct.pack(f"{len(rows) * len(scores)}d", *chain.from_iterable(rows)))
    scaled = given.reshape(len(rows), len(scores)) * _units(1 + len(parts), len(signals), len(then))
    numbers = np.rint(scaled if order is None else scaled.take(order, axis=1)).astype(np.int64)
    numbers[0] -= numbers[1 : 1 + len(parts)].sum(axis=0)
    return pack(PackedColumns(reasons, (("rest",), tuple(parts), tuple(signals), tuple(then)), numbers))


@lru_cache(maxsize=64)
def _units(parts: int, signals: int, others: int) -> Any:
    """The unit of each column."""
    return np.array([PART_UNIT] * parts + [SIGNAL_UNIT] * signals + [1] * others, dtype=float)[:, None]


class _Row(NamedTuple):
    """The numbers of one candidate."""

    score: float
    parts: dict[str, float]
    signals: dict[str, float]
    then: dict[str, int]


def _rows(columns: PackedColumns) -> list[_Row]:
    """The score, parts, signals and other values for a replay of each candidate with numbers."""
    _, parts, signals, then = columns.titles
    end = 1 + len(parts)
    last = end + len(signals)
    return [
        _Row(
            sum(row[:end]) / PART_UNIT,  # the first is the score minus its parts
            dict(zip(parts, (one / PART_UNIT for one in row[1:end]), strict=True)),
            dict(zip(signals, (one / SIGNAL_UNIT for one in row[end:last]), strict=True)),
            dict(zip(then, row[last:], strict=True)),
        )
        for row in columns.numbers.T.tolist()
    ]


def _candidate(name: str, reason: str | None, row: _Row) -> LoggedCandidate:
    if not row.then.get("via", 0) & UNSCORED:
        return LoggedCandidate(name, row.score, row.parts, row.signals, reason, row.then)
    known = {title: value for title, value in row.signals.items() if title not in DERIVED}
    return LoggedCandidate(name, None, {}, known, reason, row.then)


class PackedColumns(NamedTuple):
    """The values of the candidates: a reason for each, and a row of numbers for each title of each table.

    The columns of the numbers are the scored candidates, which come first.
    """

    reasons: Sequence[str | None]
    titles: Sequence[tuple[str, ...]]
    numbers: Any


def pack(columns: PackedColumns) -> bytes:
    """The columns as bytes; `with_keys` completes them to a line. Each row of numbers is stored as its least number and
    the differences from it.

    >>> titles, numbers = [("score",), ("similarity",)], np.array([[5000, 4000], [80, -6]])
    >>> packed = pack(PackedColumns([None, "beyond k"], titles, numbers))
    >>> keys, found = unpack(with_keys(packed, [7, 300]))
    >>> keys, found.reasons, found.titles, found.numbers.tolist()
    ([7, 300], [None, 'beyond k'], [('score',), ('similarity',)], [[5000, 4000], [80, -6]])
    """
    numbers, count = columns.numbers, len(columns.reasons)
    reasons = list(dict.fromkeys((None, *columns.reasons)))
    table = np.zeros((1 + len(numbers), count), dtype=np.int64)
    table[0] = list(map(dict(zip(reasons, range(len(reasons)), strict=True)).__getitem__, columns.reasons))
    least = numbers.min(axis=1, keepdims=True) if numbers.size else np.zeros((len(numbers), 1), dtype=np.int64)
    table[1:, : numbers.shape[1]] = numbers - least
    content = least.astype("<i8").tobytes() + _octets(table)
    names = _names([reason for reason in reasons if reason is not None]) + _titles(tuple(columns.titles))
    small = zlib.compressobj(1, wbits=_NO_HEADER, strategy=zlib.Z_RLE)  # as small as with a search for repetitions
    return b"".join((_length(numbers.shape[1]), names, small.compress(content), small.flush()))


def with_keys(packed: bytes, keys: Sequence[int]) -> bytes:
    """The packed line with the numbers of the candidates' ids."""
    width = key_bytes(max(keys, default=0))
    numbers = np.array(keys, dtype="<u4").view(np.uint8).reshape(-1, 4)[:, :width]
    return b"".join((_length(len(keys)), bytes([width]), numbers.tobytes(), packed))


def key_bytes(key: int) -> int:
    """The number of bytes per id in a line whose largest id number is this one."""
    return 3 if key < 2**24 else 4


def ids_in(line: bytes) -> list[int]:
    """The numbers of the ids in a line."""
    with decoding("a line of the log"):
        return _keys(line)[0]


def unpack(line: bytes) -> tuple[list[int], PackedColumns]:
    """The numbers of the ids, and the packed columns."""
    keys, start = _keys(line)
    scored, start = _next_length(line, start)
    reasons, start = _next_names(line, start)
    tables, start = _next_length(line, start)
    titles: list[tuple[str, ...]] = []
    for _ in range(tables):
        some, start = _next_names(line, start)
        titles.append(tuple(some))
    content, rows = zlib.decompress(line[start:], wbits=_NO_HEADER), sum(map(len, titles))
    least = np.frombuffer(content, "<i8", rows)[:, None]
    table = _numbers(content[least.nbytes :], 1 + rows, len(keys))
    numbers = table[1:, :scored] + least
    all_reasons = [None, *reasons]
    return keys, PackedColumns([all_reasons[number] for number in table[0].tolist()], titles, numbers)


def _keys(line: bytes) -> tuple[list[int], int]:
    """The numbers of the ids, and the position after them."""
    count, start = _next_length(line, 0)
    width, start = line[start], start + 1
    keys = np.zeros((count, 4), dtype=np.uint8)
    keys[:, :width] = np.frombuffer(line, np.uint8, count * width, start).reshape(count, width)
    found: list[int] = keys.view("<u4")[:, 0].tolist()
    return found, start + count * width


_PLACES = np.arange(8, dtype=np.uint8)[:, None]  # of the bytes of a number
_NO_HEADER = -15  # for zlib: the largest window, and neither header nor checksum


def _octets(numbers: Any) -> bytes:
    """Rows of whole numbers without sign: the bytes that each row needs for a number, and all bytes of these, grouped
    by significance."""
    wide = np.array([(most.bit_length() + 7) // 8 for most in numbers.max(axis=1, initial=0).tolist()], dtype=np.uint8)
    octets = np.ascontiguousarray(numbers, dtype="<i8").view(np.uint8).reshape(*numbers.shape, 8)
    those: bytes = octets.transpose(2, 0, 1)[wide > _PLACES].tobytes()
    return bytes(wide) + those


def _numbers(content: bytes, rows: int, count: int) -> Any:
    """The numbers of `_octets`."""
    wide = np.frombuffer(content, np.uint8, rows)
    octets = np.zeros((rows, count, 8), dtype=np.uint8)
    planes = int(wide.sum())
    there = np.frombuffer(content, np.uint8, planes * count, rows)
    octets.transpose(2, 0, 1)[wide > _PLACES] = there.reshape(planes, count)
    return octets.reshape(rows, count * 8).view("<i8")


_LONG = 255  # instead of a length: a length of 4 bytes follows
_OTHER = 255  # instead of the number of a name: its length and text follow
TITLES = (  # usual names of columns, one byte each by their place here, which must never change
    *("score", "recency", "importance", "similarity", "useful", "words", "answers", "around", "stated", "speaker"),
    *("dated", "named", "baseline", "reranked", "kind", "strength", "spread", "relevance", "most_of_words"),
    *("via", "read_ago", "fresh_before", "useful_ago", "useful_lag", "warmth", "credit", "helpful", "unhelpful"),
    *("balance", "unrelated", "own_words", "verdicts", "rest", "asked_near", "asked_trusted", "asked_against", "time"),
    *("most_of_kinds", "asked_before", "asked_ahead", "more_credit"),
)
_NUMBERS = {title: number for number, title in enumerate(TITLES)}


@lru_cache(maxsize=100)
def _titles(tables: tuple[tuple[str, ...], ...]) -> bytes:
    """The titles of each table's columns."""
    return _length(len(tables)) + b"".join(map(_names, tables))


def _names(names: Sequence[str]) -> bytes:
    """The number of names, and the names.

    >>> _next_names(_names(["score", "", "x" * 300, "tea"]), 0)[0] == ["score", "", "x" * 300, "tea"]
    True
    """
    found = [_length(len(names))]
    for name in names:
        number = _NUMBERS.get(name)
        if number is None:
            text = name.encode(errors="surrogatepass")
            found += (bytes([_OTHER]), _length(len(text)), text)
        else:
            found.append(bytes([number]))
    return b"".join(found)


def _next_names(line: bytes, start: int) -> tuple[list[str], int]:
    """The names at this position, and the position after them."""
    names: list[str] = []
    count, start = _next_length(line, start)
    for _ in range(count):
        number, start = line[start], start + 1
        if number != _OTHER:
            names.append(TITLES[number])
            continue
        length, start = _next_length(line, start)
        names.append(line[start : start + length].decode(errors="surrogatepass"))
        start += length
    return names, start


def _length(length: int) -> bytes:
    return bytes([length]) if length < _LONG else bytes([_LONG]) + length.to_bytes(4, "little")


def _next_length(line: bytes, start: int) -> tuple[int, int]:
    """The length at this position, and the position after it."""
    if line[start] < _LONG:
        return line[start], start + 1
    return int.from_bytes(line[start + 1 : start + 5], "little"), start + 5
