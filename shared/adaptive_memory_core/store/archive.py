"""Where are pruned records archived? In a file of JSON lines that `remember_many` takes back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import orjson

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.records import Record
from adaptive_memory_core.shown_in_errors import reason

LONGEST_LINE = 1_000_000  # bytes at the end of the file that are looked at in any case


class JSONLines:
    """Appends records to a file and waits until they are on disk: only then may they leave the collection.

    Where they could not leave it, they come again: what stands at the file's end already is not written twice.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __call__(self, records: Sequence[Record]) -> None:
        try:
            lines = [orjson.dumps(as_arguments(one)) + b"\n" for one in records]
            with self.path.open("ab+") as file:
                known = _last_lines(file, 2 * sum(map(len, lines)))
                _append(file, [one for one in lines if one not in known])
        except (OSError, TypeError, ValueError) as error:
            raise StoreError(
                f"The archive {str(self.path)!r} cannot be written: {reason(error)}. Nothing was removed that is not "
                "in it. Give a file in a directory that may be written."
            ) from error


def _last_lines(file: IO[bytes], most: int) -> set[bytes]:
    """The lines at the end of a file; the half of one of ours, which a crash left there, is cut off."""
    size = file.seek(0, os.SEEK_END)
    length = min(size, max(most, LONGEST_LINE))
    file.seek(size - length)
    lines = file.read(length).splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        if lines[-1].startswith(b'{"text":') and not _is_whole(lines[-1]):
            file.truncate(size - len(lines.pop()))
        else:
            file.write(b"\n")
            lines[-1] += b"\n"
    return set(lines)


def _is_whole(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except ValueError:
        return False
    return True


def _append(file: IO[bytes], lines: Sequence[bytes]) -> None:
    """All of the lines, or none of them."""
    size = file.seek(0, os.SEEK_END)
    try:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            file.truncate(size)
        raise


def as_arguments(record: Record) -> dict[str, Any]:
    """A record as the arguments of `remember`; what is unknown is left out.

    >>> as_arguments(Record("a", "tea", kind="fact"))
    {'text': 'tea', 'id': 'a', 'kind': 'fact'}
    """
    values = {
        "text": record.text,
        "id": record.id,
        "kind": record.kind,
        "importance": record.written_importance,
        "created_at": record.created_at,
        "valid_from": record.valid_from,
        "valid_until": record.valid_until,
        "metadata": dict(record.metadata) or None,
        "derived_from": list(record.derived_from) or None,
    }
    return {name: value for name, value in values.items() if value is not None}
