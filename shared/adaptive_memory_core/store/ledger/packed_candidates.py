"""How are the candidates of a recall packed into few bytes? Numbers for their ids, then narrow columns of integers.

A packed line is its version, three lengths, the numbers that stand for the ids (`logged_ids`), the different reasons as
text, and the rest, compressed where that is worth the time: which candidate has which reason, the titles of the
columns, the least number of each column, how many bytes the others need beyond it, and these bytes, those of
equal weight together.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.store.ledger.packed_names import pack_names, pack_titles, unpack_names, unpack_titles
from adaptive_memory_core.store.ledger.unreadable import decoding

PLAIN, COMPRESSED = 1, 2  # versions of a line
WORTH_BYTES = 600  # of the rest, from which it is compressed: fewer lines in a page cost more than the time
FEW = 256  # different reasons, up to which the place of each is a byte
_HEAD = struct.Struct("<BIII")  # version, candidates, reasons, bytes of the reasons
_COLUMNS = struct.Struct("<BI")  # bytes of a least number, scored candidates


class Columns(NamedTuple):
    """What is said of the candidates: a reason each, and under each table's titles a row of numbers each.

    The columns of the numbers are the scored candidates, which stand first.
    """

    reasons: Sequence[str | None]
    titles: Sequence[Sequence[str]]
    numbers: Any


def pack(columns: Columns) -> bytes:
    """The columns as bytes; `with_keys` makes a line of them.

    >>> packed = pack(Columns([None, "beyond k"], [["score"], ["similarity"]], np.array([[5000, 4000], [80, -6]])))
    >>> keys, found = unpack(with_keys(packed, [7, 300]))
    >>> keys, found.reasons, found.titles, found.numbers.tolist()
    ([7, 300], [None, 'beyond k'], [['score'], ['similarity']], [[5000, 4000], [80, -6]])
    """
    said = list(dict.fromkeys([one for one in columns.reasons if one is not None]))
    place = {reason: number for number, reason in enumerate(said, 1)} | {None: 0}
    names, version = pack_names(said), PLAIN
    given = [place[one] for one in columns.reasons]
    places = bytes(given) if len(said) < FEW else np.array(given, dtype=_place_type(len(said))).tobytes()
    rest = b"".join((places, pack_titles(columns.titles), _narrow(columns.numbers)))
    if len(rest) >= WORTH_BYTES:
        version, rest = COMPRESSED, zlib.compress(rest, level=1)
    return _HEAD.pack(version, len(columns.reasons), len(said), len(names)) + names + rest


def with_keys(packed: bytes, keys: Sequence[int]) -> bytes:
    """What was packed with the numbers of the candidates' ids."""
    width = key_bytes(max(keys, default=0))
    whole, own = struct.pack(f"<{len(keys)}I", *keys), bytearray(width * len(keys))
    for octet in range(width):
        own[octet::width] = whole[octet::4]
    return b"".join((packed[: _HEAD.size], bytes([width]), own, packed[_HEAD.size :]))


def key_bytes(key: int) -> int:
    """In how many bytes a number stands, where it is the largest of its line."""
    return 3 if key < 2**24 else 4


def keys_in(line: bytes | str) -> list[int]:
    """The numbers of the ids that a line names; a line of an earlier version has none."""
    if isinstance(line, str):
        return []
    with decoding("a line of the log"):
        count, width = _HEAD.unpack_from(line)[1], line[_HEAD.size]
        numbers = np.frombuffer(line, np.uint8, count * width, _HEAD.size + 1).reshape(count, width)
        keys = np.zeros((count, 4), dtype=np.uint8)
        keys[:, :width] = numbers
    found: list[int] = keys.view("<u4")[:, 0].tolist()
    return found


def unpack(line: bytes) -> tuple[list[int], Columns]:
    """The numbers of the ids, and what was packed."""
    version, count, said, length = _HEAD.unpack_from(line)
    start = _HEAD.size + 1 + count * line[_HEAD.size]
    reasons = [None, *unpack_names(line, start, said)]
    rest = line[start + length :] if version == PLAIN else zlib.decompress(line[start + length :])
    places = np.frombuffer(rest, dtype=_place_type(said), count=count)
    titles, start = unpack_titles(rest, places.nbytes)
    numbers = _wide(rest, start, sum(map(len, titles)))
    return keys_in(line), Columns([reasons[number] for number in places.tolist()], titles, numbers)


def _place_type(reasons: int) -> str:
    return "<u1" if reasons < FEW else "<u4"


def _narrow(numbers: Any) -> bytes:
    """Each row as its least number and what the others have beyond it, in as few bytes as that needs; rows that need
    as many stand together."""
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
    """The rows, and the octets of each, in the order in which they stand: those of equal weight together."""
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
    """The rows that need as many bytes."""
    return [row for row, own in enumerate(widths) if own == width]
