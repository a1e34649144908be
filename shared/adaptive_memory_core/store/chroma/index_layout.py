"""Which bytes are where in the files of Chroma's index? hnswlib's layout, as Chroma's fork writes it."""

from __future__ import annotations

import io
import pickle
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HEADER, VECTORS, LENGTHS, LINKS, NAMES = (
    "header.bin",
    "data_level0.bin",
    "length.bin",
    "link_lists.bin",
    "index_metadata.pickle",
)
FILES = (HEADER, VECTORS, LENGTHS, LINKS, NAMES)
_HEADER = struct.Struct("<iQQQQQQiIQQQdQ")
Labels = np.ndarray[Any, np.dtype[np.uint64]]


@dataclass(frozen=True, slots=True)
class Header:
    """What `header.bin` says: how many elements there are, and where in an element what stands (in bytes)."""

    version: int
    offset: int
    capacity: int
    count: int
    size: int
    label_at: int
    vector_at: int
    highest_level: int
    entry: int
    neighbours: int
    neighbours_below: int
    m: int
    spread: float
    effort: int


def header(folder: Path) -> Header | None:
    """The header; None where it is not whole."""
    found = content(folder / HEADER)
    return Header(*_HEADER.unpack(found)) if len(found) == _HEADER.size else None


def names(folder: Path) -> dict[str, int] | None:
    """Which record is under which label; None where the file is not whole."""
    try:
        found = _Plain(io.BytesIO(content(folder / NAMES))).load()
        labels = found["id_to_label"]
        usable = isinstance(labels, dict) and all(isinstance(one, int) for one in labels.values())
    except Exception:  # noqa: BLE001 - a torn pickle fails in every way there is
        return None
    return labels if usable else None


def labels_in(folder: Path, count: int, size: int, label_at: int) -> Labels:
    """The labels of the elements that the file of vectors really holds."""
    whole = min(count, (folder / VECTORS).stat().st_size // size)
    if not whole:
        return np.empty(0, dtype="<u8")
    rows = np.memmap(folder / VECTORS, dtype=np.uint8, mode="r", shape=(whole, size))
    return np.ascontiguousarray(rows[:, label_at : label_at + 8]).view("<u8")[:, 0]


class _Plain(pickle.Unpickler):
    """Reads plain values only: a file must not name code to run."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")


def content(file: Path) -> bytes:
    """All of a file; nothing for one that is not there."""
    try:
        return file.read_bytes()
    except OSError:
        return b""
