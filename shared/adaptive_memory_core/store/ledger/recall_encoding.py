"""A recall encoded for the log: packed columns of integers, numbers instead of ids, names by length and text.

A packed line contains its version, three lengths, the numbers of the ids, the different reasons as text, and the rest,
which is compressed if long. The rest contains the reason of each candidate, the titles of the columns, the least number
of each column, the number of bytes for the differences from it, and these bytes, grouped by significance.
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
    NO_COLUMNS,
    SHARE_UNIT,
    STRUCK_OUT,
    UNSCORED,
    Basis,
    StatesThen,
    state_columns,
)
from adaptive_memory_core.learn.logged_state import StateColumns as Then
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
    seen = candidates.columns
    states = StatesThen(seen.stored_ids, seen.shared, seen.reads, seen.importances)
    then = state_columns(states, signals, basis, scored=count, at=at)
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
        return _decoded(line, names)


def _decoded(line: bytes, names: IdLookup) -> tuple[LoggedCandidate, ...]:
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
    states = [{**one.then, STRUCK_OUT: one.then.get(STRUCK_OUT, 0) + 1} for one in rows]
    told = list(zip(*(one.values() for one in states), strict=True))
    then = Then(list(states[0]), told) if states else NO_COLUMNS
    scores = [one.score or 0.0 for one in rows]
    return EncodedRecall([one.id for one in kept], _packed(reasons, scores, _columns(parts), _columns(signals), then))


def _packed(
    reasons: Sequence[str | None],
    scores: Sequence[float],
    parts: Table,
    signals: Table,
    then: Then,
    order: Sequence[int] | None = None,
) -> bytes:
    """The candidates' numbers, packed; `order` has the number in the columns for each place (None: the same order)."""
    titles = [("rest",), tuple(parts), tuple(signals), tuple(then.titles)]
    rows = (scores, *parts.values(), *signals.values(), *then.numbers)
    given = np.frombuffer(struct.pack(f"{len(rows) * len(scores)}d", *chain.from_iterable(rows)))
    scaled = given.reshape(len(rows), len(scores)) * _units(1 + len(parts), len(signals), len(then.titles))
    numbers = np.rint(scaled if order is None else scaled.take(order, axis=1)).astype(np.int64)
    numbers[0] -= numbers[1 : 1 + len(parts)].sum(axis=0)
    return pack(PackedColumns(reasons, titles if then.titles else titles[:3], numbers))


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
    titles, rows = columns.titles, columns.numbers.T.tolist()
    end = 1 + len(titles[1])
    last = end + len(titles[2])
    rows = [[sum(row[:end]), *row[1:]] for row in rows]  # the first is the score minus its parts
    more = titles[3] if len(titles) > len(("rest", "parts", "signals")) else ()
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


PLAIN, COMPRESSED = 1, 2  # versions of a line
WORTH_BYTES = 600  # size of the rest from which compression is worth its time
FEW = 256  # number of different reasons below which each is one byte
_HEAD = struct.Struct("<BIII")  # version, candidates, reasons, bytes of the reasons
_COLUMNS = struct.Struct("<BI")  # bytes of a least number, scored candidates


class PackedColumns(NamedTuple):
    """The values of the candidates: a reason for each, and a row of numbers for each title of each table.

    The columns of the numbers are the scored candidates, which come first.
    """

    reasons: Sequence[str | None]
    titles: Sequence[Sequence[str]]
    numbers: Any


def pack(columns: PackedColumns) -> bytes:
    """The columns as bytes; `with_keys` completes them to a line.

    >>> titles, numbers = [["score"], ["similarity"]], np.array([[5000, 4000], [80, -6]])
    >>> packed = pack(PackedColumns([None, "beyond k"], titles, numbers))
    >>> keys, found = unpack(with_keys(packed, [7, 300]))
    >>> keys, found.reasons, found.titles, found.numbers.tolist()
    ([7, 300], [None, 'beyond k'], [['score'], ['similarity']], [[5000, 4000], [80, -6]])
    """
    places: dict[str | None, int] = {None: 0}
    for reason in columns.reasons:
        places.setdefault(reason, len(places))
    said, version = [one for one in places if one is not None], PLAIN
    given, names = map(places.__getitem__, columns.reasons), b"".join(map(_packed_name, said))
    first = bytes(given) if len(said) < FEW else np.array(list(given), dtype=_place_type(len(said))).tobytes()
    rest = b"".join((first, _titles(tuple(map(tuple, columns.titles))), _narrow(columns.numbers)))
    if len(rest) >= WORTH_BYTES:
        version, rest = COMPRESSED, zlib.compress(rest, level=1)
    return _HEAD.pack(version, len(columns.reasons), len(said), len(names)) + names + rest


def with_keys(packed: bytes, keys: Sequence[int]) -> bytes:
    """The packed line with the numbers of the candidates' ids."""
    width = key_bytes(max(keys, default=0))
    whole, own = struct.pack(f"<{len(keys)}I", *keys), bytearray(width * len(keys))
    for octet in range(width):
        own[octet::width] = whole[octet::4]
    return b"".join((packed[: _HEAD.size], bytes([width]), own, packed[_HEAD.size :]))


def key_bytes(key: int) -> int:
    """The number of bytes per id in a line whose largest id number is this one."""
    return 3 if key < 2**24 else 4


def id_numbers_in(line: bytes) -> list[int]:
    """The numbers of the ids in a line."""
    with decoding("a line of the log"):
        count, width = _HEAD.unpack_from(line)[1], line[_HEAD.size]
        numbers = np.frombuffer(line, np.uint8, count * width, _HEAD.size + 1).reshape(count, width)
        keys = np.zeros((count, 4), dtype=np.uint8)
        keys[:, :width] = numbers
    found: list[int] = keys.view("<u4")[:, 0].tolist()
    return found


def unpack(line: bytes) -> tuple[list[int], PackedColumns]:
    """The numbers of the ids, and the packed columns."""
    version, count, said, length = _HEAD.unpack_from(line)
    start = _HEAD.size + 1 + count * line[_HEAD.size]
    reasons = [None, *unpack_names(line, start, said)]
    rest = line[start + length :] if version == PLAIN else zlib.decompress(line[start + length :])
    places = np.frombuffer(rest, dtype=_place_type(said), count=count)
    titles, start = unpack_titles(rest, places.nbytes)
    numbers = _wide(rest, start, sum(map(len, titles)))
    return id_numbers_in(line), PackedColumns([reasons[number] for number in places.tolist()], titles, numbers)


def _place_type(reasons: int) -> str:
    return "<u1" if reasons < FEW else "<u4"


def _narrow(numbers: Any) -> bytes:
    """Each row as its least number and the differences from it, in as few bytes as possible. Rows with the same number
    of bytes are grouped."""
    rows, scored = numbers.shape
    if not numbers.size:
        return _COLUMNS.pack(4, scored) + bytes(5 * rows)
    least = numbers.min(axis=1, keepdims=True)
    beyond = numbers - least
    widths = [(most.bit_length() + 7) // 8 for most in beyond.max(axis=1).tolist()]
    lowest: list[int] = least[:, 0].tolist()
    size = 4 if max(*lowest, -min(lowest)) < 2**31 else 8
    wide = bytes(widths)
    octets = beyond.astype("<i8", copy=False).view(np.uint8).reshape(rows, scored, 8)
    which, places = _in_order(wide)
    taken = octets[which, :, places].tobytes()
    return b"".join(
        (_COLUMNS.pack(size, scored), struct.pack(f"<{rows}{'i' if size == 4 else 'q'}", *lowest), wide, taken)
    )


@lru_cache(maxsize=200)
def _in_order(widths: bytes) -> tuple[Any, Any]:
    """The rows and their octets in the order of the line, grouped by significance."""
    there = [
        (row, octet) for width in sorted({*widths} - {0}) for octet in range(width) for row in _those(widths, width)
    ]
    return np.array([row for row, _ in there], dtype=np.intp), np.array([octet for _, octet in there], dtype=np.intp)


def _wide(line: bytes, start: int, rows: int) -> Any:
    size, scored = _COLUMNS.unpack_from(line, start)
    start += _COLUMNS.size
    least = np.frombuffer(line, dtype=f"<i{size}", count=rows, offset=start).astype(np.int64)
    widths = list(line[start + rows * size : start + rows * size + rows])
    start += rows * size + rows
    octets = np.zeros((rows, scored, 8), dtype=np.uint8)
    for width in sorted(set(widths) - {0}):
        own = _those(widths, width)
        block = np.frombuffer(line, dtype=np.uint8, count=len(own) * scored * width, offset=start)
        octets[own, :, :width] = block.reshape(width, len(own), scored).transpose(1, 2, 0)
        start += block.nbytes
    return octets.reshape(rows, scored * 8).view("<i8").reshape(rows, scored) + least[:, None]


def _those(widths: Sequence[int], width: int) -> list[int]:
    """The rows that need this number of bytes."""
    return [row for row, own in enumerate(widths) if own == width]


_LONG = 255  # instead of a length: a length of 4 bytes follows
_OTHER = 255  # instead of the number of a title: its name follows
TITLES = (  # usual names of columns, one byte each by their place here, which must never change
    *("score", "recency", "importance", "similarity", "useful", "words", "answers", "around", "stated", "speaker"),
    *("dated", "named", "baseline", "reranked", "kind", "strength", "spread", "relevance", "most_of_words"),
    *("via", "read_ago", "fresh_before", "useful_ago", "useful_lag", "warmth", "credit", "helpful", "unhelpful"),
    *("balance", "unrelated", "own_words", "verdicts", "rest", "asked_near", "asked_trusted", "asked_against", "time"),
    *("most_of_kinds",),
)
_NUMBERS = {title: number for number, title in enumerate(TITLES)}


def unpack_names(packed: bytes, start: int, count: int) -> list[str]:
    """The next `count` names from `start`.

    >>> unpack_names(_packed_name("tea") + _packed_name("") + _packed_name("x" * 300), 0, 2)
    ['tea', '']
    """
    names: list[str] = []
    for _ in range(count):
        name, start = _next(packed, start)
        names.append(name)
    return names


@lru_cache(maxsize=100)
def _titles(tables: tuple[tuple[str, ...], ...]) -> bytes:
    """The titles of each table's columns.

    >>> unpack_titles(_titles((("score",), ("similarity", "mine"), ())), 0)
    ([['score'], ['similarity', 'mine'], []], 15)
    """
    found = [bytes([len(tables)])]
    for titles in tables:
        found.append(len(titles).to_bytes(2, "little"))
        for title in titles:
            number = _NUMBERS.get(title, _OTHER)
            found.append(bytes([number]) if number != _OTHER else bytes([_OTHER]) + _packed_name(title))
    return b"".join(found)


def unpack_titles(packed: bytes, start: int) -> tuple[list[list[str]], int]:
    """The titles, and the position after them."""
    count, start = packed[start], start + 1
    tables: list[list[str]] = []
    for _ in range(count):
        titles: list[str] = []
        width, start = int.from_bytes(packed[start : start + 2], "little"), start + 2
        for _ in range(width):
            number, start = packed[start], start + 1
            title, start = _next(packed, start) if number == _OTHER else (TITLES[number], start)
            titles.append(title)
        tables.append(titles)
    return tables, start


def _packed_name(name: str) -> bytes:
    text = name.encode(errors="surrogatepass")
    if len(text) < _LONG:
        return bytes([len(text)]) + text
    return bytes([_LONG]) + len(text).to_bytes(4, "little") + text


def _next(packed: bytes, start: int) -> tuple[str, int]:
    """The name at this position, and the position of the next one."""
    length, start = packed[start], start + 1
    if length == _LONG:
        length, start = int.from_bytes(packed[start : start + 4], "little"), start + 4
    return packed[start : start + length].decode(errors="surrogatepass"), start + length
