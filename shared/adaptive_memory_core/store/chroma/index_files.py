"""Are the five files of Chroma's index whole? Sizes, counts and labels, read without loading them in Chroma.

A torn index makes Chroma fail on every call, end the process, or lose records without a word. So it is looked at before
Chroma loads it, by reading alone. Chroma writes header, data, lengths and links in place, then the names, and notes
last in SQLite how far it got; what SQLite's log still holds is written again on loading. A kill therefore leaves files
that are shorter than the header says, or names that cannot be read.
"""

from __future__ import annotations

from adaptive_memory_core.store.chroma.index_layout import (
    FILES,
    HEADER,
    LENGTHS,
    LINKS,
    NAMES,
    VECTORS,
    Header,
    header,
    labels_in,
    names,
)
from adaptive_memory_core.store.chroma.index_links import broken_links
from adaptive_memory_core.store.chroma.own_database import ADD, DELETE, UPSERT, Contents

_VERSION = 1


def faults(held: Contents) -> list[str]:
    """What is wrong with the index's files, each fault in a sentence; none for an index that is whole."""
    if _unknown(held):
        return []
    labels = _labels(held)
    wrong = _damaged(held, labels)
    lost = [] if wrong else _lost(held, labels or {})
    return wrong + ([f"The index lacks {len(lost)} of {len(held.ids)} records."] if lost else [])


def missing(held: Contents) -> list[str]:
    """Records that neither the index nor the log has a vector of; none where the files are damaged."""
    labels = _labels(held)
    return [] if _unknown(held) or _damaged(held, labels) else _lost(held, labels or {})


def _unknown(held: Contents) -> bool:
    """Whether another version of Chroma wrote these files: what is not known is not judged."""
    files = {one.name for one in held.folder.iterdir()} if held.folder.is_dir() else set()
    head = header(held.folder)
    return bool(files and files.isdisjoint(FILES)) or (head is not None and head.version != _VERSION)


def _labels(held: Contents) -> dict[str, int] | None:
    """Which records stand in the files; none where nothing was ever put into them, None where that cannot be read."""
    return names(held.folder) if (held.folder / NAMES).exists() else {}


def _lost(held: Contents, labels: dict[str, int]) -> list[str]:
    known = set(labels)
    for entry in held.logged_after(held.persisted if known else 0):
        if entry.operation in (ADD, UPSERT) and entry.with_vector:
            known.add(entry.stored_id)
        elif entry.operation == DELETE:
            known.discard(entry.stored_id)
    return [one for one in held.ids if one not in known]


def _damaged(held: Contents, labels: dict[str, int] | None) -> list[str]:
    if held.dimension is None or labels == {}:
        return []
    if labels is None:
        size = (held.folder / NAMES).stat().st_size
        return [f"{NAMES} is torn ({size} bytes): it no longer says which vector is whose."]
    return _torn(held, labels)


def _torn(held: Contents, labels: dict[str, int]) -> list[str]:
    """Files that are missing, or shorter than the header says, or do not hold what they are said to."""
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
    """Whether the header fits the dimension, and itself."""
    return (
        head.version == _VERSION
        and head.count <= head.capacity
        and head.label_at == head.vector_at + 4 * dimension
        and head.size == head.label_at + 8
        and head.vector_at == 4 * head.neighbours_below + 4
        and (head.count == 0 or head.entry < head.count)
    )


def _unlabelled(held: Contents, head: Header, labels: dict[str, int]) -> list[str]:
    present = set(labels_in(held.folder, head.count, head.size, head.label_at).tolist())
    lost = [one for one, label in labels.items() if label not in present]
    twice = head.count - len(present)
    if lost or twice:
        return [f"{VECTORS} is torn: {max(len(lost), twice)} of its {head.count} vectors are not there."]
    return []
