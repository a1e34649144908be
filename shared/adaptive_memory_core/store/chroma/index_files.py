"""The five files of Chroma's index: their layout, and checks of sizes, counts, labels and links.

A torn index makes Chroma fail on every call, end the process, or lose records silently. So it is checked before Chroma
loads it, only by reading. Chroma writes header, data, lengths and links in place, then the names, and last records in
SQLite how far it got. Writes that are still in SQLite's log are repeated on loading. A kill therefore leaves files that
are shorter than the header says, or names that cannot be read.
"""

from __future__ import annotations

import io
import pickle
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core.errors import DamagedStoreError
from adaptive_memory_core.store.chroma import chroma_database
from adaptive_memory_core.store.chroma.chroma_database import ADD, DELETE, UPSERT, DatabaseContents

_VERSION = 1


def index_faults(held: DatabaseContents) -> list[str]:
    """The faults of the index's files, one sentence each; empty for an index without faults."""
    if _unknown(held):
        return []
    labels = _labels(held)
    wrong = _damaged(held, labels)
    lost = [] if wrong else _lost(held, labels or {})
    return wrong + ([f"The index lacks {len(lost)} of {len(held.ids)} records."] if lost else [])


def missing(held: DatabaseContents) -> list[str]:
    """The records whose vector is neither in the index nor in the log; empty if the files are damaged."""
    labels = _labels(held)
    return [] if _unknown(held) or _damaged(held, labels) else _lost(held, labels or {})


def _unknown(held: DatabaseContents) -> bool:
    """Whether another version of Chroma wrote these files, so that they cannot be checked."""
    files = {one.name for one in held.folder.iterdir()} if held.folder.is_dir() else set()
    head = header(held.folder)
    return bool(files and files.isdisjoint(FILES)) or (head is not None and head.version != _VERSION)


def _labels(held: DatabaseContents) -> dict[str, int] | None:
    """The labels of the records in the files; empty if nothing was ever written, None if they cannot be read."""
    return record_labels(held.folder) if (held.folder / NAMES).exists() else {}


def _lost(held: DatabaseContents, labels: dict[str, int]) -> list[str]:
    known = set(labels)
    for entry in held.logged_after(held.persisted if known else 0):
        if entry.operation in (ADD, UPSERT) and entry.with_vector:
            known.add(entry.stored_id)
        elif entry.operation == DELETE:
            known.discard(entry.stored_id)
    return [one for one in held.ids if one not in known]


def _damaged(held: DatabaseContents, labels: dict[str, int] | None) -> list[str]:
    if held.dimension is None or labels == {}:
        return []
    if labels is None:
        size = (held.folder / NAMES).stat().st_size
        return [f"{NAMES} is torn ({size} bytes): it no longer shows which record a vector belongs to."]
    return _torn(held, labels)


def _torn(held: DatabaseContents, labels: dict[str, int]) -> list[str]:
    """The files that are missing, shorter than the header says, or inconsistent."""
    gone = [name for name in FILES if not (held.folder / name).exists()]
    if gone:
        return [f"{' and '.join(gone)} is missing."]
    head = header(held.folder)
    if head is None or not _sensible(head, held.dimension or 0):
        return [f"{HEADER} is torn or not Chroma's."]
    wanted = {VECTORS: head.count * head.size, LENGTHS: head.count * 4, LINKS: head.count * 4}
    sizes = {name: (held.folder / name).stat().st_size for name in wanted}
    short = [
        f"{name} has {sizes[name]} bytes and needs {size}, for {head.count} vectors."
        for name, size in wanted.items()
        if sizes[name] < size
    ]
    return short or broken_links(held.folder, head) or _unlabelled(held, head, labels)


def _sensible(head: Header, dimension: int) -> bool:
    """Whether the header is consistent with the dimension and with itself."""
    return (
        head.version == _VERSION
        and head.count <= head.capacity
        and head.label_at == head.vector_at + 4 * dimension
        and head.size == head.label_at + 8
        and head.vector_at == 4 * head.neighbours_below + 4
        and (head.count == 0 or head.entry < head.count)
    )


def _unlabelled(held: DatabaseContents, head: Header, labels: dict[str, int]) -> list[str]:
    present = set(labels_in(held.folder, head.count, head.size, head.label_at).tolist())
    lost = [one for one, label in labels.items() if label not in present]
    twice = head.count - len(present)
    if lost or twice:
        return [f"{VECTORS} is torn: {max(len(lost), twice)} of its {head.count} vectors are missing."]
    return []


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
    """The content of `header.bin`: the number of elements, and the byte offsets within an element."""

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
    """The header; None if it is incomplete."""
    found = content(folder / HEADER)
    return Header(*_HEADER.unpack(found)) if len(found) == _HEADER.size else None


def record_labels(folder: Path) -> dict[str, int] | None:
    """The label of each record; None if the file cannot be read."""
    try:
        found = _Plain(io.BytesIO(content(folder / NAMES))).load()
        labels = found["id_to_label"]
        usable = isinstance(labels, dict) and all(isinstance(one, int) for one in labels.values())
    except Exception:  # noqa: BLE001 - a torn pickle can raise any error
        return None
    return labels if usable else None


def labels_in(folder: Path, count: int, size: int, label_at: int) -> Labels:
    """The labels of the elements that the file of vectors actually contains."""
    whole = min(count, (folder / VECTORS).stat().st_size // size)
    if not whole:
        return np.empty(0, dtype="<u8")
    rows = np.memmap(folder / VECTORS, dtype=np.uint8, mode="r", shape=(whole, size))
    return np.ascontiguousarray(rows[:, label_at : label_at + 8]).view("<u8")[:, 0]


class _Plain(pickle.Unpickler):
    """Reads plain values only: a file must not name code to run."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is not a plain value")


def content(file: Path) -> bytes:
    """The content of a file; empty if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def readable_vectors(held: DatabaseContents, folder: Path, *, cosine: bool) -> dict[str, Any]:
    """The vectors of an index that was moved to this folder, by record id, if its files show which record they belong
    to.

    For cosine they are stored at length 1, and their lengths separately. A lost length stays 1, which ranks the same.
    """
    head, owners = header(folder), record_labels(folder)
    if head is None or not owners or not _sensible(head, held.dimension or 0) or not (folder / VECTORS).exists():
        return {}
    labels = labels_in(folder, head.count, head.size, head.label_at)
    if not len(labels):
        return {}
    rows = np.memmap(folder / VECTORS, dtype=np.uint8, mode="r", shape=(len(labels), head.size))
    vectors = np.ascontiguousarray(rows[:, head.vector_at : head.label_at]).view("<f4")
    lengths = content(folder / LENGTHS)[: 4 * len(labels)]
    if cosine and len(lengths) == 4 * len(labels):
        known = np.frombuffer(lengths, dtype="<f4")
        vectors = vectors * np.where(known > 0, known, 1.0)[:, None]
    place = {label: row for row, label in enumerate(labels.tolist()) if label}
    found = {one: vectors[place[label]] for one, label in owners.items() if label in place}
    return {one: vector for one, vector in found.items() if np.isfinite(vector).all() and vector.any()}


def broken_links(folder: Path, head: Header) -> list[str]:
    """The faults of the links; empty if every link leads to an element."""
    return _higher(folder, head) or _lowest(folder, head)


def _higher(folder: Path, head: Header) -> list[str]:
    """Check the links of higher levels: a block per element, preceded by its size."""
    found, place, step = content(folder / LINKS), 0, 4 * head.neighbours + 4
    blocks: list[bytes] = []
    for element in range(head.count):
        size = int.from_bytes(found[place : place + 4], "little")
        blocks.append(found[place + 4 : place + 4 + size])
        place += 4 + size
        if place > len(found) or size % step:
            return [f"{LINKS} is torn: it ends within vector {element + 1} of {head.count}."]
    if place < len(found):
        return [f"{LINKS} is damaged: {len(found) - place} bytes follow the links of the last vector."]
    if head.count and len(blocks[head.entry]) < step * head.highest_level:
        return [f"{LINKS} is damaged: the vector that every search begins with has no links."]
    links = np.frombuffer(b"".join(blocks), dtype="<u4").reshape(-1, head.neighbours + 1)
    return _outside(links, head, LINKS)


def _lowest(folder: Path, head: Header) -> list[str]:
    """Check the links of the lowest level, which are stored before each vector."""
    if not head.count:
        return []
    rows = np.memmap(folder / VECTORS, dtype=np.uint8, mode="r", shape=(head.count, head.size))
    links = np.ascontiguousarray(rows[:, head.offset : head.offset + 4 * head.neighbours_below + 4]).view("<u4")
    return _outside(links, head, VECTORS)


def _outside(links: np.ndarray[tuple[int, int], np.dtype[np.uint32]], head: Header, file: str) -> list[str]:
    """The fault if a link leads to no element. Each row is a number of links (its upper half contains marks) and the
    links."""
    counts, ids = links[:, :1] & 0xFFFF, links[:, 1:]
    used = np.arange(ids.shape[1]) < counts
    wrong = int(((counts[:, 0] > ids.shape[1]) | (used & (ids >= head.count)).any(axis=1)).sum())
    return [f"{file} is damaged: {wrong} of its lists of links lead nowhere."] if wrong else []


LOOKS = 3  # checks, because a client of this process may be writing the files
PAUSE_SECONDS = 0.2


def index_damage(directory: Path, collection_id: str) -> list[str]:
    """The faults of the collection's index, one sentence each. A fault counts only if repeated checks find it."""
    found: list[str] = []
    for look in range(LOOKS):
        if look:
            time.sleep(PAUSE_SECONDS)
        held = chroma_database.contents(directory, collection_id)
        found = [] if held is None else index_faults(held)
        if not found:
            break
    return found


def refuse_damaged_index(directory: Path, collection_id: str, name: str) -> None:
    """Raise if the index is damaged, and say how to rebuild it."""
    found = index_damage(directory, collection_id)
    if found:
        raise DamagedStoreError(
            f"Chroma's index of the collection {name!r} in {str(directory)!r} is damaged: {' '.join(found)} A process "
            "that is killed while Chroma writes its index leaves it so. Texts, metadata and reads are whole. Close "
            f"what has the directory open and call AdaptiveMemory.repair({str(directory)!r}, collection={name!r}, "
            "embedder=<the one it was written with>): it rebuilds the index and keeps the old files."
        )
