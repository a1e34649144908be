"""Do all links in Chroma's index lead to vectors that exist? A broken one ends the process that follows it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from adaptive_memory_core.store.chroma.index_layout import LINKS, VECTORS, Header, content


def broken_links(folder: Path, head: Header) -> list[str]:
    """What is wrong with the links; none where all lead somewhere."""
    return _higher(folder, head) or _lowest(folder, head)


def _higher(folder: Path, head: Header) -> list[str]:
    """The links of higher levels: one element's after the other's, each with its size before it."""
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
    """The links of the lowest level: they stand before each vector."""
    if not head.count:
        return []
    rows = np.memmap(folder / VECTORS, dtype=np.uint8, mode="r", shape=(head.count, head.size))
    links = np.ascontiguousarray(rows[:, head.offset : head.offset + 4 * head.neighbours_below + 4]).view("<u4")
    return _outside(links, head, VECTORS)


def _outside(links: np.ndarray[tuple[int, int], np.dtype[np.uint32]], head: Header, file: str) -> list[str]:
    """Each row is a number of links (its upper half holds marks) and the links."""
    counts, ids = links[:, :1] & 0xFFFF, links[:, 1:]
    used = np.arange(ids.shape[1]) < counts
    wrong = int(((counts[:, 0] > ids.shape[1]) | (used & (ids >= head.count)).any(axis=1)).sum())
    return [f"{file} is damaged: {wrong} of its lists of links lead nowhere."] if wrong else []
