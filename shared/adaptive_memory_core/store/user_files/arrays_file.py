"""How do arrays stand in a file so that they need not be read into RAM? One behind the other, mapped, with their sums.

The mapping is private: who writes into an array changes nothing in the file. Behind each array there is room for rows
that come later, which takes up no space in the file until somebody copies it with a program that knows no holes.
"""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

MAGIC = b"adaptive-memory arrays 1\n"
PAGE = 4_096
ROOM = 1 / 16  # for rows that come later, as a share of those that there are
LEAST_ROOM = 1_024
Array = Any


@dataclass(frozen=True, slots=True)
class Arrays:
    """What stands in a file. The arrays have room for more rows than the `sizes` say are there."""

    notes: Mapping[str, Any]
    arrays: Mapping[str, Array]
    sizes: Mapping[str, int]

    def __getitem__(self, name: str) -> Array:
        """An array without the room behind it."""
        return self.arrays[name][: self.sizes[name]]


def write(place: Path, notes: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write arrays and notes into a new file."""
    told, end = {}, 0
    for name, one in arrays.items():
        told[name] = (one.dtype.str, one.shape, end, _sum(one))
        end = _whole_pages(end + _with_room(len(one)) * _row_bytes(one))
    head = orjson.dumps({"notes": notes, "arrays": told, "bytes": end})
    start = _whole_pages(len(MAGIC) + 12 + len(head))
    with place.open("xb") as file:
        file.write(MAGIC + len(head).to_bytes(8, "little") + zlib.crc32(head).to_bytes(4, "little") + head)
        for (_, _, offset, _), one in zip(told.values(), arrays.values(), strict=True):
            file.seek(start + offset)
            file.write(np.ascontiguousarray(one).data.cast("B") if one.size else b"")
        file.truncate(start + end)


def read(place: Path) -> Arrays | None:
    """What stands in a file; None where there is none, or it is not as it was written."""
    try:
        with place.open("rb") as file:
            head = _head(file.read(len(MAGIC) + 12), file)
            start = _whole_pages(file.tell())
            if os.fstat(file.fileno()).st_size != start + head["bytes"]:
                return None
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        arrays, sizes = {}, {}
        for name, (kind, shape, offset, total) in head["arrays"].items():
            arrays[name] = _mapped(mapped, np.dtype(kind), shape, start + offset)
            sizes[name] = shape[0]
            if _sum(arrays[name][: shape[0]]) != total:
                return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Arrays(head["notes"], arrays, sizes)


def packed(texts: Iterable[str]) -> Array:
    """Texts as one array of bytes.

    >>> unpacked(packed(["tea", "", "caf\u00e9"]))
    ['tea', '', 'caf\u00e9']
    """
    return np.frombuffer(orjson.dumps(list(texts)), dtype=np.uint8)


def unpacked(array: Array) -> list[str]:
    found: list[str] = orjson.loads(array.tobytes())
    return found


def _head(begin: bytes, file: Any) -> Any:
    if begin[: len(MAGIC)] != MAGIC:
        raise ValueError("it is a file of another kind")
    length, told = int.from_bytes(begin[-12:-4], "little"), int.from_bytes(begin[-4:], "little")
    head = file.read(min(length, 1 << 24))
    if zlib.crc32(head) != told:
        raise ValueError("it is torn")
    return orjson.loads(head)


def _mapped(mapped: mmap.mmap, kind: Any, shape: list[int], start: int) -> Array:
    rows = _with_room(shape[0])
    count = rows * int(np.prod(shape[1:], dtype=np.int64))
    return np.frombuffer(mapped, dtype=kind, count=count, offset=start).reshape(rows, *shape[1:])


def _with_room(rows: int) -> int:
    return rows + max(LEAST_ROOM, int(rows * ROOM))


def _row_bytes(array: Array) -> int:
    return int(array.dtype.itemsize * np.prod(array.shape[1:], dtype=np.int64))


def _whole_pages(size: int) -> int:
    return -(-size // PAGE) * PAGE


def _sum(array: Array) -> int:
    """Another one as soon as a bit is: the array as numbers of 64 bits, added up.

    >>> _sum(np.array([1, 2], dtype=np.int64)), _sum(np.array([1], dtype=np.uint8))
    (3, 1)
    """
    whole = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    cut = len(whole) // 8 * 8
    total = int(whole[:cut].view(np.uint64).sum(dtype=np.uint64)) + int.from_bytes(whole[cut:].tobytes(), "little")
    return total % 2**64
