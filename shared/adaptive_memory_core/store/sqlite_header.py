"""Is a SQLite file as long as its header says? A check that is cheap enough for every opening."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from adaptive_memory_core.store import held_files

_MAGIC = b"SQLite format 3\x00"
_LENGTH = 100


def header_fault(file: Path) -> str | None:
    """What is wrong with the file as a whole; None for one that is sound, new or empty.

    While a journal stands beside it the length may differ: SQLite puts that right on opening. Others may change the
    file meanwhile, so what seems wrong is so only if its beginning is the same before and after.
    """
    with suppress(FileNotFoundError):
        while file.is_file():
            head = held_files.head(file, _LENGTH)
            fault = _fault(head, file)
            if fault is None or held_files.head(file, _LENGTH) == head:
                return fault
    return None


def _fault(head: bytes, file: Path) -> str | None:
    """What is wrong with a file that begins so. The journal goes when all of it is in the file: so it is asked for
    before the length is."""
    if not head:
        return None
    if not head.startswith(_MAGIC) or len(head) < _LENGTH:
        return "it is no SQLite file"
    page = int.from_bytes(head[16:18], "big")
    pages, counted_at, changed = (int.from_bytes(head[at : at + 4], "big") for at in (28, 92, 24))
    expected = pages * (65_536 if page == 1 else page)
    if counted_at != changed or _journal(file) or (size := file.stat().st_size) >= expected:
        return None
    return f"it is torn: {size} bytes of {expected}"


def _journal(file: Path) -> bool:
    beside = [file.with_name(file.name + ending) for ending in ("-wal", "-journal")]
    return any(one.exists() and one.stat().st_size for one in beside)
