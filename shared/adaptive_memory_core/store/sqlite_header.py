"""Is a SQLite file as long as its header says? A check that is cheap enough for every opening."""

from __future__ import annotations

from pathlib import Path

from adaptive_memory_core.store import held_files

_MAGIC = b"SQLite format 3\x00"
_LENGTH = 100


def header_fault(file: Path) -> str | None:
    """What is wrong with the file as a whole; None for one that is sound, new or empty.

    While a journal stands beside it the length may differ: SQLite puts that right on opening.
    """
    if not file.is_file() or (size := file.stat().st_size) == 0:
        return None
    head = held_files.head(file, _LENGTH)
    if not head.startswith(_MAGIC) or len(head) < _LENGTH:
        return "it is no SQLite file"
    page = int.from_bytes(head[16:18], "big")
    pages, counted_at, changed = (int.from_bytes(head[at : at + 4], "big") for at in (28, 92, 24))
    expected = pages * (65_536 if page == 1 else page)
    if counted_at == changed and size < expected and not _journal(file):
        return f"it is torn: {size} bytes of {expected}"
    return None


def _journal(file: Path) -> bool:
    beside = [file.with_name(file.name + ending) for ending in ("-wal", "-journal")]
    return any(one.exists() and one.stat().st_size for one in beside)
